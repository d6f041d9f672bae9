"""Subtitles (WebVTT and SubRip): cues joined to paragraphs, with speakers, without repeated lines and styling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape, unescape
from typing import Final, NamedTuple

from pagekeep.capture.documents.parsed import Declared, EmptyFile, ParsedDocument, decode_text, make_metadata
from pagekeep.model import Options
from pagekeep.text import number_of

MAX_CHARS: Final = 3_000_000
_TIME: Final = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
_TIMING: Final = re.compile(rf"\s*{_TIME}[ \t]*-->[ \t]*{_TIME}")
_SPEAKER_TAG: Final = re.compile(r"<v(?:\.[^\s>]{0,80})?\s+([^>]{1,100})>")
_TAG: Final = re.compile(r"</?[a-zA-Z0-9.:_-][^<>]{0,200}>|\{\\[^{}]{0,100}\}")
_SPEAKER: Final = re.compile(r"(?:>>\s*|-\s*)?([A-Z][\w.’' -]{0,38}[\w.]):\s+(?=\S)")
_CHANGE: Final = re.compile(r"\s*(?:>>|[-–](?=\s*\S))\s*")
_SENTENCE_END: Final = re.compile(r"[.!?…。！？][\"'”’)\]]*$")
_PAUSE: Final = 4.0
"""Seconds without words after which a sentence ends a paragraph."""
_PARAGRAPH_CHARS: Final = 500
"""After this length the next end of a sentence ends a paragraph."""
_MAX_PARAGRAPH_CHARS: Final = 1_500
"""Automatic captions have no sentences: then the next cue begins a paragraph."""
_ROLLING_LINES: Final = 3


class Cue(NamedTuple):
    """Lines that are shown together."""

    start: float
    end: float
    lines: list[str]


def read(data: bytes, url: str | None, options: Options) -> ParsedDocument:
    """Return the text of a file of subtitles."""
    text, warnings = decode_text(data, options, MAX_CHARS)
    cues = list(_read_cues(text))
    paragraphs = list(_join(_drop_repeated(cues)))
    if not paragraphs:
        raise EmptyFile
    header = re.match(r"WEBVTT[ \t]*(?:-[ \t]*)?([^\n]*)\n(?:[\w-]+:[^\n]*\n)*", text)
    language = re.search(r"^Language:\s*([\w-]{2,10})$", header[0], re.M) if header else None
    declared = Declared(
        "subtitles", title=header[1] if header else "", language=language[1] if language else "", is_trusted=True
    )
    metadata = make_metadata(declared, "", "")
    html = "\n".join(paragraphs)
    return ParsedDocument(html, metadata, f"subtitles of {number_of(len(cues), 'cue')}", warnings=warnings)


def _read_cues(text: str) -> Iterator[Cue]:
    """Yield the cues; what is between them (notes, styles, numbers) is left out."""
    lines = text.split("\n")
    place = 0
    while place < len(lines):
        timing = _TIMING.match(lines[place])
        place += 1
        if not timing:
            continue
        shown: list[str] = []
        while place < len(lines) and lines[place].strip() and not _TIMING.match(lines[place]):
            shown.append(lines[place])
            place += 1
        if shown and place < len(lines) and _TIMING.match(lines[place]) and shown[-1].strip().isdecimal():
            shown.pop()  # the number of the next cue, where the blank line is missing
        yield Cue(_seconds(timing.groups()[:4]), _seconds(timing.groups()[4:]), shown)


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = (int(part or 0) for part in parts)
    return hours * 3600 + minutes * 60 + seconds + fraction / 1000


def _drop_repeated(cues: list[Cue]) -> Iterator[tuple[float, float, str, str]]:
    """Yield start, end, speaker and text of every line, without those that roll up from the cue before."""
    recent: list[str] = []
    speaker = ""
    for cue in cues:
        for line in cue.lines:
            if tag := _SPEAKER_TAG.search(line):
                speaker = " ".join(unescape(tag[1]).split())
            elif _SPEAKER_TAG.search(" ".join(cue.lines)) is None:
                speaker = ""
            words = " ".join(unescape(_TAG.sub("", line)).replace("\u200b", "").split())
            if not words or words in recent:
                continue
            recent = [*recent[1 - _ROLLING_LINES :], words]
            yield cue.start, cue.end, speaker, words


def _join(lines: Iterator[tuple[float, float, str, str]]) -> Iterator[str]:
    """Yield paragraphs as HTML: one ends with a speaker, at a pause after a sentence, or when it is long."""
    text, name, before = "", "", 0.0
    for start, end, tagged, words in lines:
        speaker, words, changes = _split_speaker(tagged, words, name)
        is_over = bool(_SENTENCE_END.search(text)) and (start - before > _PAUSE or len(text) > _PARAGRAPH_CHARS)
        if text and (changes or is_over or len(text) > _MAX_PARAGRAPH_CHARS):
            yield _write(name, text)
            text = ""
            name = speaker if changes else ""
        elif not text:
            name = speaker
        text = f"{text} {words}".strip()
        before = end
    if text:
        yield _write(name, text)


def _split_speaker(tagged: str, words: str, current: str) -> tuple[str, str, bool]:
    """Return the speaker, the words without the name, and whether another speaker begins."""
    if tagged:
        return tagged, words, tagged != current and bool(current or tagged)
    if match := _SPEAKER.match(words):
        return match[1].strip(), words[match.end() :], True
    change = _CHANGE.match(words)
    return ("", words[change.end() :], True) if change else ("", words, False)


def _write(speaker: str, text: str) -> str:
    name = f"<strong>{escape(speaker, quote=False)}:</strong> " if speaker else ""
    return f"<p>{name}{escape(text, quote=False)}</p>"
