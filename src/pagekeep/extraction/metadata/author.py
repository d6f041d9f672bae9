"""Find who wrote the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from pagekeep import dom
from pagekeep.extraction.input.structured import Json, short_text, type_names
from pagekeep.extraction.metadata import signature
from pagekeep.extraction.metadata.clues import Clues, FieldValue
from pagekeep.extraction.metadata.names import find_names, is_organisation
from pagekeep.extraction.metadata.plain import one_line, squeeze
from pagekeep.text import compile_lazily

_MAX_AUTHORS: Final = 20
_MAX_NESTING: Final = 5
"""Levels of lists and references followed in JSON-LD."""
_MAX_BYLINES: Final = 15
"""Elements marked as bylines that are read."""
_MANY_NAMES: Final = 5
"""With this many different bylines, those away from the heading belong to the pages it lists."""
_MAX_BYLINE_CHARS: Final = 150
_MAX_NAME_CHARS: Final = 60
_MAX_STARTER_LINES: Final = 6
"""Lines near the heading searched for who started a thread."""
_OG_NAMES: Final = ("article:author", "og:article:author", "article:author_name", "og:author", "book:author")
_META_NAMES: Final = (
    "citation_author", "citation_authors", "parsely-author", "sailthru.author", "dc.creator", "dcterms.creator",
    "dc:creator", "dcterms:creator", "dc.author", "author", "byl", "byline", "authors", "article.author",
    "cxenseparse:author", "dcsext.author", "shareaholic:article_author_name", "creator",
)  # fmt: skip
_SCHOLARLY_NAMES: Final = ("citation_author", "dc.creator", "dcterms.creator", "dc:creator", "dcterms:creator")
_MAX_CANDIDATES: Final = 200
"""Elements on each side of the heading that may be a byline."""
_BYLINES: Final = (
    'a[rel~="author"]', 'address[rel~="author"]', 'a[href*="/author/"]', '[class*="byline" i]', '[class*="author" i]',
)  # fmt: skip
_USERNAMES: Final = (
    '[class*="username" i]', '[class*="user-name" i]', '[class*="user_name" i]', '[class*="person-listing"]',
    ".postleft dt", ".poster h4",
)  # fmt: skip
_MARKED_NAME: Final = (
    '[class*="name" i], [itemprop="name"], a[rel~="author"], a[href*="author" i], a[href*="profile" i]'
)
_MAX_MARKED: Final = 3
"""Marked names looked at in one byline; the first decides unless it has no text."""
_MIN_MARKED_CHARS: Final = 3
_MIN_NAME_CHARS: Final = 8
"""Letters of a second name and what joins it to the first."""
_ABOUT: Final = compile_lazily(r"description|bio(?:\b|graph|_)|about", re.IGNORECASE)
"""Classes of a text about the author."""
_OTHER_WORDS: Final = compile_lazily(r"authori[sztn]", re.IGNORECASE)
_BY: Final = compile_lazily(
    r"\A(?:(?:this |the )?(?:words|text|story|article|post|blog|recipe) )?(?:was )?"
    r"(?:(?:written|posted|published|created|authored|contributed|started|asked) )?by:?(?:\s+|\Z)"
    r"|\A(?:authors?|contributors?|autore?s?|autorin|auteurs?|text|texte|texto|testo|words|автор|作者|記者|记者|撰文|著者|文)"
    r"\s*[:\uff1a]\s*"
    r"|\A(?:von|par|por|door|av|af|przez|od|di)(?::\s*|\Z)",
    re.IGNORECASE,
)
_OF: Final = compile_lazily(
    r"\A(?:(?:geschrieben|verfasst|veröffentlicht|publié|écrit|escrito|publicado|scritto|geschreven|skrevet|skriven) )?"
    r"(?:von|par|por|door|av|af|przez|di|от)\s+(?=\w)",
    re.IGNORECASE,
)
"""Words that mean "by", but in a sentence also "of" or "from": only before a person's name."""
_SENTENCE: Final = compile_lazily(r"(?:the )?[a-z]+ (?!on |in |at |am |under )[a-z]+ ")
"""How a sentence goes on after "by"; a name has a capital letter, a login is one word."""
_BARE_LABEL: Final = compile_lazily(
    r"authors?|autor(?:es|in)?|auteurs?|autore|автор|作者|著者|記者|记者", re.IGNORECASE
)
"""A label in its own element; the colon may be in another."""
_BIO: Final = compile_lazily(
    r"(?:about (?:the author|me)\W{0,3})?(?P<name>(?P<first>\S+)(?: \S+){1,2}?)(?: (?P=name)| (?P=first))?,?"
    r" (?:is|was|has|works|writes|ist|est|es|è) ",
    re.IGNORECASE,
)
"""How a text about the author begins."""
_STARTER: Final = compile_lazily(r"(?:thread|topic) starter:?", re.IGNORECASE)
_LABELS: Final = ("written by", "author", "by", "von", "verfasst", "écrit", "escrito", "geschreven", "scritto")
_MAX_GROUP_WORDS: Final = 3
_GROUP: Final = compile_lazily(
    r"\b(?:team|staff|editors|editorial|newsroom|redaktion|rédaction|redacción)\Z", re.IGNORECASE
)
"""How an organisation signs in place of a person."""


def read(clues: Clues, site_name: str | None) -> FieldValue | None:
    """Return the authors' names joined by ", " and their origin; an organisation or a login only when no person is named."""
    organisations = _find_organisations(clues, site_name)
    fallback: FieldValue | None = None
    for raw, origin in _sources(clues):
        names = _remove_organisations(_people(raw), organisations) if raw else []
        if not names:
            continue
        value = (", ".join(names), origin)
        if _are_people(names, organisations):
            return (
                _person_behind_login(clues, organisations) if _is_login(value[0]) and not fallback else None
            ) or value
        if origin == "byline" and fallback:
            return fallback  # The page's own byline names the organisation too: later names are of other pages.
        fallback = fallback or value
    return fallback or _staff_byline(clues)


def _find_organisations(clues: Clues, site_name: str | None) -> frozenset[str]:
    """Return the names of authors that are not people: the site, its publisher, every organisation in the JSON-LD."""
    publisher = clues.item.get("publisher")
    items = [*clues.structured.json_ld, *(value for value in (publisher, clues.item.get("author")) if value)]
    names = [item.get("name") for item in items if isinstance(item, dict) and _is_organisation(item)]
    return frozenset(squeeze(name) for name in (site_name, *names) if isinstance(name, str) and name)


def _is_organisation(item: Json) -> bool:
    return any(name.endswith(("Organization", "Corporation", "WebSite")) for name in type_names(item))


def _remove_organisations(names: list[str], organisations: frozenset[str]) -> list[str]:
    """Return the names without the organisation the people write for, unless it is the only name."""
    return [name for name in names if not (_is_organisation_name(name, organisations) or _GROUP.match(name))] or names


def _is_organisation_name(name: str, organisations: frozenset[str]) -> bool:
    bare = squeeze(name)
    return bare in organisations or bare.removeprefix("the") in organisations


def _are_people(names: list[str], organisations: frozenset[str]) -> bool:
    name = names[0]
    return len(names) > 1 or not (
        _is_organisation_name(name, organisations) or _GROUP.search(name) or is_organisation(name)
    )


def _is_login(name: str) -> bool:
    """Return whether the name is one word; in some scripts whole names are."""
    return " " not in name and name.isascii()


def _person_behind_login(clues: Clues, organisations: frozenset[str]) -> FieldValue | None:
    """Return the person whom the page shows, where structured data has a single word: often the login of an editor."""
    if clues.is_thread:
        return None
    for raw, origin in _shown_near_heading(clues):
        names = _people(raw)
        if _are_all_people(names) and _are_people(names, organisations):
            return ", ".join(names), origin
    return None


def _shown_near_heading(clues: Clues) -> Iterator[tuple[list[str], str]]:
    yield _near_heading(clues), "heading"
    for element in _byline_elements(clues, _BYLINES):
        if clues.is_close(element):
            yield _byline(element), "byline"
    yield signature.find_signature(clues), "heading"


def _staff_byline(clues: Clues) -> FieldValue | None:
    """Return an organisation that signs only as "Staff" or "Our Editors"."""
    data = clues.structured
    for value in (*data.repeated.get("author", ()), *_twitter_labels(data.twitter)):
        name = one_line(value, _MAX_NAME_CHARS)
        if _GROUP.search(name) and len(name.split()) <= _MAX_GROUP_WORDS:
            return name, "meta"
    return None


def _people(raw: Iterable[str]) -> list[str]:
    """Return clean names in order, without duplicates."""
    names: dict[str, str] = {}
    for value in raw:
        for name in find_names(value):
            names.setdefault(squeeze(name), name)
    return list(names.values())[:_MAX_AUTHORS]


def _sources(clues: Clues) -> Iterator[tuple[list[str], str]]:
    """Yield texts that may name the authors, from the most to the least trustworthy source."""
    data = clues.structured
    yield _item_names(clues, clues.item), "json-ld"
    yield _item_names(clues, clues.page_item), "json-ld"
    for name in _OG_NAMES:
        yield list(data.repeated.get(name, ())), "opengraph"
    yield _twitter_labels(data.twitter), "twitter"
    for name in _META_NAMES:
        yield [_given_name_first(value, name) for value in data.repeated.get(name, ())], "meta"
    yield list(data.properties.get("author", ())), "microdata"
    if clues.is_home:
        return  # The bylines of a home page belong to the articles it lists.
    yield _thread_starter(clues), "heading"
    yield from _bylines(clues)
    yield _near_heading(clues), "heading"
    yield signature.find_signature(clues), "heading"


def _twitter_labels(twitter: Mapping[str, str]) -> list[str]:
    """Return the author's name in Twitter's free label fields, where WordPress puts it."""
    for number in ("1", "2"):
        if twitter.get(f"twitter:label{number}", "").lower().startswith(_LABELS):
            return [twitter.get(f"twitter:data{number}", "")]
    return []


def _given_name_first(value: str, name: str) -> str:
    """Turn "Surname, First name" around, as scholarly pages write names, one person per tag."""
    family, comma, given = (part.strip() for part in value.partition(","))
    is_scholarly = name in _SCHOLARLY_NAMES
    # Elsewhere, two single words are more often one person than two.
    is_pair = family.istitle() and given.istitle() and " " not in family + given
    return f"{given} {family}" if comma and "," not in given and (is_scholarly or is_pair) else value


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
    """Yield the texts of elements marked as bylines, then of those marked as user names (a forum's first post)."""
    for selectors in (_BYLINES, _USERNAMES) if clues.is_thread else (_BYLINES,):
        bylines = [(element, _byline(element)) for element in _byline_elements(clues, selectors)]
        names = {squeeze(line[0]) for _, line in bylines if line and find_names(line[0])}
        is_list = len(names) >= _MANY_NAMES and not clues.is_thread
        yield from ((line, "byline") for element, line in bylines if not is_list or clues.is_close(element))


def _byline_elements(clues: Clues, selectors: Sequence[str]) -> Iterator[dom.Element]:
    """Return the page's own elements marked as bylines, closest to the heading first."""
    candidates = clues.order_by_heading(clues.select_marked(selectors), _MAX_CANDIDATES)
    return islice((element for element in candidates if _is_byline(clues, element)), _MAX_BYLINES)


def _is_byline(clues: Clues, element: dom.Element) -> bool:
    # WordPress marks the whole page of a shared blog as "multi-author"; shops have "authorized" dealers.
    names = element.attr("class") or ""
    return (
        element.tag not in ("body", "html", "main", "h1")
        and not _OTHER_WORDS.search(names)
        and not clues.is_foreign(element)
    )


def _byline(element: dom.Element) -> list[str]:
    """Return the names in a byline, else the one marked or linked in it; of a box about the author only that one."""
    text = short_text(element, _MAX_BYLINE_CHARS)
    if not text:
        return []
    is_line = len(text) <= _MAX_BYLINE_CHARS
    for inner in dom.select(element, f"{_MARKED_NAME}, a" if is_line else _MARKED_NAME)[:_MAX_MARKED]:
        marked = short_text(inner, _MAX_BYLINE_CHARS)
        if _MIN_MARKED_CHARS <= len(marked) <= _MAX_NAME_CHARS and (names := find_names(marked)):
            return [text] if is_line and _names_several(text, names[0]) else [marked]
        if marked:
            break
    if bio := _BIO.match(text):
        return [bio["name"]] if signature.is_person(bio["name"]) else []
    is_about = _ABOUT.search(element.attr("class") or "") and not _BY.match(text)
    return [text] if is_line and not is_about else []


def _names_several(text: str, first: str) -> bool:
    """Return whether a byline names several people, the first of whom is marked or linked."""
    if len(text) <= len(first) + _MIN_NAME_CHARS:
        return False
    names = find_names(text)
    return len(names) > 1 and names[0] == first and _are_all_people(names)


def _are_all_people(names: list[str]) -> bool:
    return bool(names) and all(map(signature.is_person, names))


def _thread_starter(clues: Clues) -> list[str]:
    """Return who started the thread, where a forum states it near the heading."""
    lines = [text for text, _ in clues.lines[:_MAX_STARTER_LINES]]
    return next((lines[index + 1 : index + 2] for index, line in enumerate(lines) if _STARTER.fullmatch(line)), [])


def _near_heading(clues: Clues) -> list[str]:
    """Return the line near the heading that starts with "by"; the name may be in the next line."""
    lines = [line for line in clues.lines if any(map(str.isalnum, line[0]))]
    following = [text for text, _ in lines[1:]] + [""]
    signed = [
        name
        for (line, element), next_line in zip(lines, following, strict=False)
        if (name := _signed(line, next_line)) and not clues.is_foreign(element)
    ]
    if not signed or (len(signed) >= _MANY_NAMES and not clues.is_thread):
        return []
    return [signed[0], *signature.find_companions(clues.lines, signed[0])]


def _signed(line: str, next_line: str) -> str:
    """Return what follows "by" in the line or is in the next one; empty when the line is something else."""
    if lead := _BY.match(line):
        rest = line[lead.end() :]
        return "" if _SENTENCE.match(rest) else rest or next_line
    if lead := _OF.match(line):
        return line[lead.end() :] if _are_all_people(find_names(line[lead.end() :])) else ""
    return next_line if _BARE_LABEL.fullmatch(line) and any(map(signature.is_person, find_names(next_line))) else ""
