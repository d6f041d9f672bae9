"""Runs of text with their marks, as word processors store them, written as inline HTML."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final, NamedTuple

NO_MARKS: Final[frozenset[str]] = frozenset()
_CONTROLS: Final = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127, 0xFEFF, 0xAD))
"""Characters that show nothing, soft hyphens among them."""


class Run(NamedTuple):
    """Text with the same marks and target."""

    text: str
    marks: frozenset[str] = NO_MARKS
    """HTML tags: `strong em s sub sup code`."""
    href: str | None = None
    html: str | None = None
    """Markup instead of text, such as a line break or a reference to a note."""


def plain_text(runs: Iterable[Run]) -> str:
    """Return the text of the runs, with single spaces; a line break is a space."""
    return " ".join("".join(run.text if run.html is None else " " for run in runs).split())


def code_text(runs: Iterable[Run]) -> str:
    """Return the text of the runs as it is, with line breaks."""
    return "".join("\n" if run.html == "<br>" else run.text for run in runs).translate(_CONTROLS)


def has_content(runs: Iterable[Run]) -> bool:
    """Return whether the runs show anything."""
    return any(run.html not in (None, "<br>") or run.text.strip() for run in runs)


def write_runs(runs: list[Run], *, without: Iterable[str] = ()) -> str:
    """Return the runs as HTML; marks that touch become one, spaces at their ends are outside. `without` names marks to drop."""
    pieces = _split_spaces(_trim(runs), frozenset(without))
    out: list[str] = []
    opened: list[str] = []
    for index, piece in enumerate(pieces):
        wanted = _wanted(piece)
        while opened and not set(opened) <= wanted:
            out.append(f"</{opened.pop().partition(' ')[0]}>")
        for tag in sorted(wanted - set(opened), key=lambda tag: (-_extent(pieces, index, tag), tag)):
            out.append(f"<{tag}>")
            opened.append(tag)
        out.append(piece.html if piece.html is not None else escape(piece.text.translate(_CONTROLS), quote=False))
    out += [f"</{tag.partition(' ')[0]}>" for tag in reversed(opened)]
    return "".join(out)


def _wanted(piece: Run) -> set[str]:
    tags = set(piece.marks)
    if piece.href:
        tags.add(f'a href="{escape(piece.href)}"')
    return tags


def _extent(pieces: list[Run], start: int, tag: str) -> int:
    """Return over how many pieces a tag goes on, up to a limit: the longest is opened first."""
    end = start
    while end < len(pieces) and end < start + 50 and tag in _wanted(pieces[end]):
        end += 1
    return end - start


def _trim(runs: list[Run]) -> list[Run]:
    """Return the runs without line breaks and spaces at both ends."""
    start, end = 0, len(runs)
    while start < end and _is_blank(runs[start]):
        start += 1
    while end > start and _is_blank(runs[end - 1]):
        end -= 1
    return runs[start:end]


def _is_blank(run: Run) -> bool:
    return run.html == "<br>" or (run.html is None and not run.text.strip())


def _split_spaces(runs: list[Run], without: frozenset[str]) -> list[Run]:
    """Return the runs with the spaces at their ends as separate ones, which have the marks that both sides share."""
    pieces: list[Run] = []
    for run in runs:
        marks = run.marks - without
        if run.html is not None:
            pieces.append(run._replace(marks=marks if run.html != "<br>" else NO_MARKS))
            continue
        core = run.text.strip()
        if not core:
            pieces.append(Run(run.text))
            continue
        start = run.text.index(core[0])
        end = start + len(core)
        parts = (Run(run.text[:start]), Run(core, marks, run.href), Run(run.text[end:]))
        pieces += [part for part in parts if part.text]
    return _share_marks(pieces)


def _share_marks(pieces: list[Run]) -> list[Run]:
    shown = [piece for piece in pieces if piece.html is not None or piece.text.strip()]
    out, place = [], 0
    for piece in pieces:
        if place < len(shown) and piece is shown[place]:
            place += 1
        elif 0 < place < len(shown) and not piece.text.strip():
            before, after = shown[place - 1], shown[place]
            href = before.href if before.href == after.href else None
            piece = piece._replace(marks=before.marks & after.marks, href=href)
        out.append(piece)
    return out
