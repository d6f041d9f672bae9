"""Metadata of a PDF: what its info and XMP say, checked against the first page."""

from __future__ import annotations

import re
from html import unescape
from types import MappingProxyType
from typing import Final

from pagekeep.capture.documents.pdf.values import Block, PdfFile
from pagekeep.model import Metadata

_POINTLESS_TITLE: Final = re.compile(
    r"(?:microsoft (?:word|powerpoint|excel)|untitled|unbenannt|sans titre|document\d*|slide \d+|powerpoint|"
    r"layout \d+|title)\b|.*\.(?:docx?|pptx?|xlsx?|tex|dvi|indd|html?|odt|pdf|qxd|rtf|pages)$|\S*[_/\\]\S*$",
    re.I,
)
_POINTLESS_AUTHOR: Final = frozenset(
    "user admin administrator unknown root owner author anonymous default guest none n/a - home pc".split()
)
_XMP_FIELD: Final = r"<{0}(?:\s[^>]*)?>\s*(?:<rdf:(?:Alt|Seq|Bag)>)?(.{{0,4000}}?)(?:</rdf:(?:Alt|Seq|Bag)>)?\s*</{0}>"
_ENTRY: Final = re.compile(r"<rdf:li[^>]*>([^<]*)</rdf:li>")
_DATE: Final = re.compile(r"(?:D:)?(\d{4})-?(\d{2})?-?(\d{2})?")
_WORD: Final = re.compile(r"\w+")
_MIN_CONFIRMED: Final = 0.6
"""Part of a title's words that must be on the first page."""
_FIRST_BLOCKS: Final = 40


def read_metadata(file: PdfFile, blocks: list[Block]) -> Metadata:
    """Return the metadata of a PDF; a title or author that the first page contradicts is left out."""
    first = [block for block in blocks[:_FIRST_BLOCKS] if block.page == 0] or blocks[:3]
    text = " ".join(block.text for block in first)
    origins: dict[str, str] = {}
    title = _choose_title(file, first, text, origins)
    author = _choose_author(file, text, origins)
    published = _choose_date(file, text, origins)
    language = re.match(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})?", file.language)
    keywords = [word.strip() for word in re.split(r"[,;]", file.info.get("Keywords", "")[:1_000])]
    subject = _tidy(file.info.get("Subject", ""))
    if language:
        origins["language"] = "pdf"
    return Metadata(
        title=title,
        author=author,
        published=published,
        description=subject if len(subject.split()) > 3 else None,
        language=language[0].lower() if language else None,
        keywords=tuple(dict.fromkeys(filter(None, keywords)))[:20],
        origins=MappingProxyType(origins),
    )


def _tidy(text: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in unescape(text)).split())[:500]


def _xmp(file: PdfFile, name: str) -> list[str]:
    source = file.xmp.decode("utf-8", "replace")
    match = re.search(_XMP_FIELD.format(re.escape(name)), source, re.S)
    if not match:
        return []
    entries = _ENTRY.findall(match[1]) or ([match[1]] if "<" not in match[1] else [])
    return [entry for entry in map(_tidy, entries) if entry]


def _choose_title(file: PdfFile, first: list[Block], text: str, origins: dict[str, str]) -> str | None:
    candidates = [("xmp", title) for title in _xmp(file, "dc:title")[:1]] + [("pdf", _tidy(file.info.get("Title", "")))]
    usable = [(origin, title) for origin, title in candidates if title and not _POINTLESS_TITLE.match(title)]
    headings = [block for block in first if block.kind == "heading"]
    top = min((block.level for block in headings), default=0)
    heading = next((_tidy(block.text) for block in headings if block.level == top), "")
    for origin, title in usable:
        if _is_confirmed(title, text) or not heading:
            origins["title"] = origin
            return title
    if heading:
        origins["title"] = "heading"
        return heading.replace("\u2010", "-")
    line = next((_tidy(block.text) for block in first if block.kind == "text"), "")
    if line:
        origins["title"] = "first line"
    return line[:200] or None


def _is_confirmed(title: str, text: str) -> bool:
    words, present = _WORD.findall(title.casefold()), set(_WORD.findall(text.casefold()))
    return bool(words) and sum(word in present for word in words) >= _MIN_CONFIRMED * len(words)


def _choose_author(file: PdfFile, text: str, origins: dict[str, str]) -> str | None:
    names = _xmp(file, "dc:creator")
    origin = "xmp" if names else "pdf"
    names = names or [_tidy(name) for name in re.split(r"[;&]|\band\b", file.info.get("Author", "")[:500])]
    known = text.casefold()
    kept = [
        name
        for name in names
        if name and name.casefold() not in _POINTLESS_AUTHOR and (" " in name or name.casefold() in known)
    ]
    if not kept:
        return None
    origins["author"] = origin
    return ", ".join(dict.fromkeys(kept[:20]))


def _choose_date(file: PdfFile, text: str, origins: dict[str, str]) -> str | None:
    """Return the date of the file if the first page names its year: else it is when the file was printed."""
    for origin, value in (("xmp", next(iter(_xmp(file, "dc:date")), "")), ("pdf", file.info.get("CreationDate", ""))):
        match = _DATE.match(value)
        if match and match[1] in text and match[2] and match[3]:
            origins["published"] = origin
            return f"{match[1]}-{match[2]}-{match[3]}"
    return None
