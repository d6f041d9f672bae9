"""The annotations at the end of a Markdown file, in a form that people can read and Pagekeep can read back.

Each is a quote, the user's note below it, and `^` with its id on a separate line (in Obsidian, a block's name). In a note,
lines that look like one of these begin with a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from pagekeep.model import Annotation

HEADING: Final = "## Highlights"
_ID: Final = re.compile(r"\^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")


class FileAnnotation(NamedTuple):
    """An annotation as a file contains it."""

    id: str
    quote: str
    note: str


def format_annotations(annotations: Iterable[Annotation]) -> str:
    """Return the section with the annotations, or an empty text when there are none."""
    entries = [_format_annotation(annotation) for annotation in annotations if _ID.fullmatch(f"^{annotation.id}")]
    return "\n\n".join([HEADING, *entries]) + "\n" if entries else ""


def _format_annotation(annotation: Annotation) -> str:
    quote = [f"> {line}".rstrip() for line in _clean_lines(annotation.quote)]
    note = [f"\\{line}" if line[:1] in (">", "^", "\\", "#") else line for line in _clean_lines(annotation.note)]
    parts = ["\n".join(quote), "\n".join(note), f"^{annotation.id}"]
    return "\n\n".join(part for part in parts if part)


def _clean_lines(text: str) -> list[str]:
    """Return the lines without spaces at their ends, and with one blank line for several."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    clean = "\n".join(line.rstrip() for line in lines).strip("\n")
    return re.sub(r"\n{3,}", "\n\n", clean).split("\n") if clean else []


def split_annotations(body: str) -> tuple[str, tuple[FileAnnotation, ...]]:
    """Return the text before the section and its annotations; a text without such a section is returned unchanged."""
    before, heading, section = body.rpartition(f"\n{HEADING}\n")
    if not heading and body.startswith(f"{HEADING}\n"):
        before, heading, section = "", HEADING, body.removeprefix(f"{HEADING}\n")
    annotations = _parse_annotations(section.split("\n")) if heading else None
    return (before.rstrip("\n") + "\n" if before.strip() else "", annotations) if annotations else (body, ())


def _parse_annotations(lines: Sequence[str]) -> tuple[FileAnnotation, ...] | None:
    """Return the annotations, or `None` when the lines are anything else: an article may have a section of this name."""
    annotations: list[FileAnnotation] = []
    quote: list[str] = []
    note: list[str] = []
    for line in lines:
        annotation_id = _ID.fullmatch(line.rstrip())
        if annotation_id:
            annotations.append(FileAnnotation(annotation_id[1], "\n".join(quote), "\n".join(note).strip("\n")))
            quote, note = [], []
        elif line.startswith(">") and not any(note):
            quote.append(line[1:].removeprefix(" "))
        else:
            note.append(line[1:] if line.startswith("\\") else line)
    return None if any(line.strip() for line in (*quote, *note)) else tuple(annotations)
