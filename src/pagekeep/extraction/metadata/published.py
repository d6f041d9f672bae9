"""Find when the page was published and last changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from itertools import islice
from typing import Final, NamedTuple

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.structured import short_text
from pagekeep.extraction.metadata.clues import Clues
from pagekeep.extraction.metadata.dates import in_path, month_alone, to_iso, without_date
from pagekeep.extraction.metadata.plain import one_line

Found = tuple[str, str]
Given = tuple[object, str]
"""A value as the page gives it, and where."""

_DATES: Final = (
    'h1, time, relative-time, faceplate-timeago, [class*="date" i], [class*="publish" i], [class*="posted" i]'
    ", p.author, td.thead"
)
_MAX_SEEN: Final = 200
_MAX_TRIED: Final = 25
_MANY_DAYS: Final = 5
"""Different days from which dates away from the heading are those of the pages it lists."""
_OG_PUBLISHED: Final = (
    "article:published_time",
    "og:published_time",
    "og:article:published_time",
    "article:published",
    "article:post_date",
)
_META_PUBLISHED: Final = (
    "parsely-pub-date", "sailthru.date", "datepublished", "publishdate", "publish-date", "publish_date",
    "published_time", "pubdate", "publication_date", "publication-date", "published-date", "published",
    "article.published", "article_date_original", "originalpublicationdate", "citation_publication_date",
    "citation_online_date", "citation_date", "dcterms.issued", "dc.date.issued", "dcterms.created",
    "dc.date.created", "dc.date", "dcterms.date", "date", "bt:pubdate", "cxenseparse:recs:publishtime",
    "article-publication-date", "release_date", "dc.created", "created", "pub_date", "article:publish_date",
    "gtm-publish-date", "og:pubdate", "og:article:pubdate", "article.created", "displaydate", "date_published",
)  # fmt: skip
_OG_MODIFIED: Final = ("article:modified_time", "og:updated_time", "og:article:modified_time", "article:updated_time")
_META_MODIFIED: Final = (
    "datemodified", "last-modified", "last_modified", "lastmod", "modified", "dcterms.modified",
    "dc.date.modified", "revised", "article_date_updated", "updated_time", "article.updated", "date_modified",
)  # fmt: skip
_MAX_SHOWN: Final = 80
_MAX_NODES: Final = 20_000
_MIN_DAY: Final = 8
_YEAR: Final = re.compile(r"\d{4}")
"""Quickly tells most lines from those that may hold a day."""
_OF_OTHERS: Final = frozenset("blockquote q figure table tr td th dl dd li".split())
_MAX_LINE: Final = 200
_NOT_SHOWN: Final = frozenset(("script", "style", "noscript", "template", "title", "textarea"))
_MAX_INLINE: Final = 5
_INLINE: Final = frozenset("a abbr b em font i small span strong time u".split())
_MAX_BESIDE: Final = 40
"""Letters beside the date in a line that is about the date: "Posted on", "at 9:30 a.m. by the desk"."""
_MODIFIED_WORDS: Final = (
    "update", "modif", "edited", "aktualis", "revis", "reviewed", "changed", "mis à jour", "actualiz", "atualiz",
    "aggiornat", "bijgewerkt", "обновлен", "изменен", "更新", "수정", "uppdatera", "opdatere", "oppdatere", "päivitetty",
    "zaktualizowan", "güncellen", "ενημερώθηκε", "frissítve", "оновлено",
)  # fmt: skip

_OTHER_DAY: Final = re.compile(
    r"\u00a9|\b(?:copyright|registered|joined|member|since|born|expires?|until|deadline|founded|est|vol|volume|issue)\b",
    re.IGNORECASE,
)
"""Days of something else than the page."""


def published(clues: Clues) -> Found | None:
    """When the page was first published, and where that is said."""
    stated = _first(_stated(clues), clues)
    if clues.is_home:
        return stated
    if stated:
        return stated if stated[1] == "microdata" else _as_shown(clues, stated)
    return (
        _beside_heading(clues)
        or _in_markup(clues)
        or _near_heading(clues)
        or _in_address(clues)
        or _month(clues)
        or _only_day(clues)
    )


def modified(clues: Clues) -> Found | None:
    """When the page says it was last changed, and where that is said."""
    return _first(_stated_changes(clues), clues)


def _stated(clues: Clues) -> Iterator[Given]:
    """Dates of publication told to machines, from the most to the least trustworthy place."""
    given = clues.structured
    yield from (
        (clues.item.get(key), "json-ld") for key in ("datePublished", "uploadDate", "datePosted", "dateCreated")
    )
    yield clues.page_item.get("datePublished"), "json-ld"
    yield from ((given.opengraph.get(name), "opengraph") for name in _OG_PUBLISHED)
    yield from ((given.meta.get(name) or given.opengraph.get(name), "meta") for name in _META_PUBLISHED)
    yield from ((value, "meta") for name, value in given.meta.items() if _names_publication(name))
    for name in ("datePublished", "dateCreated"):
        yield from ((value, "microdata") for value in given.properties.get(name, ())[:2])


def _stated_changes(clues: Clues) -> Iterator[Given]:
    given = clues.structured
    yield clues.item.get("dateModified"), "json-ld"
    yield clues.page_item.get("dateModified"), "json-ld"
    yield from ((given.opengraph.get(name), "opengraph") for name in _OG_MODIFIED)
    yield from ((given.meta.get(name), "meta") for name in _META_MODIFIED)
    yield from ((value, "microdata") for value in given.properties.get("dateModified", ())[:2])


def _names_publication(name: str) -> bool:
    """Whether a `<meta>` of a house's own making is about the day of publication."""
    return "publish" in name and ("date" in name or "time" in name)


def _first(values: Iterable[Given], clues: Clues) -> Found | None:
    for value, origin in values:
        text = str(value) if isinstance(value, int) else one_line(value, 100)
        if text and (iso := to_iso(text, day_first=clues.day_first)):
            return iso, origin
    return None


def _in_markup(clues: Clues) -> Found | None:
    """A date the page shows near its heading; a date of change only when there is no other."""
    dated = [(found, element) for element in _own_dates(clues) if (found := _dated(clues, element))]
    if not dated:
        return None
    plain = [pair for pair in dated if not _is_change(pair[1], short_text(pair[1], 100))]
    found, element = (plain or dated)[0]
    days = {other[0][:10] for other, _ in dated}
    listed = len(days) >= _MANY_DAYS and not clues.is_thread and not clues.is_close(element)
    return None if listed else found


def _dated(clues: Clues, element: dom.Element) -> Found | None:
    stated = element.attr("datetime") or element.attr("ts") or ""
    iso = to_iso(stated, day_first=clues.day_first) or to_iso(short_text(element, 100), day_first=clues.day_first)
    return (iso, "time" if "time" in element.tag else "date") if iso else None


def _as_shown(clues: Clues, stated: Found) -> Found:
    """The stated date, unless the page shows its readers quite another one by the heading and does not call it a change.

    A page that was moved or written anew often states the day of that; a day apart is the zone's.
    """
    day = date.fromisoformat(stated[0][:10])
    written = in_path(urls.path(clues.url))
    if written and abs((date.fromisoformat(written) - day).days) == 1:
        return written, "address"  # The day where the page was written; what is stated is that of Greenwich.
    own: Found | None = None
    for shown in _shown(clues):
        if abs((date.fromisoformat(shown.iso[:10]) - day).days) <= 1:
            return stated
        if own is None and _is_own_date(clues, shown):
            own = shown.iso, "heading"
    return own or stated


def _beside_heading(clues: Clues) -> Found | None:
    """A line in the heading's own block that is a date and little else."""
    for shown in _shown(clues):
        if clues.is_close(shown.element) and _is_own_date(clues, shown):
            exact = to_iso(shown.element.attr("datetime") or "") if shown.element.tag == "time" else None
            return (exact, "time") if exact else (shown.iso, "heading")
    return None


class _Shown(NamedTuple):
    """A date among the lines by the heading."""

    iso: str
    line: str
    label: str
    """The line ahead of it."""
    element: dom.Element


def _shown(clues: Clues) -> Iterator[_Shown]:
    label = ""
    for line, element in clues.lines:
        if len(line) <= _MAX_SHOWN and (iso := to_iso(line, day_first=clues.day_first)):
            yield _Shown(iso, line, label, element)
        label = line


def _is_own_date(clues: Clues, shown: _Shown) -> bool:
    """Whether a line is a date and little else, and nothing calls it a day of change or of something else."""
    beside = "".join(filter(str.isalpha, without_date(shown.line)))
    if (
        len(beside) > _MAX_BESIDE
        or _OTHER_DAY.search(shown.line)
        or _says_changed(f"{shown.label} {shown.line}")
        or shown.label.endswith(":")
    ):
        return False
    block = shown.element.parent
    around = short_text(block, _MAX_SHOWN) if isinstance(block, dom.Element) else ""
    names = f"{shown.element.attr('class') or ''} {block.attr('class') or '' if isinstance(block, dom.Element) else ''}"
    return not (_says_changed(around) or _says_changed(names)) and not clues.is_foreign(shown.element)


def _month(clues: Clues) -> Found | None:
    """A line by the heading that is a month and little more, as magazines date their pages."""
    for line, element in clues.lines:
        month = month_alone(line)
        if month and not _is_aside(element) and not clues.is_foreign(element):
            return month, "heading"
    return None


def _is_aside(element: dom.Element) -> bool:
    """Whether what the element says stands in brackets or among many words: "This page cites no sources. (June 2024)"."""
    before = ""
    node: dom.Node | None = element
    for _ in range(_MAX_INLINE):
        if not isinstance(node, dom.Element) or node.tag not in _INLINE:
            break
        before = _before_in_line(node) + before
        node = node.parent
    return before.endswith("(") or len(before) > _MAX_BESIDE


def _before_in_line(node: dom.Node) -> str:
    """What stands ahead of a node in its line, as far as its parent holds it."""
    words: list[str] = []
    beside = node.previous_sibling
    while beside is not None and len(words) < _MAX_INLINE:
        if isinstance(beside, dom.Element) and beside.tag not in _INLINE:
            break
        words.append(short_text(beside, _MAX_SHOWN) if isinstance(beside, dom.Element) else _data(beside))
        beside = beside.previous_sibling
    return "".join(reversed(words)).rstrip()


def _data(node: dom.Node) -> str:
    return node.data[-_MAX_SHOWN:] if isinstance(node, dom.Text) else ""


def _near_heading(clues: Clues) -> Found | None:
    """A short line by the heading that holds a date, such as "March 5, 2024 | 4 min read"."""
    dated = [
        (iso, line, element)
        for line, element in clues.lines
        if (iso := to_iso(line, day_first=clues.day_first)) and not _OTHER_DAY.search(line)
    ]
    if len({iso[:10] for iso, _, _ in dated}) >= _MANY_DAYS and not clues.is_thread:
        return None
    own = [(iso, line) for iso, line, element in dated if not clues.is_foreign(element)]
    plain = [(iso, line) for iso, line in own if not _says_changed(line)]
    return next(((iso, "heading") for iso, _ in (*plain, *own)), None)


def _only_day(clues: Clues) -> Found | None:
    """The day the page shows, where it shows but one: then it stands by a heading that is none, or far from it."""
    found: dict[str, Found] = {}
    for node in islice(dom.nodes(clues.document), _MAX_NODES):
        if not isinstance(node, dom.Text):
            continue
        data = node.data
        if not _MIN_DAY <= len(data) <= _MAX_LINE or not _YEAR.search(data):
            continue
        line, element = " ".join(data.split()), node.parent
        iso = to_iso(line, day_first=clues.day_first)
        if iso and isinstance(element, dom.Element) and element.tag not in _NOT_SHOWN:
            found.setdefault(iso[:10], (iso, "line"))
            if len(found) > 1 or not _is_bare_day(clues, line, element):
                return None
    return next(iter(found.values()), None)


def _is_bare_day(clues: Clues, line: str, element: dom.Element) -> bool:
    """Whether a line is a day and no more, and none of a quotation, a table, a list or of something else."""
    if any(map(str.isalpha, without_date(line))) or clues.is_foreign(element):
        return False
    node: dom.Node | None = element
    for _ in range(_MAX_INLINE):
        if isinstance(node, dom.Element) and node.tag in _OF_OTHERS:
            return False
        node = node.parent if node is not None else None
    return True


def _own_dates(clues: Clues) -> list[dom.Element]:
    """Elements that may hold the page's date, those behind the heading before those ahead of it."""
    ordered = clues.from_heading(dom.select(clues.document, _DATES), _MAX_SEEN)
    own = (element for element in ordered if element.tag != "h1" and not clues.is_foreign(element))
    return list(islice(own, _MAX_TRIED))


def _is_change(element: dom.Element, shown: str) -> bool:
    return _says_changed(f"{element.attr('class') or ''} {element.attr('itemprop') or ''} {shown}"[:300])


def _says_changed(text: str) -> bool:
    lowered = text.lower()
    return any(word in lowered for word in _MODIFIED_WORDS)


def _in_address(clues: Clues) -> Found | None:
    iso = in_path(urls.path(clues.url))
    return (iso, "address") if iso else None
