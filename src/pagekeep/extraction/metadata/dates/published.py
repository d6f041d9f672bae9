"""Find when the page was published and last changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import islice
from typing import Final, NamedTuple

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.structured import one_line, short_text
from pagekeep.extraction.metadata.clues import Clues, FieldValue
from pagekeep.extraction.metadata.dates import (
    date_in_path,
    parse_month,
    remove_date,
    split_at_date,
    to_iso,
    to_short_iso,
)
from pagekeep.extraction.metadata.dates.anywhere import (
    find_anywhere,
    find_in_scripts,
    find_unrepeated,
    mentions_other_day,
    mentions_publication,
    mentions_update,
)
from pagekeep.text import compile_lazily

RawValue = tuple[object, str]
"""A value as the page states it, and its origin."""

_DATES: Final = (
    "time", "relative-time", "faceplate-timeago", '[class*="date" i]', '[class*="publish" i]', '[class*="posted" i]',
    'span[property*="date" i]', ".timeago", "p.author", "td.thead",
)  # fmt: skip
_MAX_CANDIDATES: Final = 200
"""Elements on each side of the heading that may contain the date."""
_MAX_TRIED: Final = 25
"""Of these, those that are parsed."""
_MAX_MICRODATA: Final = 2
_MANY_DAYS: Final = 5
"""With this many different days, dates away from the heading belong to the pages it lists."""
_OG_PUBLISHED: Final = (
    "article:published_time",
    "og:published_time",
    "og:article:published_time",
    "article:published",
    "article:post_date",
)
_META_PUBLISHED: Final = (
    "parsely-pub-date", "sailthru.date", "datepublished", "publishdate", "publish-date", "publish_date",
    "published_time", "pubdate", "publication_date", "publication-date", "published-date", "published", "published_on",
    "article.published", "article_date_original", "originalpublicationdate", "citation_publication_date",
    "citation_online_date", "citation_date", "dcterms.issued", "dc.date.issued", "dcterms.created",
    "dc.date.created", "dc.date", "dcterms.date", "date", "bt:pubdate", "cxenseparse:recs:publishtime",
    "article-publication-date", "release_date", "dc.created", "created", "pub_date", "article:publish_date",
    "gtm-publish-date", "og:pubdate", "og:article:pubdate", "article.created", "displaydate", "date_published",
    "dcterms.available", "creation_date", "article_date", "article:date", "post_date", "posted_on", "pdate", "ms.date",
    "og:release_date",
)  # fmt: skip
_OWN_NAME: Final = compile_lazily(
    r"(?:publi|pub|post|issue)[a-z]{0,7}[\W_]?(?:date|time|day|on\b)|date[\W_]?(?:publi|pub\b|creat|post)"
    r"|created?[\W_]?(?:date|time|at|on)\b"
)
"""A site's own name for the date of publication, such as `x-published-date`."""
_NOT_OWN_NAME: Final = compile_lazily(r"modif|updat|expir|revis|review|cache|render|relat|release")
_OG_MODIFIED: Final = ("article:modified_time", "og:updated_time", "og:article:modified_time", "article:updated_time")
_META_MODIFIED: Final = (
    "datemodified", "last-modified", "last_modified", "lastmod", "modified", "dcterms.modified",
    "dc.date.modified", "revised", "article_date_updated", "updated_time", "article.updated", "date_modified",
)  # fmt: skip
_MAX_VALUE_CHARS: Final = 100
"""Characters of a date with its label, as in "Published on Tuesday, 5 March 2024 at 9:30"."""
_MAX_SHOWN_CHARS: Final = 80
"""Characters of a line near the heading that is a date."""
_MIN_SHORT_CHARS: Final = 6
_MAX_SHORT_CHARS: Final = 30
"""Characters of a line with a year of two digits, 5.3.24 or more: in longer ones such numbers are rarely dates."""
_DIGITS: Final = compile_lazily(r"\d\d|[年년]")
"""What every date has: a quick test, as most lines have none."""
_DAY_CHARS: Final = 10
_ZONE_AT: Final = 19
"""Where the offset begins in an ISO time."""
_WEST: Final = 9
_EAST: Final = 11
"""Until this hour of UTC it is still yesterday in California, and from this hour on tomorrow in New Zealand."""
_MAX_CLASS_CHARS: Final = 300
_MAX_INLINE: Final = 5
"""Inline elements and their siblings looked at around a date."""
_INLINE: Final = frozenset("a abbr b em font i small span strong time u".split())
_MAX_OTHER_LETTERS: Final = 40
"""Letters besides the date in a line about the date: "Posted on", "at 9:30 a.m. by the desk"."""


def find_published(clues: Clues) -> FieldValue | None:
    """Return when the page was first published, and the origin of the date."""
    stated = _first_date(_published_values(clues), clues)
    if stated and not clues.is_home:
        return stated if stated[1] == "microdata" else _prefer_shown(clues, stated)
    return stated or (None if clues.is_home else _near(clues)) or (None if clues.is_product else _far(clues))


def _near(clues: Clues) -> FieldValue | None:
    """Return the date beside the title, in the address, or near the heading."""
    beside = _by_title(clues, _beside_heading) or _beside_heading(clues)
    if beside:
        return beside
    near = _in_markup(clues) or _near_heading(clues) or _by_title(clues, _near_heading)
    in_url = date_in_path(urls.path(clues.url), day_first=clues.day_first)
    # A line near the heading may be today's date or another page's; one of the same day is more exact.
    return near if not in_url or (near and _is_same_day(near[0], in_url)) else (in_url, "address")


def _far(clues: Clues) -> FieldValue | None:
    """Return the date that the rest of the page shows or that only its scripts know."""
    found = find_anywhere(clues)
    return found if found or clues.is_home else _month(clues) or _in_title(clues) or find_in_scripts(clues.document)


def find_modified(clues: Clues) -> FieldValue | None:
    """Return when the page was last modified, and the origin of the date."""
    return _first_date(_modified_values(clues), clues)


def _published_values(clues: Clues) -> Iterator[RawValue]:
    """Yield the dates of publication in structured data, from the most to the least trustworthy source."""
    data = clues.structured
    yield from (
        (clues.item.get(key), "json-ld") for key in ("datePublished", "uploadDate", "datePosted", "dateCreated")
    )
    yield clues.page_item.get("datePublished"), "json-ld"
    yield from ((data.opengraph.get(name), "opengraph") for name in _OG_PUBLISHED)
    yield from ((data.meta.get(name) or data.opengraph.get(name), "meta") for name in _META_PUBLISHED)
    for origin, table in (("opengraph", data.opengraph), ("meta", data.meta)):
        yield from ((value, origin) for name, value in table.items() if _is_publication_name(name))
    for name in ("datePublished", "dateCreated"):
        yield from ((value, "microdata") for value in data.properties.get(name, ())[:_MAX_MICRODATA])


def _modified_values(clues: Clues) -> Iterator[RawValue]:
    data = clues.structured
    yield clues.item.get("dateModified"), "json-ld"
    yield clues.page_item.get("dateModified"), "json-ld"
    yield from ((data.opengraph.get(name), "opengraph") for name in _OG_MODIFIED)
    yield from ((data.meta.get(name), "meta") for name in _META_MODIFIED)
    yield from ((value, "microdata") for value in data.properties.get("dateModified", ())[:_MAX_MICRODATA])


def _is_publication_name(name: str) -> bool:
    """Return whether a site's own `<meta>` name is about the date of publication."""
    return _OWN_NAME.search(name) is not None and not _NOT_OWN_NAME.search(name)


def _first_date(values: Iterable[RawValue], clues: Clues) -> FieldValue | None:
    for value, origin in values:
        text = str(value) if isinstance(value, int) else one_line(value, _MAX_VALUE_CHARS)
        if text and (iso := to_iso(text, day_first=clues.day_first)):
            return iso, origin
    return None


def _in_markup(clues: Clues) -> FieldValue | None:
    """Return a date marked up near the heading; one of an update only as a last resort."""
    dated = [(value, element) for element in _own_dates(clues) if (value := _read_date(clues, element))]
    if not dated:
        return None
    plain = [pair for pair in dated if not _is_modification(pair[1], short_text(pair[1], _MAX_VALUE_CHARS))]
    value, element = (plain or dated)[0]
    days = {other[0][:10] for other, _ in dated}
    if len(days) < _MANY_DAYS or clues.is_thread or clues.is_close(element):
        return value
    single = find_unrepeated(plain, element=lambda pair: pair[1], day=lambda pair: pair[0][0][:10])
    return single[0] if single else None


def _read_date(clues: Clues, element: dom.Element) -> FieldValue | None:
    stated = element.attr("datetime") or element.attr("content") or element.attr("title") or element.attr("ts") or ""
    text = short_text(element, _MAX_VALUE_CHARS)
    iso = to_iso(stated, day_first=clues.day_first) or to_iso(text, day_first=clues.day_first)
    return (iso, "time" if "time" in element.tag else "date") if iso else None


def _prefer_shown(clues: Clues, stated: FieldValue) -> FieldValue:
    """Return the stated date, unless the page shows another date near its heading that is not called an update.

    A page that was moved or rewritten often states the date of that.
    """
    in_url = date_in_path(urls.path(clues.url), day_first=clues.day_first)
    if in_url and in_url != stated[0][:10] and _is_same_day(stated[0], in_url):
        # The local date of the author; the stated one is in UTC.
        is_shown = any(shown.iso[:10] == stated[0][:10] for shown in _shown_dates(clues))
        return stated if is_shown else (in_url, "address")
    own: FieldValue | None = None
    for shown in _shown_dates(clues):
        if _is_same_day(stated[0], shown.iso):
            return stated
        if own is None and _is_own_date(clues, shown):
            own = shown.iso, "heading"
    return own or stated


def _is_same_day(stated: str, other: str) -> bool:
    """Return whether two dates are the same, but for the time zone or for the order of day and month."""
    year, month, day = other[:_DAY_CHARS].split("-")
    if stated[:_DAY_CHARS] in (other[:_DAY_CHARS], f"{year}-{day}-{month}"):
        return True
    days = (date.fromisoformat(other[:10]) - date.fromisoformat(stated[:10])).days
    if abs(days) != 1 or len(stated) == _DAY_CHARS:
        return abs(days) == 1
    hour = datetime.fromisoformat(stated).astimezone(UTC).hour if stated[_ZONE_AT:] else int(stated[11:13])
    return hour < _WEST if days < 0 else hour >= _EAST


def _by_title(clues: Clues, find: Callable[[Clues], FieldValue | None]) -> FieldValue | None:
    """Return the date by the title where the page shows it in no heading, or in another than the one it has."""
    title = clues.shown_title
    return find(replace(clues, heading=title)) if title is not None else None


def _in_title(clues: Clues) -> FieldValue | None:
    """Return the date that the title starts with: "08.11.2024 | The meeting"."""
    parts = split_at_date(clues.title, day_first=clues.day_first)
    return (parts[0], "title") if parts and not parts[1].strip() else None


def _beside_heading(clues: Clues) -> FieldValue | None:
    """Return the date of a line in the heading's block that is a date and little else."""
    for shown in _shown_dates(clues, with_titles=True):
        if clues.is_close(shown.element) and _is_own_date(clues, shown):
            exact = to_iso(shown.element.attr("datetime") or "") if shown.element.tag == "time" else None
            return (exact, "time") if exact else (shown.iso, "heading")
    return None


class _ShownDate(NamedTuple):
    """A date among the lines near the heading."""

    iso: str
    line: str
    label: str
    """The line before it."""
    element: dom.Element


def _shown_dates(clues: Clues, *, with_titles: bool = False) -> Iterator[_ShownDate]:
    label = ""
    for line, element in clues.lines:
        iso = _read_line(clues, line) if len(line) <= _MAX_SHOWN_CHARS else None
        if iso is None and with_titles and len(line) <= _MAX_SHORT_CHARS:
            iso = _read_title(clues, element)
        if iso:
            yield _ShownDate(iso, line, label, element)
        label = line


def _is_later(clues: Clues, iso: str) -> bool:
    """Return whether a day is after the last change of the page, as that of a coming event is."""
    modified = find_modified(clues)
    return modified is not None and (date.fromisoformat(iso[:10]) - date.fromisoformat(modified[0][:10])).days > 1


def _read_line(clues: Clues, line: str) -> str | None:
    """Return the date in a line near the heading; in a short one its year may have two digits."""
    if not _DIGITS.search(line):
        return None
    if iso := to_iso(line, day_first=clues.day_first):
        return iso
    is_short = _MIN_SHORT_CHARS <= len(line) <= _MAX_SHORT_CHARS
    return to_short_iso(line, day_first=clues.day_first, year_first=clues.year_first) if is_short else None


def _read_title(clues: Clues, element: dom.Element) -> str | None:
    """Return the date in the title of a short line, such as "3 days ago", or of the element around it."""
    title = element.attr("title")
    if title is None and isinstance(element.parent, dom.Element):
        title = element.parent.attr("title")
    is_date = title and len(title) <= _MAX_SHORT_CHARS and title[:1].isalnum()
    return to_iso(title or "", day_first=clues.day_first) if is_date else None


def _is_own_date(clues: Clues, shown: _ShownDate) -> bool:
    """Return whether a line is a date and little else, and is not labelled as an update or as another date."""
    other_letters = "".join(filter(str.isalpha, remove_date(shown.line)))
    if (
        len(other_letters) > _MAX_OTHER_LETTERS
        or mentions_other_day(shown.line)
        or mentions_update(f"{shown.label} {shown.line}")
        or (shown.label.endswith((":", "\uff1a")) and not mentions_publication(shown.label))
    ):
        return False
    block = shown.element.parent
    around = short_text(block, _MAX_SHOWN_CHARS) if isinstance(block, dom.Element) else ""
    names = f"{shown.element.attr('class') or ''} {block.attr('class') or '' if isinstance(block, dom.Element) else ''}"
    is_update = mentions_update(around) or mentions_update(names)
    return not is_update and not clues.is_foreign(shown.element) and not _is_later(clues, shown.iso)


def _month(clues: Clues) -> FieldValue | None:
    """Return the month in a line near the heading that is a month and nothing else, as in magazines."""
    for line, element in clues.lines:
        month = parse_month(line)
        if month and not _is_aside(element) and not clues.is_foreign(element):
            return month, "heading"
    return None


def _is_aside(element: dom.Element) -> bool:
    """Return whether the element is in brackets or after many words: "This page cites no sources. (June 2024)"."""
    before = ""
    node: dom.Node | None = element
    for _ in range(_MAX_INLINE):
        if not isinstance(node, dom.Element) or node.tag not in _INLINE:
            break
        before = _before_in_line(node) + before
        node = node.parent
    return before.endswith("(") or len(before) > _MAX_OTHER_LETTERS


def _before_in_line(node: dom.Node) -> str:
    """Return the text before a node in its line, within its parent."""
    words: list[str] = []
    sibling = node.previous_sibling
    while sibling is not None and len(words) < _MAX_INLINE:
        if isinstance(sibling, dom.Element) and sibling.tag not in _INLINE:
            break
        words.append(short_text(sibling, _MAX_SHOWN_CHARS) if isinstance(sibling, dom.Element) else _data(sibling))
        sibling = sibling.previous_sibling
    return "".join(reversed(words)).rstrip()


def _data(node: dom.Node) -> str:
    return node.data[-_MAX_SHOWN_CHARS:] if isinstance(node, dom.Text) else ""


def _near_heading(clues: Clues) -> FieldValue | None:
    """Return the date in a short line near the heading, such as "March 5, 2024 | 4 min read"."""
    dated = [
        (iso, line, element)
        for line, element in clues.lines
        if (iso := _read_line(clues, line)) and not mentions_other_day(line)
    ]
    own = [each for each in dated if not clues.is_foreign(each[2])]
    plain = [each for each in own if not mentions_update(each[1])]
    if len({iso[:10] for iso, _, _ in dated}) >= _MANY_DAYS and not clues.is_thread:
        single = find_unrepeated(plain, element=lambda each: each[2], day=lambda each: each[0][:10])
        return (single[0], "heading") if single else None
    return next(((iso, "heading") for iso, _, _ in (*plain, *own)), None)


def _own_dates(clues: Clues) -> list[dom.Element]:
    """Return the elements that may contain the page's date, those after the heading before those ahead of it."""
    ordered = clues.order_by_heading(clues.select_marked(_DATES), _MAX_CANDIDATES)
    own = (element for element in ordered if element.tag != "h1" and not clues.is_foreign(element))
    return list(islice(own, _MAX_TRIED))


def _is_modification(element: dom.Element, shown: str) -> bool:
    names = " ".join(element.attr(name) or "" for name in ("class", "itemprop", "property"))[:_MAX_CLASS_CHARS]
    # WordPress names a date that is both "entry-date published updated".
    return mentions_update(shown) or (mentions_update(names) and "publish" not in names and "entry-date" not in names)
