"""Read the number of a page in its address: `?page=2`, `/story/2`, `/story-2.html`, `/story/page/2`...

No regular expression is used: addresses are split at fixed signs, and every part is looked at once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from pagekeep.values import dataclass

MAX_CHARS: Final = 2_000
"""Longer addresses carry data and are not those of a page of an article."""
MAX_NUMBER: Final = 99
"""Larger numbers are ids, years and counts: articles end long before."""
_MIN_NAME_CHARS: Final = 4
"""A shorter part of a path rarely names an article."""
_MAX_SEGMENTS: Final = 20
_MAX_PARAMETERS: Final = 20

PAGE_WORDS: Final = frozenset(
    "page pg p pag pagina página pagine seite seiten sivu sida side strona strana stranica oldal sayfa halaman trang".split()
)
"""How addresses name a page, in the languages we have seen."""
_PARAMETERS: Final = PAGE_WORDS | frozenset(
    "paged pagenum page_num pageno page_no pagenumber page_number pagenr page_nr currentpage curpage article_page "
    "articlepage pageid articlepageid pn".split()
)
_ZERO_BASED: Final = frozenset({"start", "page", "p", "pg"})
"""Parameters that some content management systems count from 0, so that `?page=1` is page 2."""
_SERIES: Final = frozenset(
    "chapter chapters ch kapitel chapitre capitulo lesson lektion episode ep folge part teil partie parte day tag week "
    "vol volume band issue season section step unit module level round top version v no nr number act scene book".split()
)
"""Words before a number that counts the works of a series, not the pages of one."""
_TRACKING: Final = frozenset("fbclid gclid dclid msclkid mc_cid mc_eid igshid ref_src cmpid ncid icid".split())
_INDEXES: Final = frozenset({"index", "default"})
_EXTENSIONS: Final = frozenset("html htm shtml xhtml php php3 asp aspx jsp do cfm phtml story".split())
_SEPARATORS: Final = "-_,;.~:!="


@dataclass(frozen=True, slots=True)
class Numbered:
    """An address read as that of a numbered page."""

    stem: str
    """The address without the number: the same for all pages of an article."""
    number: int
    style: str
    """Where the number is, such as `?page` or `/N`."""
    offset: int = 0
    """1 where addresses are counted from 0, so that `?page=1` is page 2."""

    @property
    def page(self) -> int:
        """The number of the page, counted from 1."""
        return self.number + self.offset

    @property
    def is_named(self) -> bool:
        """Whether the address calls it the number of a page."""
        return self.style.startswith("?") or "page" in self.style


def read_numbers(url: str) -> tuple[Numbered, ...]:
    """Return all readings of an address as that of a numbered page; none when it has no number."""
    parts = _split(url)
    if parts is None:
        return ()
    found: list[Numbered] = []
    for place, (name, value) in enumerate(parts.query):
        number = _number(value, least=0)
        if number is not None and name.lower() in _PARAMETERS | _ZERO_BASED:
            rest = (*parts.query[:place], *parts.query[place + 1 :])
            found.append(Numbered(parts.stem(parts.segments, rest), number, f"?{name.lower()}"))
    found += _read_last(parts)
    found += _read_inner(parts)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Place:
    """The address of a page of an article, and how its next page can be numbered."""

    url: str
    stem: str | None
    """The stem of a first page whose address has no number."""
    own: tuple[Numbered, ...]
    """The readings of an address that has one."""
    name: str
    """The part of the path that names the article, as it is written; may be empty."""

    @property
    def is_folder(self) -> bool:
        """Whether addresses relative to this one can be those of other pages without having its name."""
        last = self.url.partition("?")[0].partition("#")[0].rpartition("/")[2]
        return not last or bool(self.own) or last.startswith(("index.", "default."))

    @classmethod
    def of(cls, url: str, number: int) -> Place | None:
        """Return the place of a page with this number in its article; `None` for an address that cannot be read."""
        parts = _split(url)
        if parts is None:
            return None
        readings = read_numbers(url)
        if number == 1:
            own = tuple(one for one in readings if one.is_named or one.number == 1)
            return cls(url, parts.stem(parts.segments, parts.query), own, parts.name)
        whole = [one for one in readings if one.number == number]
        from_0 = [one for one in readings if one.number == number - 1 and one.style.lstrip("?") in _ZERO_BASED]
        shifted = (Numbered(one.stem, one.number, one.style, 1) for one in from_0)
        return cls(url, None, (*whole, *shifted), parts.name)

    @property
    def next_numbers(self) -> tuple[str, ...]:
        """The numbers of which one is in the address of the next page, in the form to look for them."""
        numbers = {str(one.number + 1): None for one in self.own}
        return tuple({**numbers, **({"2": None, "=1": None} if self.stem else {})})

    def read_next(self, url: str) -> Numbered | None:
        """Return how a URL is the address of the next page, or `None` when it is not.

        One with the number 1 may be page 2, where addresses are counted from 0; the label of its link must tell.
        """
        for reading in read_numbers(url):
            if reading.stem == self.stem and reading.style != "?start" and reading.number == 2:
                return reading
            if reading.stem == self.stem and reading.number == 1 and reading.style.lstrip("?") in _ZERO_BASED:
                return Numbered(reading.stem, 1, reading.style, offset=1)
            for mine in self.own:
                if (mine.stem, mine.style, mine.number + 1) == (reading.stem, reading.style, reading.number):
                    return Numbered(reading.stem, reading.number, reading.style, mine.offset)
        return None


def path_words(url: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the segments of the path and the names of the query's parameters, in lower case."""
    parts = _split(url)
    if parts is None:
        return (), ()
    return tuple(segment.lower() for segment in parts.segments), tuple(name.lower() for name, _ in parts.query)


@dataclass(frozen=True, slots=True)
class _Address:
    host: str
    segments: tuple[str, ...]
    """Of the path, without an extension, an index page at the end, and empty ones."""
    query: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """The part of the path that names the article, without a number behind it; may be empty."""
        for segment in reversed(self.segments):
            head = _split_digits(segment)[0].rstrip(_SEPARATORS)
            if len(head) >= _MIN_NAME_CHARS and head.lower() not in PAGE_WORDS and not head.isdigit():
                return head
        return max(self.segments, key=len, default="")

    def stem(self, segments: tuple[str, ...], query: tuple[tuple[str, str], ...]) -> str:
        """Return the address of these parts, in a form that is only compared."""
        shown = "&".join(sorted(f"{name}={value}" for name, value in query))
        return f"{self.host}/{'/'.join(_without_extension(segments))}?{shown}"


@lru_cache(maxsize=8)
def _split(url: str) -> _Address | None:
    if len(url) > MAX_CHARS:
        return None
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".").removeprefix("www.")
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host:
        return None
    segments = tuple(segment for segment in parts.path.split("/") if segment)
    pairs = [entry.partition("=") for entry in parts.query.replace(";", "&").split("&") if entry]
    if len(segments) > _MAX_SEGMENTS or len(pairs) > _MAX_PARAMETERS:
        return None
    query = tuple((name, value) for name, _, value in pairs if not _is_tracking(name))
    host = host if port in (None, 80, 443) else f"{host}:{port}"
    return _Address(host, _without_extension(segments), query)


def _is_tracking(name: str) -> bool:
    return name.lower().startswith("utm_") or name.lower() in _TRACKING


def _without_extension(segments: tuple[str, ...]) -> tuple[str, ...]:
    """Return the segments without `.html`, of the last one or of a page that has numbers below it."""
    cut = list(segments)
    for place in range(max(0, len(cut) - 2), len(cut)):
        name, dot, extension = cut[place].rpartition(".")
        if dot and name and extension.lower() in _EXTENSIONS:
            cut[place] = name
    if cut and cut[-1].lower() in _INDEXES:
        cut.pop()
    return tuple(cut)


def _number(text: str, least: int = 1) -> int | None:
    if not text.isascii() or not text.isdigit() or len(text) > 3:
        return None
    number = int(text)
    return number if least <= number <= MAX_NUMBER else None


def _read_last(parts: _Address) -> list[Numbered]:
    """Return the readings of the last segment of the path: `2`, `page2`, `story-2`, `story,page=2`."""
    if not parts.segments:
        return []
    *before, last = parts.segments
    head, digits = _split_digits(last)
    number = _number(digits)
    if number is None:
        return []
    word = head.rstrip(_SEPARATORS).lower()
    if not head:
        if before and before[-1].lower() in PAGE_WORDS:
            return [Numbered(parts.stem(tuple(before[:-1]), parts.query), number, "/page/N")]
        if before and before[-1].lower() in _SERIES:
            return []
        return [Numbered(parts.stem(tuple(before), parts.query), number, "/N")]
    if word in PAGE_WORDS:
        return [Numbered(parts.stem(tuple(before), parts.query), number, f"/page{head[len(word) :]}N")]
    if word in _INDEXES:
        return [Numbered(parts.stem(tuple(before), parts.query), number, f"/index{head[len(word) :]}N")]
    return _read_tail(parts, tuple(before), head, number)


def _read_tail(parts: _Address, before: tuple[str, ...], head: str, number: int) -> list[Numbered]:
    """Return the readings of a number behind a name: `story-2`, `story_p2`, `story-page-2`, `story,2`."""
    body = head.rstrip(_SEPARATORS)
    cut = max(body.rfind(sign) for sign in _SEPARATORS)
    word, name = body[cut + 1 :].lower(), body[:cut].rstrip(_SEPARATORS)
    if cut > 0 and name and word in PAGE_WORDS:
        style = f"{head[len(name) : len(body) - len(word)]}page{head[len(body) :]}N"
        return [Numbered(parts.stem((*before, name), parts.query), number, style)]
    if body == head or word in _SERIES:  # `covid19` does not end with a number
        return []
    return [Numbered(parts.stem((*before, body), parts.query), number, f"{head[len(body) :]}N")]


def _split_digits(text: str) -> tuple[str, str]:
    """Return the text before the digits that it ends with, and the digits."""
    end = len(text)
    while end > 0 and len(text) - end <= 3 and text[end - 1] in "0123456789":
        end -= 1
    return text[:end], text[end:]


def _read_inner(parts: _Address) -> list[Numbered]:
    """Return the readings of a number before the name of the article: `/article/2/title`, `/article/page/2/title`."""
    found = []
    for place in range(len(parts.segments) - 1):
        number = _number(parts.segments[place])
        if number is None or parts.segments[place].startswith("0"):
            continue
        start = place - 1 if place and parts.segments[place - 1].lower() in PAGE_WORDS else place
        rest = (*parts.segments[:start], *parts.segments[place + 1 :])
        found.append(Numbered(parts.stem(rest, parts.query), number, "/page/N/" if start < place else "/N/"))
    return found
