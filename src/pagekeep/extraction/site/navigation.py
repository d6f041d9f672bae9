"""Read a site's navigation: which pages it has, in which order, under which headings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.values import dataclass

_LISTS: Final = ("ul", "ol", "menu")
_BOXES: Final = ("nav", "aside", *_LISTS)
_HEADERS: Final = frozenset(
    {"p", "h2", "h3", "h4", "h5", "h6", "summary", "button", "span", "div", "strong", "b", "label"}
)
"""Elements that may be the heading of a part of a menu."""
_MIN_LINKS: Final = 5
"""Links from which on a list is a navigation; the trail above a page has fewer."""
_MIN_LINKED_SHARE: Final = 0.5
"""Share of the characters that are in links; a text with many links has less."""
_MAX_LINKS: Final = 5_000
_MAX_ENTRIES: Final = 20_000
_MAX_BOXES: Final = 40
"""Boxes around a link that are counted."""
_MAX_TITLE_CHARS: Final = 120


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """A line of the navigation: a page, or the heading of several."""

    title: str
    url: str | None
    """Absolute, without a fragment; `None` for a heading that leads nowhere."""
    level: int
    """0 at the top."""


def read_navigation(document: dom.Document, url: str, scope: str) -> tuple[NavigationEntry, ...]:
    """Return the page's largest navigation of addresses that begin with `scope`, in its order; empty if it has none."""
    base = urls.base(document, url)
    links = {
        link: target
        for link in dom.tagged(document, ("a",), _MAX_LINKS)
        if (target := _resolve(link, base)) and target.startswith(scope) and dom.text_of(link).strip()
    }
    box = _choose_box(links)
    return tuple(_without_repeats(_read_entries(box, links))) if box is not None else ()


def _resolve(link: dom.Element, base: str | None) -> str | None:
    """Return where a link leads, without the fragment; `None` for one that stays on the page."""
    href = (link.attr("href") or "").strip()
    if not href or href.startswith("#"):
        return None
    return (urls.absolute(href, base) or "").partition("#")[0] or None


def _choose_box(links: dict[dom.Element, str]) -> dom.Element | None:
    """Return the box with the most pages that is made of links: a list, or the navigation around it."""
    pages: dict[dom.Element, set[str]] = {}
    linked: dict[dom.Element, int] = {}
    for link, target in links.items():
        above = link.parent
        for _ in range(_MAX_BOXES):
            if not isinstance(above, dom.Element):
                break
            if above.tag in _BOXES or above.attr("role") == "navigation":
                pages.setdefault(above, set()).add(target)
                linked[above] = linked.get(above, 0) + len(dom.text_of(link).strip())
            above = above.parent
    best: dom.Element | None = None
    for box, targets in pages.items():  # inner boxes come before those around them
        if len(targets) < _MIN_LINKS or linked[box] < _MIN_LINKED_SHARE * len(" ".join(dom.text_of(box).split())):
            continue
        gained = len(targets) - len(pages[best]) if best is not None else 1
        if gained > 0 or (gained == 0 and box.tag not in _LISTS):  # the heading of a list is beside it
            best = box
    return best


def _read_entries(box: dom.Element, links: dict[dom.Element, str]) -> Iterator[NavigationEntry]:
    """Yield links and headings in their order, each with the number of lists around it within the box as its level."""
    start = 1 if box.tag in _LISTS else 0
    waiting: list[tuple[dom.Node, int]] = [(node, start) for node in reversed(list(box.children))]
    while waiting:
        node, depth = waiting.pop()
        if not isinstance(node, dom.Element):
            continue
        if node in links:
            yield NavigationEntry(_read_title(node), links[node], max(0, depth - 1))
        elif node.tag in _HEADERS and not dom.tagged(node, ("a", *_LISTS), 1):
            if title := _read_title(node):
                yield NavigationEntry(title, None, max(0, depth - 1))
        else:
            inner = depth + (node.tag in _LISTS)
            waiting += [(child, inner) for child in reversed(list(node.children))]


def _read_title(node: dom.Element) -> str:
    return " ".join(dom.text_of(node).split())[:_MAX_TITLE_CHARS]


def _without_repeats(entries: Iterable[NavigationEntry]) -> Iterator[NavigationEntry]:
    """Yield the entries without pages that were there before, and without headings that nothing follows."""
    seen: set[str] = set()
    heading: NavigationEntry | None = None
    for entry in entries:
        if entry.url is None:
            heading = entry
        elif entry.url not in seen:
            seen.add(entry.url)
            if heading:
                yield heading
            heading = None
            yield entry


def merge_navigations(navigations: Iterable[Iterable[NavigationEntry]]) -> list[NavigationEntry]:
    """Return one navigation of several: many sites show the inner pages of a part only on the pages of that part.

    New entries come after the one that was before them. The order of the navigations counts: the first decides.
    """
    after: dict[str | None, str | None] = {None: None}
    entries: dict[str, NavigationEntry] = {}
    for navigation in navigations:
        previous: str | None = None
        for entry in navigation:
            key = entry.url or f"{entry.level} {entry.title}"
            if key not in entries and len(entries) < _MAX_ENTRIES:
                entries[key] = entry
                after[previous], after[key] = key, after[previous]
            previous = key if key in entries else previous
    merged: list[NavigationEntry] = []
    place = after[None]
    while place is not None:
        merged.append(entries[place])
        place = after[place]
    return merged
