"""Values about reading: how far an item has been read, and annotations across the library. All frozen."""

from __future__ import annotations

from typing import Literal

from pagekeep.model.library import Annotation, Item
from pagekeep.values import dataclass

ReadState = Literal["unread", "reading", "read"]


@dataclass(frozen=True, slots=True)
class ReadingState:
    """How far an item has been read, and where to go on; the same on every device."""

    item_id: str
    state: ReadState = "unread"
    chosen: bool = False
    """Whether the user chose the state; reading on then never changes it."""
    progress: float = 0.0
    """How much of the text was passed, from 0 to 1."""
    block: int = 0
    """The paragraph, heading or other block at the top of the window, counted from 0."""
    offset: float = 0.0
    """How much of that block is above the window, from 0 to 1."""
    updated_at: str = ""
    """When the device reported it; empty when nothing was reported yet."""
    read_at: str | None = None


@dataclass(frozen=True, slots=True)
class ItemLink:
    """What a link to an item needs."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The items before and after an item in a list."""

    previous: ItemLink | None = None
    next: ItemLink | None = None


@dataclass(frozen=True, slots=True)
class SimilarItem:
    """An item that is about the same as another."""

    item: Item
    score: float
    """How much they have in common, from 0 to 1."""
    shared: tuple[str, ...] = ()
    """The words that both have and few others, the rarest first."""


@dataclass(frozen=True, slots=True)
class AnnotationPage:
    """One page of the annotations of a library, newest first, and the items they are on."""

    annotations: tuple[Annotation, ...]
    items: dict[str, Item]
    """By id."""
    next: str | None
    """Opaque key of the next page; `None` at the end."""
