"""Find who wrote the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from pagekeep import dom
from pagekeep.extraction.input.structured import Json, short_text, type_names
from pagekeep.extraction.metadata import signature
from pagekeep.extraction.metadata.clues import Clues
from pagekeep.extraction.metadata.names import names_in
from pagekeep.extraction.metadata.plain import one_line, squeezed

Found = tuple[str, str]

_MAX_AUTHORS: Final = 20
_MAX_NESTING: Final = 5
_MAX_BYLINES: Final = 15
_MANY_NAMES: Final = 5
"""Different bylines from which those away from the heading are of the pages it lists."""
_MAX_BYLINE: Final = 150
_OG_NAMES: Final = ("article:author", "og:article:author", "article:author_name", "og:author", "book:author")
_META_NAMES: Final = (
    "citation_author", "citation_authors", "parsely-author", "sailthru.author", "dc.creator", "dcterms.creator",
    "dc.author", "author", "byl", "byline", "authors", "article.author", "cxenseparse:author", "dcsext.author",
    "shareaholic:article_author_name", "creator",
)  # fmt: skip
_MAX_SEEN: Final = 200
_BYLINES: Final = 'a[rel~="author"], a[href*="/author/"], [class*="byline" i], [class*="author" i]'
_USERNAMES: Final = '[class*="username" i], [class*="person-listing"], .postleft dt, .poster h4'
_MARKED_NAME: Final = (
    '[class*="name" i], [itemprop="name"], a[rel~="author"], a[href*="author" i], a[href*="profile" i]'
)
_MAX_MARKED: Final = 3
_ABOUT: Final = re.compile(r"description|bio(?:\b|graph|_)|about", re.IGNORECASE)
"""Classes of what is said about an author."""
_OTHER_WORDS: Final = re.compile(r"authori[sztn]", re.IGNORECASE)
_BY: Final = re.compile(
    r"\A(?:(?:words|text|story|article|post|recipe) )?(?:(?:written|posted|published|created|authored|started|asked) )?"
    r"by:?(?:\s+|\Z)"
    r"|\A(?:authors?|autore?s?|autorin|auteurs?|text|texte|texto|testo|words|автор|作者|記者|記者|撰文|文)\s*[:\uff1a]\s*"
    r"|\A(?:von|par|por|door|av|af|przez|od|di)(?::\s*|\s+(?=[^\W\d_a-z]\w+\s[^\W\d_a-z])|\Z)",
    re.IGNORECASE,
)
_STARTER: Final = re.compile(r"(?:thread|topic) starter:?", re.IGNORECASE)
_LABELS: Final = ("written by", "author", "by", "von", "verfasst", "écrit", "escrito", "geschreven", "scritto")
_MAX_GROUP_WORDS: Final = 3
_GROUP: Final = re.compile(
    r"\b(?:team|staff|editors|editorial|newsroom|redaktion|rédaction|redacción)\Z", re.IGNORECASE
)
"""How a house names itself where a person could stand."""


def read(clues: Clues, site_name: str | None) -> Found | None:
    """The authors' names joined by ", " and where they came from; a house or a login only when no person is named."""
    houses = _houses(clues, site_name)
    fallback: Found | None = None
    for raw, origin in _sources(clues):
        names = _without(_people(raw), houses) if raw else []
        if not names:
            continue
        found = (", ".join(names), origin)
        if _are_people(names, houses):
            return found if " " in found[0] or fallback else _behind_login(clues) or found
        if origin == "byline" and fallback:
            return fallback  # The page's own byline names the house too: the names further on are of other pages.
        fallback = fallback or found
    return fallback or _unnamed(clues)


def _houses(clues: Clues, site_name: str | None) -> frozenset[str]:
    """What may stand as author but is no person: the site, its publisher, every organisation of the JSON-LD."""
    publisher = clues.item.get("publisher")
    items = [*clues.structured.json_ld, *(value for value in (publisher, clues.item.get("author")) if value)]
    named = [item.get("name") for item in items if isinstance(item, dict) and _is_organisation(item)]
    return frozenset(squeezed(name) for name in (site_name, *named) if isinstance(name, str) and name)


def _is_organisation(item: Json) -> bool:
    return any(name.endswith(("Organization", "Corporation", "WebSite")) for name in type_names(item))


def _without(names: list[str], houses: frozenset[str]) -> list[str]:
    """The names less the house they write for, unless it stands alone."""
    return [name for name in names if not _names_house(name, houses)] or names


def _names_house(name: str, houses: frozenset[str]) -> bool:
    bare = squeezed(name)
    return bare in houses or bare.removeprefix("the") in houses


def _are_people(names: list[str], houses: frozenset[str]) -> bool:
    return len(names) > 1 or not (_names_house(names[0], houses) or _GROUP.search(names[0]))


def _behind_login(clues: Clues) -> Found | None:
    """The person a visible "by" line names, where machines are told a single word: often who typed the page in."""
    names = _people(_near_heading(clues))
    return (", ".join(names), "heading") if names and all(" " in name for name in names) else None


def _unnamed(clues: Clues) -> Found | None:
    """A house that signs as no more than "Staff" or "Our Editors"."""
    given = clues.structured
    for value in (*given.repeated.get("author", ()), *_labelled(given.twitter)):
        name = one_line(value, 60)
        if _GROUP.search(name) and len(name.split()) <= _MAX_GROUP_WORDS:
            return name, "meta"
    return None


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
    yield _starter(clues), "heading"
    yield from _bylines(clues)
    yield _near_heading(clues), "heading"
    yield signature.names(clues), "heading"


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
    for selector in (_BYLINES, _USERNAMES) if clues.is_thread else (_BYLINES,):
        candidates = clues.from_heading(dom.select(clues.document, f"h1, {selector}"), _MAX_SEEN)
        own = islice((element for element in candidates if _is_byline(clues, element)), _MAX_BYLINES)
        found = [(element, _byline(element)) for element in own]
        signed = {squeezed(line[0]) for _, line in found if line and names_in(line[0])}
        listed = len(signed) >= _MANY_NAMES and not clues.is_thread
        yield from ((line, "byline") for element, line in found if not listed or clues.is_close(element))


def _is_byline(clues: Clues, element: dom.Element) -> bool:
    # WordPress marks the whole page of a shared blog as "multi-author"; shops have "authorized" dealers.
    names = element.attr("class") or ""
    return (
        element.tag not in ("body", "html", "main", "h1")
        and not _OTHER_WORDS.search(names)
        and not clues.is_foreign(element)
    )


def _byline(element: dom.Element) -> list[str]:
    """The name a byline marks or links, else its whole text; a box of text about the author only when marked."""
    text = short_text(element, _MAX_BYLINE)
    if not text:
        return []
    is_line = len(text) <= _MAX_BYLINE
    for inner in dom.select(element, f"{_MARKED_NAME}, a" if is_line else _MARKED_NAME)[:_MAX_MARKED]:
        marked = short_text(inner, _MAX_BYLINE)
        if 2 < len(marked) <= 60 and names_in(marked):
            return [marked]
        if marked:
            break
    return [text] if is_line and not _ABOUT.search(element.attr("class") or "") else []


def _starter(clues: Clues) -> list[str]:
    """Who began a thread, where a forum says so beside the heading."""
    lines = [text for text, _ in clues.lines[:6]]
    return next((lines[place + 1 : place + 2] for place, line in enumerate(lines) if _STARTER.fullmatch(line)), [])


def _near_heading(clues: Clues) -> list[str]:
    """The line by the heading that begins with "by"; the name may stand in the next."""
    following = [text for text, _ in clues.lines[1:]] + [""]
    signed = [
        line[lead.end() :] or next_line
        for (line, element), next_line in zip(clues.lines, following, strict=False)
        if (lead := _BY.match(line)) and not clues.is_foreign(element)
    ]
    return signed[:1] if len(signed) < _MANY_NAMES or clues.is_thread else []
