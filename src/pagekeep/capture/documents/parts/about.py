"""Metadata that a file declares, checked against the beginning of its text."""

from __future__ import annotations

import re
from dataclasses import field
from types import MappingProxyType
from typing import Final

from pagekeep.model import Metadata
from pagekeep.values import dataclass

_POINTLESS_TITLE: Final = re.compile(
    r"(?:microsoft (?:word|powerpoint|excel)|untitled|unbenannt|sans titre|document\d*$|title$|"
    r"powerpoint|unknown$)|.*\.(?:docx?|odt|rtf|tex|html?|pages|epub|txt|md)$|\S*[_/\\]\S*$",
    re.I,
)
_POINTLESS_AUTHOR: Final = frozenset(
    "user admin administrator unknown root owner author anonymous default guest none n/a - home pc python-docx".split()
)
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})?(?![A-Za-z])")
_DATE: Final = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_WORD: Final = re.compile(r"\w+")
_MIN_CONFIRMED: Final = 0.6
"""Part of a title's words that must be at the beginning of the text, as for PDF."""
_MAX_CHARS: Final = 500
_MAX_LINE_CHARS: Final = 200
"""Of a first line that serves as title."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What a file says about itself."""

    origin: str
    """The source of these values for `--explain`: `docx`."""
    title: str = ""
    authors: tuple[str, ...] = ()
    subject: str = ""
    keywords: str = ""
    language: str = ""
    date: str = ""
    is_trusted: bool = False
    """Whether people write these values by hand, as for books; else title and date need the text to confirm them."""
    extra: dict[str, str] = field(default_factory=dict)
    """More fields of `Metadata`."""


def tidy(text: str | None) -> str:
    """Return a value in one line, bounded, without characters that show nothing."""
    return " ".join("".join(char if char.isprintable() else " " for char in (text or "")[:5_000]).split())[:_MAX_CHARS]


def make_metadata(declared: Declared, heading: str, beginning: str) -> Metadata:
    """Return the metadata of a document: `heading` is its first one, `beginning` its first words."""
    origins: dict[str, str] = {}
    title = _choose_title(declared, heading, beginning, origins)
    known = beginning.casefold()
    authors = [tidy(name) for name in declared.authors[:20]]
    authors = [
        name
        for name in authors
        if name
        and name.casefold() not in _POINTLESS_AUTHOR
        and (declared.is_trusted or " " in name or name.casefold() in known)
    ]
    date = _DATE.match(declared.date)
    published = date[0] if date and (declared.is_trusted or (date[3] and date[1] in beginning)) else None
    language = _LANGUAGE.match(declared.language)
    keywords = [tidy(word) for word in re.split(r"[,;]", declared.keywords[:1_000])]
    subject = tidy(declared.subject)
    for name, value in (("author", authors), ("published", published), ("language", language)):
        if value:
            origins[name] = declared.origin
    return Metadata(
        title=title,
        author=", ".join(dict.fromkeys(authors)) or None,
        published=published,
        description=subject if len(subject.split()) > 3 else None,
        language=language[0].lower() if language else None,
        keywords=tuple(dict.fromkeys(filter(None, keywords)))[:20],
        origins=MappingProxyType(origins),
        **declared.extra,  # type: ignore[arg-type]
    )


def _choose_title(declared: Declared, heading: str, beginning: str, origins: dict[str, str]) -> str | None:
    title = tidy(declared.title)
    usable = bool(title) and not _POINTLESS_TITLE.match(title)
    if usable and (declared.is_trusted or not heading or _is_confirmed(title, beginning)):
        origins["title"] = declared.origin
        return title
    if heading:
        origins["title"] = "heading"
        return tidy(heading)
    line = tidy(beginning.partition("\n")[0])[:_MAX_LINE_CHARS]
    if line:
        origins["title"] = "first line"
    return line or None


def _is_confirmed(title: str, text: str) -> bool:
    words, present = _WORD.findall(title.casefold()), set(_WORD.findall(text.casefold()))
    return bool(words) and sum(word in present for word in words) >= _MIN_CONFIRMED * len(words)
