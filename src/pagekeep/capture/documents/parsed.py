"""What the reader of a file type returns: HTML, metadata and what it left out, or why the file cannot be read."""

from __future__ import annotations

import re
from dataclasses import field
from types import MappingProxyType
from typing import ClassVar, Final

from pagekeep.errors import ParseError
from pagekeep.extraction.input.decode import decode
from pagekeep.model import Caught, CaughtKind, Metadata, Options, PageWarning, Removal
from pagekeep.values import dataclass


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document as its reader understood it."""

    html: str
    """The content, in the vocabulary of clean HTML or close to it."""
    metadata: Metadata
    how: str
    """How it was read, in plain words, for `--explain`."""
    removals: tuple[Removal, ...] = ()
    warnings: tuple[PageWarning, ...] = ()
    caught: Caught | None = None
    """Why there is no text: an encrypted or damaged file, or a scan."""
    page_count: int | None = None
    """How many pages the file has, if its type has pages."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Step name to seconds, only when the caller gave a timer."""
    is_web: bool = False
    """Whether the HTML was written for the web's habits, as that of an e-mail is: then no clean-up step is left out."""
    markdown: str | None = None
    """The content as Markdown, where the file is Markdown: it stays as it was written."""
    address: str | None = None
    """The document's own address, for a file that was read without one."""


_KEPT: Final = "The file is kept."


class UnreadableFile(Exception):
    """A file that cannot be read; `metadata` is what is known of it."""

    kind: ClassVar[CaughtKind]
    reason: ClassVar[str]
    suggestion: ClassVar[str]

    def __init__(self, detail: str = "", metadata: Metadata | None = None) -> None:
        super().__init__(detail)
        self.detail, self.metadata = detail, metadata or Metadata()

    def to_document(self, name: str) -> ParsedDocument:
        """Return a document without text that says why, for a file of the type with this name."""
        reason = f"The {name} {self.reason}{f': {self.detail}' if self.detail else ''}"
        caught = Caught(self.kind, reason, f"{self.suggestion} {_KEPT}".strip())
        return ParsedDocument("", self.metadata, reason, caught=caught)


class EncryptedFile(UnreadableFile):
    """The file is protected by a password or by rights management."""

    kind = "encrypted_file"
    reason = "is protected"
    suggestion = "Save it without protection, then try again."


class DamagedFile(UnreadableFile):
    """The file is not what its beginning says."""

    kind = "damaged_file"
    reason = "is damaged"
    suggestion = "Get the file again."


class EmptyFile(UnreadableFile):
    """The file is sound and has no text."""

    kind = "empty_file"
    reason = "has no text"
    suggestion = ""


_POINTLESS_TITLE: Final = re.compile(
    r"(?:microsoft (?:word|powerpoint|excel)|untitled|unbenannt|sans titre|document\d*$|title$|"
    r"powerpoint|unknown$)|.*\.(?:docx?|odt|rtf|tex|html?|pages|epub|txt|md)$|\S*[_/\\]\S*$",
    re.I,
)
POINTLESS_AUTHORS: Final = frozenset(
    "user admin administrator unknown root owner author anonymous default guest none n/a - home pc python-docx".split()
)
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})?(?![A-Za-z])")
_DATE: Final = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_WORD: Final = re.compile(r"\w+")
_MIN_CONFIRMED: Final = 0.6
"""Part of a title's words that must be at the beginning of the text."""
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
        and name.casefold() not in POINTLESS_AUTHORS
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
    if usable and (declared.is_trusted or not heading or is_confirmed(title, beginning)):
        origins["title"] = declared.origin
        return title
    if heading:
        origins["title"] = "heading"
        return tidy(heading)
    line = tidy(beginning.partition("\n")[0])[:_MAX_LINE_CHARS]
    if line:
        origins["title"] = "first line"
    return line or None


def is_confirmed(title: str, text: str) -> bool:
    """Return whether the text has most words of a title."""
    words, present = _WORD.findall(title.casefold()), set(_WORD.findall(text.casefold()))
    return bool(words) and sum(word in present for word in words) >= _MIN_CONFIRMED * len(words)


MAX_CHARS: Final = 5_000_000
"""Of text per document: more than the longest novels; two million take a second of CPU time."""


class Dropped:
    """Counts what is left out, by reason, and how much text is taken."""

    def __init__(self, step: str, max_chars: int = MAX_CHARS) -> None:
        self._step = step
        self._counts: dict[tuple[str, str], list[int]] = {}
        self._left = max_chars
        self._limit = max_chars
        self.is_cut = False

    def add(self, element: str, reason: str, text: str = "") -> None:
        """Count an element that is left out, with its text."""
        found = self._counts.setdefault((element, reason), [0, 0])
        found[0] += 1
        found[1] += len(text.split())

    def take(self, text: str) -> bool:
        """Count text that is kept; return whether there is room for it."""
        self._left -= len(text)
        if self._left < 0:
            self.is_cut = True
        return not self.is_cut

    def removals(self) -> list[Removal]:
        """Return a removal for each reason."""
        return [
            Removal(element, f"{reason} ({count} times)" if count > 1 else reason, words, self._step)
            for (element, reason), (count, words) in self._counts.items()
        ]

    def warnings(self) -> list[PageWarning]:
        """Return a warning if text was left out for its length."""
        text = f"only the first {self._limit:,} characters were read"
        return [PageWarning("truncated", text)] if self.is_cut else []


def decode_text(data: bytes, options: Options, limit: int) -> tuple[str, tuple[PageWarning, ...]]:
    """Return the text, at most `limit` characters, and warnings; raise `EmptyFile`, or `UnsupportedContent` for binary data."""
    try:
        text, warnings = decode(data, options)
    except ParseError as error:
        raise EmptyFile from error
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").lstrip("\ufeff")
    if len(text) > limit:
        text = text[: text.rfind("\n", limit // 2, limit) + 1 or limit]
        warnings = (*warnings, PageWarning("truncated", f"only the first {limit:,} characters were read"))
    return text, warnings
