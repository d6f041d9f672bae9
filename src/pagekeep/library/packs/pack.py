"""The pages of a pack in the order of the site's navigation, the paths of their files, and its `llms.txt`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from pagekeep.extraction.site.navigation import NavigationEntry
from pagekeep.library.exports.markdown_files import clean_stem


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


_MAX_PART_BYTES: Final = 80
_MAX_DEPTH: Final = 12
"""Folders; deeper ones are joined to one name."""
_ENDINGS: Final = (".html", ".htm", ".php", ".aspx", ".asp", ".jsp", ".xhtml", ".md", ".txt")
_RESERVED: Final = frozenset(
    ("con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)), *(f"lpt{n}" for n in range(1, 10)))
)
"""Names that Windows does not allow for files."""
ENDING: Final = ".md"


def assign_paths(urls: Sequence[str]) -> dict[str, str]:
    """Return the path of each address: below the folder that all have in common, no two the same on any file system."""
    parts = {url: _split(url) for url in urls}
    shared = _count_shared([folders for folders, _ in parts.values()])
    hosts = {urlsplit(url).netloc for url in urls}
    taken: set[str] = set()
    paths: dict[str, str] = {}
    for url in urls:
        folders, name = parts[url]
        host = [_clean(urlsplit(url).netloc)] if len(hosts) > 1 else []
        stem = "/".join([*host, *_bound(folders if host else folders[shared:]), name])
        paths[url] = _choose_free(stem, taken) + ENDING
    return paths


def _split(url: str) -> tuple[list[str], str]:
    """Return the folders and the name of a page."""
    address = urlsplit(url)
    *folders, last = address.path.lstrip("/").split("/")
    last = unquote(last)
    for ending in _ENDINGS:
        if last.lower().endswith(ending):
            last = last[: -len(ending)]
            break
    name = _clean(last) or "index"
    if address.query:
        digest = hashlib.sha256(address.query.encode("utf-8", "replace")).hexdigest()[:6]
        name = f"{name} {_clean(address.query)[:40].strip()} {digest}"
    return [_clean(unquote(one)) or "_" for one in folders if one], name


def _clean(text: str) -> str:
    """Return a text as the name of a file or folder."""
    stem = clean_stem(text, _MAX_PART_BYTES)
    return f"_{stem}" if stem.lower() in _RESERVED else stem


def _bound(folders: list[str]) -> list[str]:
    if len(folders) <= _MAX_DEPTH:
        return folders
    rest = "/".join(folders[_MAX_DEPTH:])
    return [*folders[:_MAX_DEPTH], hashlib.sha256(rest.encode("utf-8", "replace")).hexdigest()[:12]]


def _count_shared(folders: list[list[str]]) -> int:
    """Return how many of the first folders are the same everywhere."""
    count = 0
    for several in zip(*folders, strict=False):
        if len(set(several)) > 1:
            break
        count += 1
    return count


def _choose_free(stem: str, taken: set[str]) -> str:
    """Return the stem, with a number if it is taken; upper and lower case are the same on some file systems."""
    chosen, number = stem, 1
    while chosen.casefold() in taken:
        number += 1
        chosen = f"{stem} {number}"
    taken.add(chosen.casefold())
    return chosen


_OPTIONAL: Final = "Pages"
"""The heading of pages that are under none."""


def write_llms(title: str, summary: str, pages: Iterable[PackPage], *, links: bool = True) -> Iterator[str]:
    """Yield the lines of `llms.txt`: a link to each page, under the headings of the navigation.

    The links lead to the site or, without `links`, to the files of the pack.
    """
    yield f"# {_line(title)}\n"
    if summary:
        yield f"\n> {_line(summary)}\n"
    section: str | None = None
    for one in pages:
        heading = " / ".join(one.section) or _OPTIONAL
        if heading != section:
            section = heading
            yield f"\n## {_line(heading)}\n\n"
        about = f": {_line(one.page.description)}" if one.page.description else ""
        yield f"- [{_escape(one.title)}]({one.url if links else one.path}){about}\n"


def write_llms_full(title: str, summary: str, pages: Iterable[PackPage]) -> Iterator[str]:
    """Yield the parts of `llms-full.txt`: every page with its address, headings one level down."""
    yield f"# {_line(title)}\n"
    if summary:
        yield f"\n> {_line(summary)}\n"
    for one in pages:
        yield f"\n---\n\n# {_line(one.title)}\n\nSource: {one.url}\n\n"
        yield f"{_without_title(one.page.markdown, one.title).strip()}\n"


def _without_title(markdown: str, title: str) -> str:
    """Return the text without its first heading if that is the title."""
    first, _, rest = markdown.lstrip().partition("\n")
    return rest if first.startswith("# ") and first[2:].strip() == title.strip() else markdown


def _line(text: str) -> str:
    return " ".join(text.split())


def _escape(text: str) -> str:
    return _line(text).replace("[", "(").replace("]", ")")
