"""Find who wrote the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pagekeep import dom
from pagekeep.extract.metadata import nearby
from pagekeep.extract.metadata.clues import Clues, is_foreign
from pagekeep.extract.metadata.names import names_in
from pagekeep.extract.metadata.plain import squeezed
from pagekeep.extract.structured import Json, short_text

Found = tuple[str, str]

_MAX_AUTHORS: Final = 20
_MAX_NESTING: Final = 5
_MAX_BYLINES: Final = 15
_MAX_BYLINE: Final = 150
_OG_NAMES: Final = ("article:author", "og:article:author", "article:author_name", "og:author", "book:author")
_META_NAMES: Final = (
    "citation_author", "parsely-author", "sailthru.author", "dc.creator", "dcterms.creator", "dc.author", "author",
    "byl", "byline", "authors", "article.author", "cxenseparse:author", "dcsext.author",
    "shareaholic:article_author_name", "creator",
)  # fmt: skip
_MAX_SEEN: Final = 200
_BYLINES: Final = '[itemprop="author"], [rel~="author"], a[href*="/author/"], [class*="byline" i], [class*="author" i]'
_USERNAMES: Final = '[class*="username" i]'
_MARKED_NAME: Final = (
    '[class*="name" i], [itemprop="name"], a[rel~="author"], a[href*="author" i], a[href*="profile" i]'
)
_OTHER_WORDS: Final = re.compile(r"authori[sztn]", re.IGNORECASE)
_BY: Final = re.compile(
    r"\A(?:(?:words|text|story|article|post|reviewed|recipe) )?(?:(?:written|posted|published|created|authored) )?"
    r"by:?(?:\s+|\Z)"
    r"|\A(?:authors?|von|par|por|door|автор|text|texte):\s*",
    re.IGNORECASE,
)
_LABELS: Final = ("written by", "author", "by", "von", "verfasst", "écrit", "escrito", "geschreven", "scritto")


def read(clues: Clues, site_name: str | None) -> Found | None:
    """The authors' names joined by ", " and where they came from. The site itself counts only when nobody else does."""
    fallback: Found | None = None
    for raw, origin in _sources(clues):
        names = _people(raw)
        if not names:
            continue
        found = (", ".join(names), origin)
        if len(names) > 1 or squeezed(names[0]) != squeezed(site_name or ""):
            return found
        fallback = fallback or found
    return fallback


def _people(raw: Iterable[str]) -> list[str]:
    """Clean names, once each, in order."""
    names: dict[str, str] = {}
    for value in raw:
        for name in names_in(value):
            names.setdefault(squeezed(name), name)
    return list(names.values())[:_MAX_AUTHORS]


def _sources(clues: Clues) -> Iterator[tuple[list[str], str]]:
    """Texts that may name the authors, from the most to the least trustworthy place."""
    given = clues.structured
    yield _item_names(clues, clues.item), "json-ld"
    yield _item_names(clues, clues.page_item), "json-ld"
    for name in _OG_NAMES:
        yield list(given.repeated.get(name, ())), "opengraph"
    yield _labelled(given.twitter), "twitter"
    for name in _META_NAMES:
        yield [_in_order(value, name) for value in given.repeated.get(name, ())], "meta"
    yield list(given.properties.get("author", ())), "microdata"
    if clues.is_home:
        return  # The bylines of a home page are those of the articles it lists.
    yield from _bylines(clues)
    yield _near_heading(clues), "heading"


def _labelled(twitter: Mapping[str, str]) -> list[str]:
    """WordPress puts the author's name into Twitter's free label fields."""
    for number in ("1", "2"):
        if twitter.get(f"twitter:label{number}", "").lower().startswith(_LABELS):
            return [twitter.get(f"twitter:data{number}", "")]
    return []


def _in_order(value: str, name: str) -> str:
    """Scholarly pages write "Family, Given", one person to a tag."""
    family, comma, given = value.partition(",")
    scholarly = name in ("citation_author", "dc.creator", "dcterms.creator")
    return f"{given.strip()} {family.strip()}" if scholarly and comma and "," not in given else value


# --- JSON-LD --------------------------------------------------------------------------------------


def _item_names(clues: Clues, item: Json) -> list[str]:
    for key in ("author", "creator"):
        if names := list(_person_names(item.get(key), clues.by_id, _MAX_NESTING))[:_MAX_AUTHORS]:
            return names
    return []


def _person_names(value: Any, by_id: Mapping[str, Json], depth: int) -> Iterator[str]:
    if depth == 0:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value[:_MAX_AUTHORS]:
            yield from _person_names(item, by_id, depth - 1)
    elif isinstance(value, dict):
        yield from _name_of(value, by_id, depth)


def _name_of(person: Json, by_id: Mapping[str, Json], depth: int) -> Iterator[str]:
    name = person.get("name") or f"{person.get('givenName') or ''} {person.get('familyName') or ''}".strip()
    if name:
        yield from _person_names(name, by_id, depth - 1)
    elif isinstance(identity := person.get("@id"), str) and (known := by_id.get(identity)) and known is not person:
        yield from _person_names(known.get("name"), by_id, depth - 1)


# --- markup ---------------------------------------------------------------------------------------


def _bylines(clues: Clues) -> Iterator[tuple[list[str], str]]:
    """What stands in elements marked as bylines, then in those marked as user names (a forum's first post)."""
    for selector in (_BYLINES, _USERNAMES):
        candidates = dom.select(clues.document, selector)[:_MAX_SEEN]
        own = [element for element in candidates if _is_byline(element)][:_MAX_BYLINES]
        yield from ((_byline(element), "byline") for element in own)


def _is_byline(element: dom.Element) -> bool:
    # WordPress marks the whole page of a shared blog as "multi-author"; shops have "authorized" dealers.
    names = element.attr("class") or ""
    return element.tag not in ("body", "html", "main") and not _OTHER_WORDS.search(names) and not is_foreign(element)


def _byline(element: dom.Element) -> list[str]:
    """The name a byline marks or links, else its whole text; a box of text about the author only when marked."""
    text = short_text(element, _MAX_BYLINE)
    if not text:
        return []
    is_line = len(text) <= _MAX_BYLINE
    inner = dom.first(element, f"{_MARKED_NAME}, a" if is_line else _MARKED_NAME)
    marked = short_text(inner, _MAX_BYLINE) if inner is not None else ""
    if 2 < len(marked) <= 60 and names_in(marked):
        return [marked]
    return [text] if is_line else []


def _near_heading(clues: Clues) -> list[str]:
    """The line by the heading that begins with "by"; the name may stand in the next."""
    lines = nearby.lines(clues.heading)
    following = [text for text, _ in lines[1:]] + [""]
    for (line, element), next_line in zip(lines, following, strict=False):
        lead = _BY.match(line)
        if lead is not None and not is_foreign(element):
            return [line[lead.end() :] or next_line]
    return []
