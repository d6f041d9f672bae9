"""Print items: as JSON, as a table, or one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import click

from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.output import is_terminal, show_table, write
from pagekeep.text import printable

with lazily():
    from pagekeep.model import Item


_COLORS: Final[dict[str, str | tuple[int, int, int]]] = {
    "article": "green",
    "simplified": "yellow",
    "bookmark": (255, 135, 0),
    "discarded": "bright_black",
}
_SHORT_ID_CHARS: Final = 8
"""Enough to be unique in a large library, and short enough to type."""


def short_id(item_id: str) -> str:
    """Return the start of an id, enough to type."""
    return item_id[:_SHORT_ID_CHARS]


def result_line(action: str) -> Callable[[Item], str]:
    """Return a function that writes one line with the action and the item."""
    return lambda item: f"{action}  {short_id(item.id)}  {printable(item.title)}"


def quality_line(item: Item) -> str:
    """Return the item's quality level in words, coloured on a terminal."""
    level, words = item.metadata.quality, item.metadata.word_count or 0
    messages = {
        "article": f"Article captured ({words:,} {'word' if words == 1 else 'words'})",
        "simplified": "Article captured (simplified)",
        "bookmark": "Saved as bookmark - extraction failed",
        "discarded": "Discarded by a rule",
    }
    message = messages.get(level or "", "Saved")
    return click.style(message, fg=_COLORS.get(level or "")) if is_terminal() else message


def show_items(items: Iterable[Item]) -> None:
    """Print items: a table on a terminal, tab-separated lines with whole ids in a pipe."""
    if is_terminal():
        rows = [[short_id(item.id), item.saved_at[:10], _flags(item), item.title, item.domain] for item in items]
        show_table([["id", "saved", "", "title", "domain"], *rows])
        return
    lines = ["\t".join(map(printable, (i.id, i.saved_at, _flags(i), i.title, i.url))) for i in items]
    if lines:
        write("\n".join(lines))


def show_failed(items: Iterable[Item]) -> None:
    """Print failed saves with their reasons: a table on a terminal, tab-separated lines with whole ids in a pipe."""
    if is_terminal():
        rows = [[short_id(i.id), i.saved_at[:10], i.metadata.reason or "", i.url] for i in items]
        show_table([["id", "saved", "reason", "address"], *rows])
        return
    lines = ["\t".join(map(printable, (i.id, i.saved_at, i.metadata.reason or "", i.url))) for i in items]
    if lines:
        write("\n".join(lines))


def state_words(item: Item) -> str:
    """Return what the user set on an item, in words."""
    about = item.metadata
    states = [name for name in ("pinned", "archived", "failed") if getattr(about, name)]
    states += ["deleted"] * bool(item.deleted_at)
    return ", ".join([*states, f"tags: {', '.join(map(printable, about.tags)) or 'none'}"])


def _flags(item: Item) -> str:
    """Return the quality level and the states of an item, separated by commas."""
    flags: list[str] = [item.metadata.quality or ""]
    flags += [name for name in ("pinned", "archived") if getattr(item.metadata, name)]
    flags += ["failed"] if item.metadata.failed else []
    flags += ["deleted"] if item.deleted_at else []
    return ",".join(filter(None, flags))
