"""Addresses as a crawl sees them: their normal form, what is left out of them, and patterns that have no end."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from pagekeep.fetch.urls import split_url
from pagekeep.library import normal_url

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


def shape(url: str) -> str:
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
