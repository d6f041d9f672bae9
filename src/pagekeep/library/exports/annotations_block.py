"""Marked passages at the end of a Markdown file, so that people can read them and we can read them back.

Each is a quotation, the reader's note below it, and `^` with its id on a line of its own (in Obsidian, a block's name). In a
note, lines that could be taken for one of these begin with a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from pagekeep.model import Annotation

HEADING: Final = "## Highlights"
_ID: Final = re.compile(r"\^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")


class Marked(NamedTuple):
    """A passage as a file tells it."""

    id: str
    quote: str
    note: str


def section(annotations: Iterable[Annotation]) -> str:
    """The part of the file that tells the passages; empty when there are none."""
    told = [_entry(annotation) for annotation in annotations if _ID.fullmatch(f"^{annotation.id}")]
    return "\n\n".join([HEADING, *told]) + "\n" if told else ""


def _entry(annotation: Annotation) -> str:
    quote = [f"> {line}".rstrip() for line in _lines(annotation.quote)]
    note = [f"\\{line}" if line[:1] in (">", "^", "\\", "#") else line for line in _lines(annotation.note)]
    parts = ["\n".join(quote), "\n".join(note), f"^{annotation.id}"]
    return "\n\n".join(part for part in parts if part)


def _lines(text: str) -> list[str]:
    """Lines without spaces at their ends; a blank line stands for any number of them."""
    whole = "\n".join(line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")).strip("\n")
    return re.sub(r"\n{3,}", "\n\n", whole).split("\n") if whole else []


def split(body: str) -> tuple[str, tuple[Marked, ...]]:
    """The text before the passages, and the passages. A text that has no such part comes back whole."""
    before, found, after = body.rpartition(f"\n{HEADING}\n")
    if not found and body.startswith(f"{HEADING}\n"):
        before, found, after = "", HEADING, body.removeprefix(f"{HEADING}\n")
    marked = _read(after.split("\n")) if found else None
    return (before.rstrip("\n") + "\n" if before.strip() else "", marked) if marked else (body, ())


def _read(lines: Sequence[str]) -> tuple[Marked, ...] | None:
    """The passages, or nothing when these lines are anything else: an article may have a part of this name."""
    found: list[Marked] = []
    quote: list[str] = []
    note: list[str] = []
    for line in lines:
        name = _ID.fullmatch(line.rstrip())
        if name:
            found.append(Marked(name[1], "\n".join(quote), "\n".join(note).strip("\n")))
            quote, note = [], []
        elif line.startswith(">") and not any(note):
            quote.append(line[1:].removeprefix(" "))
        else:
            note.append(line[1:] if line.startswith("\\") else line)
    return None if any(line.strip() for line in (*quote, *note)) else tuple(found)
