"""Which addresses belong to a crawl: its options and limits, normal forms, and patterns that have no end."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from fnmatch import translate
from functools import lru_cache
from posixpath import dirname
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit

from pagekeep.errors import InvalidQuery
from pagekeep.fetch.urls import split_url
from pagekeep.library import normal_url

MAX_SEEDS: Final = 50
"""Seeds of one crawl, and with that its hosts."""
MAX_BATCH: Final = 1_000
"""Seeds of a crawl that follows no links."""
MAX_PAGES: Final = 10_000_000
MAX_DEPTH: Final = 100
_MAX_GLOBS: Final = 100
_MAX_GLOB_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """What to crawl, and how much of it. Everything is bounded, also where the user sets no limit."""

    seeds: tuple[str, ...]
    include: tuple[str, ...] = ()
    """Globs of addresses to follow, instead of everything below the folders of the seeds."""
    exclude: tuple[str, ...] = ()
    """Globs of addresses not to follow."""
    depth: int = 20
    """Links from a seed to a page."""
    pages: int = 10_000
    """Pages that are kept."""
    bytes: int = 10_000_000_000
    minutes: float = 1_440.0
    sitemap: Literal["include", "skip", "only"] = "include"
    """Whether sitemaps are read; with `only`, links are not followed."""
    render: Literal["auto", "force", "never"] | None = None
    save: bool = False
    """Whether the pages are saved into the library at the end."""
    tags: tuple[str, ...] = ()
    webhook: str | None = None
    """The id of the sink that gets its events."""

    def to_json(self) -> dict[str, Any]:
        """Return the options as they are stored."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @property
    def name(self) -> str:
        """What makes this another crawl: limits do not."""
        scope = (sorted(self.seeds), sorted(self.include), sorted(self.exclude), self.sitemap, self.render)
        return json.dumps(scope, ensure_ascii=False)


_NAMES: Final = frozenset(field.name for field in fields(CrawlOptions))


def options_from_json(stored: Mapping[str, Any]) -> CrawlOptions:
    """Return options from their stored form; those of a newer version are ignored."""
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in stored.items() if name in _NAMES
    }
    return CrawlOptions(**values)


def check_options(options: CrawlOptions) -> CrawlOptions:
    """Return the options with seeds in normal form; `InvalidUrl` or `InvalidQuery` for what cannot be crawled."""
    seeds = tuple(dict.fromkeys(tidy(seed).url for seed in options.seeds))
    globs = (*options.include, *options.exclude)
    most = MAX_SEEDS if options.depth else MAX_BATCH
    if not 1 <= len(seeds) <= most:
        raise InvalidQuery(f"A crawl has 1 to {most:,} seeds.", suggestions=("Start several crawls.",))
    if len(globs) > _MAX_GLOBS or any(not 0 < len(glob) <= _MAX_GLOB_CHARS for glob in globs):
        raise InvalidQuery("Too many or too long patterns.", suggestions=("Use at most 100, of 500 characters each.",))
    for name, value, limit in (
        ("pages", options.pages, MAX_PAGES),
        ("depth", options.depth + 1, MAX_DEPTH + 1),
        ("bytes", options.bytes, 10**15),
        ("minutes", options.minutes, 10**6),
    ):
        if not 0 < value <= limit:
            raise InvalidQuery(f"The limit `{name}` cannot be {value:,}.", suggestions=(f"Use at most {limit:,}.",))
    return replace(options, seeds=seeds)


@dataclass(frozen=True, slots=True)
class Scope:
    """Hosts, folders and patterns within which links are followed."""

    hosts: frozenset[str]
    """Hosts with their ports, whose robots.txt is known."""
    folders: tuple[tuple[str, str], ...]
    """Hosts without `www.`, and the folder of each below which pages are."""
    include: tuple[str, ...]
    exclude: tuple[str, ...]

    def reject(self, url: str) -> str | None:
        """Return why an address does not belong to the crawl; `None` when it does."""
        host = authority(url)
        if host not in self.hosts:
            return "off_site"
        return self.reject_path(url, host)

    def reject_path(self, url: str, host: str) -> str | None:
        """Return why an address on a host of the crawl does not belong to it."""
        path = "/" + url.partition("://")[2].partition("/")[2]
        if self.include:
            if not any(_matches(glob, url, path) for glob in self.include):
                return "not_included"
        elif not any(_is_below(folder, path) for name, folder in self.folders if is_sister(name, host)):
            return "off_path"
        return "excluded" if any(_matches(glob, url, path) for glob in self.exclude) else None

    def is_sister_of_seed(self, url: str) -> bool:
        """Return whether the host is a seed's, with or without `www.`."""
        host = authority(url)
        return any(is_sister(name, host) for name, _ in self.folders)


def make_scope(options: CrawlOptions, hosts: frozenset[str]) -> Scope:
    """Return the scope of a crawl on these hosts."""
    folders = tuple((authority(seed), _folder(seed)) for seed in options.seeds)
    return Scope(hosts, folders, options.include, options.exclude)


def _folder(seed: str) -> str:
    """Return the folder of a seed: `/docs/` for `/docs/guide.html`, and `/docs` for `/docs`, which may be a folder itself."""
    path = urlsplit(split_url(seed).target).path
    name = path.rpartition("/")[2]
    if not name or "." in name:
        folder = path if path.endswith("/") else dirname(path)
        return folder if folder.endswith("/") else f"{folder}/"
    return path


def _is_below(folder: str, path: str) -> bool:
    bare = folder.rstrip("/")
    return (
        path.startswith(folder if folder.endswith("/") else f"{folder}/")
        or path.partition("?")[0] == bare
        or (path.partition("?")[0] == folder)
    )


def _matches(glob: str, url: str, path: str) -> bool:
    """Return whether a glob fits: of the path when it starts with `/`, else of the whole address."""
    return bool(_pattern(glob).fullmatch(path if glob.startswith("/") else url))


@lru_cache(maxsize=512)
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(translate(re.sub(r"\*{2,}", "*", glob)))


MAX_ADDRESS_CHARS: Final = 1_000
"""Longer addresses carry a state; of 1,768 pages of our corpora none has more than 400."""
MAX_SEGMENTS: Final = 20
MAX_SAME_SEGMENT: Final = 2
"""How often one word may be in a path: relative links that are wrong repeat it for ever."""
MAX_PARAMETERS: Final = 8

_SESSION: Final = re.compile(
    r"(?:php|asp|j)?sess(?:ion)?_?(?:id|key|token)|aspsessionid\w*|jsessionid|phpsessid|cfid|cftoken|zenid|oscsid|sid"
)
_MAYBE_SESSION: Final = frozenset({"s", "session", "sess", "token", "cid", "uid"})
_OPAQUE_VALUE: Final = re.compile(r"(?=[0-9a-zA-Z_-]*\d)(?=[0-9a-zA-Z_-]*[a-zA-Z])[0-9a-zA-Z_-]{16,}")
_PATH_SESSION: Final = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?;]*|/\(S\([^)]*\)\)", re.IGNORECASE)
_SORT: Final = frozenset(
    "sort sortby sort_by sortorder sort_order sortdir sort_dir orderby order_by replytocom".split()
)
_SORT_VALUES: Final = frozenset({"asc", "desc", "ascending", "descending"})
_DIGITS: Final = re.compile(r"\d+")
_OPAQUE: Final = re.compile(r"(?<=/)[0-9a-f]{16,}(?=/|$)", re.IGNORECASE)
_DATE_PATH: Final = re.compile(r"/(?:1\d|2[01])\d\d[/-](?:0?[1-9]|1[0-2])(?:[/-](?:0?[1-9]|[12]\d|3[01]))?/?$")
_DATE_VALUE: Final = re.compile(r"=(?:1\d|2[01])\d\d-?(?:0[1-9]|1[0-2])(?:-?\d\d)?(?=&|$)")
_DATE_NAMES: Final = re.compile(r"(?:^|&)(?:year|month|week|day|yr|mon|mo)=\d+(?=&|$)", re.IGNORECASE)
_FILES: Final = frozenset(
    (
        *"jpg jpeg png gif webp avif svg ico bmp tif tiff mp3 mp4 m4a m4v ogg ogv oga wav flac webm avi mov mkv".split(),
        *"zip gz tgz bz2 xz 7z rar tar exe dmg msi deb rpm apk iso jar whl css js mjs json xml rss atom woff woff2".split(),
        *"ttf otf eot wasm map bin swf ics torrent csv".split(),
    )
)
"""Endings of files that are not pages: they are not requested."""


class Address(NamedTuple):
    """An address in the form in which a crawl knows it."""

    url: str
    stripped: str | None = None
    """What was left out of it: `session_id` or `sort_order`."""


def tidy(url: str) -> Address:
    """Return the address without fragment, tracking, session ids and sort orders; `InvalidUrl` for what is not one."""
    normal = normal_url.normalise(url).partition("#")[0]
    stripped = None
    if _PATH_SESSION.search(normal):
        normal, stripped = _PATH_SESSION.sub("", normal), "session_id"
    base, mark, query = normal.partition("?")
    if not mark:
        return Address(normal, stripped)
    pairs = query.split("&")
    ids = [pair for pair in pairs if _is_session(pair)]
    orders = [pair for pair in pairs if _is_order(pair)]
    kept = [pair for pair in pairs if pair not in ids and pair not in orders]
    stripped = "session_id" if ids else "sort_order" if orders else stripped
    return Address(f"{base}?{'&'.join(kept)}" if kept else base, stripped)


def _is_session(pair: str) -> bool:
    name, _, value = pair.partition("=")
    name = name.lower()
    if name in _MAYBE_SESSION:
        return bool(_OPAQUE_VALUE.fullmatch(value))
    return bool(_SESSION.fullmatch(name)) and len(value) >= 6


def _is_order(pair: str) -> bool:
    name, _, value = pair.partition("=")
    return name.lower() in _SORT or (name.lower() in ("order", "dir", "direction") and value.lower() in _SORT_VALUES)


def authority(url: str) -> str:
    """Return host and port of an address, without the default port."""
    return split_url(url).authority


def is_sister(one: str, other: str) -> bool:
    """Return whether two hosts are one site with and without `www.`."""
    return one.removeprefix("www.") == other.removeprefix("www.")


def is_file(url: str) -> bool:
    """Return whether the address ends like a file that is not a page."""
    name = url.partition("?")[0].rpartition("/")[2]
    return "." in name and name.rpartition(".")[2].lower() in _FILES


def find_trap(url: str) -> str | None:
    """Return the reason why an address belongs to a pattern without end, by its own look."""
    if len(url) > MAX_ADDRESS_CHARS:
        return "long_address"
    _, _, rest = url.partition("://")
    path, _, query = rest.partition("?")
    segments = [segment for segment in path.split("/")[1:] if segment]
    if len(segments) > MAX_SEGMENTS:
        return "deep_path"
    words = [segment for segment in segments if not segment.isdigit()]
    if len(words) - len(set(words)) >= MAX_SAME_SEGMENT and any(words.count(word) > MAX_SAME_SEGMENT for word in words):
        return "repeating_path"
    return "many_parameters" if query.count("&") >= MAX_PARAMETERS else None


def address_shape(url: str) -> str:
    """Return the address with numbers as `#`: addresses of one shape differ in numbers only."""
    path, mark, query = url.partition("://")[2].partition("?")
    return _DIGITS.sub("#", _OPAQUE.sub("*", path)) + mark + _DIGITS.sub("#", query)


def is_calendar(url: str) -> bool:
    """Return whether the address shows a day, a month or a year of a calendar."""
    path, _, query = url.partition("?")
    return bool(
        _DATE_PATH.search(path) or _DATE_VALUE.search(f"={query}" if query else "") or _DATE_NAMES.search(query)
    )


def query_names(url: str) -> tuple[str, ...]:
    """Return the names of the parameters, sorted."""
    query = url.partition("?")[2]
    return tuple(sorted({pair.partition("=")[0] for pair in query.split("&")})) if query else ()


MAX_CHAIN: Final = 100
"""Pages in a row, each found on the one before, whose addresses differ in numbers only: pages of a list, months."""
MAX_CALENDAR: Final = 100
"""Days, months or years of one calendar."""
MAX_FACETS: Final = 8
"""Sets of parameter names of one path: a shop's filters combine without end, a forum has a few."""
MAX_VARIANTS: Final = 1_000
"""Addresses of one path with two or more parameters."""
MAX_QUERIES: Final = 10_000
"""Addresses of one path with parameters."""
MAX_HOPS: Final = 10
"""Redirects in a row."""
MAX_SITEMAPS: Final = 500
"""Sitemaps of one run."""


class Numbers:
    """Counters of address patterns: those of the store, and what is added to them."""

    def __init__(self, stored: Mapping[str, int]) -> None:
        self._stored = stored
        self.changed: dict[str, int] = {}

    def get(self, name: str) -> int:
        """Return a counter."""
        return self.changed.get(name, self._stored.get(name, 0))

    def add(self, name: str) -> None:
        """Count one more."""
        self.changed[name] = self.get(name) + 1


def counter_names(url: str) -> tuple[str, ...]:
    """Return the names of the counters that an address needs."""
    names = query_names(url)
    path = url.partition("?")[0]
    found = [_key("calendar", address_shape(url))] if is_calendar(url) else []
    if names:
        found += [_key("queries", path), _key("facets", path), _key("set", path, *names)]
    if len(names) > 1:
        found.append(_key("variants", path))
    return tuple(found)


def count_pattern(url: str, numbers: Numbers) -> str | None:
    """Count an address that is new; return the reason when it is over the bound of its pattern, and is then not counted."""
    if is_calendar(url):
        name = _key("calendar", address_shape(url))
        if numbers.get(name) >= MAX_CALENDAR:
            return "calendar"
        numbers.add(name)
    names = query_names(url)
    return _count_query(url.partition("?")[0], names, numbers) if names else None


def _count_query(path: str, names: tuple[str, ...], numbers: Numbers) -> str | None:
    is_new_set = numbers.get(_key("set", path, *names)) == 0
    if is_new_set and numbers.get(_key("facets", path)) >= MAX_FACETS:
        return "facets"
    if len(names) > 1 and numbers.get(_key("variants", path)) >= MAX_VARIANTS:
        return "facets"
    if numbers.get(_key("queries", path)) >= MAX_QUERIES:
        return "facets"
    if is_new_set:
        numbers.add(_key("facets", path))
        numbers.add(_key("set", path, *names))
    if len(names) > 1:
        numbers.add(_key("variants", path))
    numbers.add(_key("queries", path))
    return None


def chain_of(url: str, parent_url: str, parent_chain: int) -> int:
    """Return how many pages in a row have this shape, if the address was found on `parent_url`."""
    shape = address_shape(url)
    return parent_chain + 1 if "#" in shape and shape == address_shape(parent_url) and url != parent_url else 0


def _key(*parts: str) -> str:
    return f"{parts[0]}:{hashlib.sha256(chr(0).join(parts[1:]).encode()).hexdigest()[:32]}"


def all_counter_names(urls: Iterable[str]) -> set[str]:
    """Return the names of the counters that some addresses need."""
    return {name for url in urls for name in counter_names(url)}


class Counts(dict[str, int]):
    """Numbers by name; a name that is missing counts 0."""

    def add(self, name: str, number: int = 1) -> None:
        """Add to the number of a name."""
        self[name] = self.get(name, 0) + number
