"""The pages of a pack, in the order of the site's navigation, each with the path of its file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pagekeep.extraction.site.navigation import NavigationEntry
from pagekeep.library.packs.paths import assign_paths


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page of a site, before it has a place in a pack."""

    url: str
    """Its address, as other pages link to it."""
    title: str
    markdown: str
    """Without frontmatter."""
    description: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    """Other addresses that lead to it."""
    breadcrumbs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PackPage:
    """A page of a pack."""

    page: SitePage
    path: str
    """Of its file, with `/`, relative to the pack."""
    section: tuple[str, ...]
    """The headings above it in the navigation, from the outside in."""
    level: int
    """0 at the top of the table of contents."""

    @property
    def url(self) -> str:
        """Its address."""
        return self.page.url

    @property
    def title(self) -> str:
        """Its title, or its address when it has none."""
        return self.page.title or self.page.url


def arrange(pages: Sequence[SitePage], navigation: Iterable[NavigationEntry]) -> list[PackPage]:
    """Return the pages in the order of the navigation; those that it does not name follow the last one of their folder."""
    known = {key(address): page for page in reversed(pages) for address in (page.url, *page.aliases)}
    placed: dict[str, tuple[SitePage, tuple[str, ...], int]] = {}
    headings: list[NavigationEntry] = []
    for entry in navigation:
        headings = [above for above in headings if _is_above(above, entry)]
        page = known.get(key(entry.url)) if entry.url else None
        if page is None:
            headings.append(entry)
        elif page.url not in placed:
            level = entry.level + sum(above.url is None for above in headings)
            placed[page.url] = (page, tuple(above.title for above in headings), level)
    ordered = _insert_others(list(placed.values()), [page for page in pages if page.url not in placed])
    paths = assign_paths([page.url for page, _, _ in ordered])
    return [PackPage(page, paths[page.url], section, level) for page, section, level in ordered]


def _is_above(above: NavigationEntry, entry: NavigationEntry) -> bool:
    """Return whether an entry is under another one: a heading is also above what is on its own level."""
    return above.level < entry.level or (above.level == entry.level and above.url is None and entry.url is not None)


_Placed = tuple[SitePage, tuple[str, ...], int]


def _insert_others(placed: list[_Placed], others: Sequence[SitePage]) -> list[_Placed]:
    """Return all pages: each of the others after the last page of its folder, or at the end."""
    groups: dict[str | None, list[_Placed]] = {}
    last_of_folder = {folder(page.url): page.url for page, _, _ in placed}
    facts = {page.url: (section, level) for page, section, level in placed}
    for page in others:
        neighbour = last_of_folder.get(folder(page.url))
        section, level = facts[neighbour] if neighbour else (page.breadcrumbs[:1], 0)
        groups.setdefault(neighbour, []).append((page, section, level))
    ordered: list[_Placed] = []
    for one in placed:
        ordered.append(one)
        ordered += groups.get(one[0].url, [])
    return [*ordered, *groups.get(None, [])]


def key(url: str) -> str:
    """Return an address in a form in which the same page has the same one: without fragment, scheme and last slash."""
    return url.partition("#")[0].partition("://")[2].rstrip("/").removesuffix("/index.html")


def folder(url: str) -> str:
    """Return the address up to the last slash."""
    return url.partition("?")[0].rpartition("/")[0]
