"""Find who wrote the page, and split bylines into the names of people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.structured import Json, one_line, short_text, split_words, squeeze, type_names
from pagekeep.extraction.metadata.clues import Clues, FieldValue, Line
from pagekeep.extraction.metadata.dates import to_iso
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
    yield find_signature(clues), "heading"


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
    yield find_signature(clues), "heading"


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
        return [bio["name"]] if is_person(bio["name"]) else []
    is_about = _ABOUT.search(element.attr("class") or "") and not _BY.match(text)
    return [text] if is_line and not is_about else []


def _names_several(text: str, first: str) -> bool:
    """Return whether a byline names several people, the first of whom is marked or linked."""
    if len(text) <= len(first) + _MIN_NAME_CHARS:
        return False
    names = find_names(text)
    return len(names) > 1 and names[0] == first and _are_all_people(names)


def _are_all_people(names: list[str]) -> bool:
    return bool(names) and all(map(is_person, names))


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
    return [signed[0], *find_companions(clues.lines, signed[0])]


def _signed(line: str, next_line: str) -> str:
    """Return what follows "by" in the line or is in the next one; empty when the line is something else."""
    if lead := _BY.match(line):
        rest = line[lead.end() :]
        return "" if _SENTENCE.match(rest) else rest or next_line
    if lead := _OF.match(line):
        return line[lead.end() :] if _are_all_people(find_names(line[lead.end() :])) else ""
    return next_line if _BARE_LABEL.fullmatch(line) and any(map(is_person, find_names(next_line))) else ""


_MAX_LINES: Final = 25
"""Lines near the heading that are searched for a name."""
_MAX_HEADING_CHARS: Final = 300
_MAX_HREF_CHARS: Final = 300
# How much of the page's text is searched for the name's words in lower case.
_MAX_PARAGRAPHS: Final = 200
_MAX_PARAGRAPH_CHARS: Final = 2_000
_PERSON: Final = compile_lazily(
    r"[^\W\d_a-z][\w'\u2019.-]*(?:\s(?:(?:d|l)['\u2019]|de|da|di|du|la|le|van|von|der|den|del|al|el|bin)){0,2}"
    r"(?:\s[^\W\d_a-z][\w'\u2019.-]*){1,2}"
)
_JOINER: Final = compile_lazily(r",|,? ?(?:&|\+|and|und|et|y|e|och|og|en|и)", re.IGNORECASE)
_READING_TIME: Final = compile_lazily(r"\d\s?(?:min|minutes|minuten|minutos|minuti|мин|分)", re.IGNORECASE)
_ROLE: Final = compile_lazily(
    r"\b(?:writer|editor|author|founder|manager|director|engineer|consultant|head|lead|ceo|cto)\b", re.IGNORECASE
)
_PERSON_LINK: Final = compile_lazily(
    r"/(?:authors?|autor(?:es|in|en)?|auteurs?|team|people|persons?|staff|writers?|contributors?|profiles?|members?|users?|u|bio|by|about"
    r"|experts?|columnists?|journalists?|reporters?|redaktion|redakteure?|bloggers?|experten)/"
    r"|linkedin\.com/in/|/@\w|[?&]author",
    re.IGNORECASE,
)
_SECTION_LINK: Final = compile_lazily(
    r"/(?:category|categories|tags?|topics?|sections?|kategorie|categoria)/|[?&_]cat", re.IGNORECASE
)


def find_signature(clues: Clues) -> list[str]:
    """Return the name near the heading that links to a person or is next to the date, and those joined to it."""
    lines = [line for line in clues.lines[:_MAX_LINES] if any(map(str.isalnum, line[0]))]
    for index, (line, element) in enumerate(lines):
        name = _name_in_line(line)
        if name is None:
            if _is_linked_login(line, element) and _is_next_to_date(lines, index) and not clues.is_foreign(element):
                return [line]
            continue
        if _is_section(element):
            continue
        if (name != line or _links_to_person(element) or _is_next_to_date(lines, index)) and not clues.is_foreign(
            element
        ):
            is_signed = _is_always_capitalised(clues, name) and not _is_in_heading(clues, name)
            return [name, *find_companions(clues.lines, line)] if is_signed else []
    return []


def find_companions(lines: list[Line], first: str) -> list[str]:
    """Return the people in the lines after the first one, each after a comma or "and"."""
    texts = [text for text, _ in lines]
    index = texts.index(first) if first in texts else len(texts)
    names: list[str] = []
    while index + 2 < len(texts) and _JOINER.fullmatch(texts[index + 1]) and is_person(texts[index + 2]):
        names.append(texts[index + 2])
        index += 2
    return names


def _is_linked_login(line: str, element: dom.Element) -> bool:
    """Return whether the line is one word that links to the page of a user of that name."""
    return (
        " " not in line
        and _address(element).rstrip("/").lower().endswith(f"/{line.lower()}")
        and _links_to_person(element)
    )


def is_person(name: str) -> bool:
    """Return whether the text looks like a person's name: two to five words, the first and last capitalised."""
    return len(name) <= _MAX_NAME_CHARS and _PERSON.fullmatch(name) is not None and find_names(name) == [name]


def _name_in_line(line: str) -> str | None:
    """Return the name that is the whole line, or its start before "| role | date"."""
    name, bar, rest = (part.strip() for part in line.partition("|"))
    return name if is_person(name) and (not bar or to_iso(rest)) else None


def _is_next_to_date(lines: list[Line], index: int) -> bool:
    before = [text for text, _ in lines[max(index - 1, 0) : index]]
    after = [text for text, _ in lines[index + 1 : index + 2]]
    if after and (after[0] in ("in", "on") or _ROLE.search(after[0])):
        return True
    if any("author" in (element.attr("class") or "").lower() for _, element in lines[index + 1 : index + 2]):
        return True
    return any(to_iso(text) is not None or _READING_TIME.search(text) is not None for text in (*after, *before))


def _links_to_person(element: dom.Element) -> bool:
    return _PERSON_LINK.search(_address(element)) is not None


def _is_section(element: dom.Element) -> bool:
    """Return whether the element links to a section of the site: `/news/name`, not `/name` or `/authors/name`."""
    address = _address(element)
    if not address or _links_to_person(element):
        return False
    return bool(_SECTION_LINK.search(address)) or len(urls.path(address).strip("/").split("/")) > 1


def _address(element: dom.Element) -> str:
    """Return the link target of the element or its parent; empty without a link."""
    link = element if element.tag == "a" else element.parent
    return (link.attr("href") or "")[:_MAX_HREF_CHARS] if isinstance(link, dom.Element) and link.tag == "a" else ""


def _is_in_heading(clues: Clues, name: str) -> bool:
    """Return whether the heading has all words of the name: it is what the page is about."""
    heading = short_text(clues.heading, _MAX_HEADING_CHARS) if clues.heading is not None else ""
    return set(split_words(name)) <= set(split_words(heading))


def _is_always_capitalised(clues: Clues, name: str) -> bool:
    """Return whether the page never has the name's words in lower case: else it is a subject ("Machine Learning")."""
    text = "\n".join(
        dom.text_of(paragraph)[:_MAX_PARAGRAPH_CHARS] for paragraph in dom.select(clues.document, "p")[:_MAX_PARAGRAPHS]
    )
    lowered = [word.lower() for word in name.split() if word[0].isupper()]
    return not any(re.search(rf"\s{re.escape(word)}[\s,.;:]", text) for word in lowered)


_MAX_LINE_CHARS: Final = 300
_MIN_PERSON_CHARS: Final = 2
_MAX_ORGANISATION_CHARS: Final = 120
_MAX_WORDS: Final = 6
"""Words in a name; more are a sentence."""
_MAX_ORGANISATION_WORDS: Final = 14
"""Words in the name of an organisation, which is not split at "and" and commas."""
_MAX_INITIALS: Final = 2
"""Dots in a single word; more are a host name."""

_VERBS: Final = (
    r"written|posted|published|created|reported|authored|contributed|shared|submitted|compiled"
    r"|geschrieben|verfasst|veröffentlicht|gepostet|eingestellt|erstellt|écrit|publié|rédigé|(?:propos )?recueillis?"
    r"|escrito|publicado|scritto|pubblicato|geschreven|geplaatst|skrevet|skriven"
)
_LEAD: Final = compile_lazily(
    r"\A\W*(?:(?:this |a |guest )?(?:article|story|post|words|recipe|text|content|blog|review)\s+(?:was\s+)?)?"
    rf"(?:(?:{_VERBS})\s+)?"
    r"(?:by|authors?|writer|von|par|por|di|door|av|af|autore?s?|auteurs?|автор|作者|文)(?![\w.'-])"
    r"\s*[:\uff1a\u2014|-]?\s*|\A[\s:\u2014|-]+",
    re.IGNORECASE,
)
_LABEL: Final = compile_lazily(
    r"(?:\A\W*|\s)(?:authors?|words|text|story|report|interview|autor(?:es|a|in|en)?|auteure?s?|autor[ei]|texte|texto|testo|tekst|verfasser(?:in)?"
    r"|redaktion|författare|forfatter|skribent|szerző|yazar|yazan|авторы?|текст"
    r"|作者|記者|记者|撰文|文|著者|執筆|ライター|글|기자|بقلم)"
    r"(?:\s*(?:[&+/,]|and|und|et|y|e|och|og|en)\s*[^\W\d_]+){0,2}\s*[:\uff1a\u25cf]\s*",
    re.IGNORECASE,
)
"""What is before a name and a colon: "Text and photos:"."""
_NEXT_LABEL: Final = compile_lazily(r"\s[^\W\d_]+:(?:\s.*)?\Z")
_ASIDE: Final = compile_lazily(r"\([^()]{0,80}\)|\[[^\[\]]{0,80}\]|<[^<>]{0,80}>|(?<!\S)@\w+|\S+@\S+\.\w+")
"""Remarks in brackets, handles and e-mail addresses."""
_SITE_MAKER: Final = compile_lazily(
    r"\b(?:developed|designed|powered|hosted|maintained|webdesign|design|theme) by\b", re.IGNORECASE
)
# A byline often continues with what follows it on the page: a date, a role, a reading time.
_TAIL: Final = compile_lazily(
    r"(?:\A|\s+)(?:on\s|under\b|(?:am|le|el|il|op|em|den|um)\s+\d|(?:last\s)?(?:updated?|published|posted|modified|edited|reviewed)\b"
    r"|read more\b|staff writer\b|senior\b|contributing\b|\d{1,2}\s?(?:min|hours?|days?|years?)\b"
    r"|(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,?\s+)?"
    r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}\.?\s+\d"
    r"|\d{1,2}[./\s-]{1,2}\w{2,9}[./\s-]{1,2}\d{2,4}|\d{4}\b).*\Z",
    re.IGNORECASE | re.DOTALL,
)
_EMPLOYER: Final = compile_lazily(
    r"\A((?:(?!(?i:the)\s)[^\W\d_a-z]\S*\s){1,2}[^\W\d_a-z]\S*)\s(?i:for|für|pour|para|per|voor)\s.+\Z"
    r"|\A([^\W\d_a-z]\S*[^\W\d_A-Z]\S*\s[^\W\d_a-z]\S*[^\W\d_A-Z]\S*)(?:\s[^\W\d_a-z]{2,}){3,}\Z"
)
"""A person and whom the person writes for: "Jane Doe for The Mill Post", "Jane Doe NEW MILL POST"."""
_CONTRIBUTORS: Final = compile_lazily(
    r"(?:medically |clinically |expert |scientifically )?(?:reviewed|edited|fact.?checked|translated|illustrated|photos?"
    r"|photography|photographed|approved|verified|updated)\s+by\b.*\Z"
    r"|(?:\A|[\s,;|/&])(?:fotos?|photos?|bild(?:er)?|illustration(?:en|s)?|video|grafik|übersetzung|translation|traducción|traduction)\s*[:\uff1a].*\Z",
    re.IGNORECASE | re.DOTALL,
)
"""People who did something other than write."""
_SEGMENT: Final = compile_lazily(r"\s*[|\u2022\u00b7\u00bb]\s*|\s[\u2013\u2014-]\s")
"""What follows is a role, a place or an employer."""
_SPLIT: Final = compile_lazily(
    r"\s*(?:[,;\u3001&+]|\s/\s|(?<![\w.])(?:and|und|et|och|og|with|y|и|by|via)(?![\w.]))\s*",
    re.IGNORECASE,
)
_AND_MORE: Final = compile_lazily(r"\A[^,;&]+?\s(?:and|und|et|och|og|y|и)\s+([^,;&]+)\Z", re.IGNORECASE)
_FOREIGN_SIGNS: Final = compile_lazily(
    r"[$€£¥%?]|!\s|://|\bwww\.|\.(?:com|org|net|html?|php)\b|\S@\S|[{}<>\\=]|:\s", re.IGNORECASE
)
_PLACEHOLDERS: Final = frozenset(
    "admin administrator webmaster root user users guest anonymous unknown none null undefined editor editors author"
    " authors staff default wordpress wpadmin superuser test owner contributor contributors writer writers team you me"
    " follow share subscribe by the publisher anonym anonyme anónimo anônimo anonimo аноним 匿名"
    " text texto texte testo beitrag datum date fecha data foto fotos photo photos video"
    " montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag"
    " lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes sábado domingo"
    " lunedì martedì mercoledì giovedì venerdì sabato domenica segunda terça quarta quinta sexta"
    " maandag dinsdag woensdag donderdag vrijdag zaterdag zondag måndag tisdag onsdag torsdag fredag lördag söndag"
    " poniedziałek wtorek środa czwartek piątek sobota niedziela"
    " понедельник вторник среда"
    " четверг пятница суббота"
    " воскресенье"
    " الاثنين الثلاثاء الأربعاء"
    " الخميس الجمعة السبت الأحد".split()
)
"""Single words that are not names: accounts, labels, days of the week."""
_HOME: Final = frozenset(("home", "startseite", "accueil", "inicio", "início"))
_ADMIN: Final = compile_lazily(r"\w{0,12}admin\d{0,4}", re.IGNORECASE)
_PARTICLES: Final = frozenset("de da di du la le van von der den del dos bin ibn al el ten ter zu zur".split())
_LOWER_STARTS: Final = _PARTICLES | {"the"}
"""Lower-case words a name may start with; a longer text that starts in lower case is a sentence."""
_NOT_A_NAME: Final = compile_lazily(
    r"\A(?:skip|home|shop|privacy|menu|hi|hello|using|authori[sz]ed|search|live|about|follow|view|read|more|see|all|meet"
    r"|über|à propos|sobre|acerca|beitrag\w*"
    r"|posted|published|updated|last|share|subscribe|by|log|sign|click|get|topic|original|post"
    r"|veröffentlicht|aktualisiert|erstellt|publiée?|publicado|actualizado|pubblicato|aggiornato|gepubliceerd|opublikowano"
    r"|teilen|partager|compartir|compartilhar|condividi|delen|dela|udostępnij|megoszt\w*|поделиться"
    r"|staff (?:writers?|reporters?)|mon(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|fri(?:day)?|sat(?:urday)?"
    r"|sun(?:day)?)\b"
    r"|\b(?:reporter|correspondent|writer|editors?|journalist|columnist|photographer|producer|co-?founder|founder|ceo|cto"
    r"|manager|director|professor|specialist|coordinator|consultant|president|strategist|minutes?|mins?|read|posts?"
    r"|articles?|profile|bio|biography|comments?|head of|experts?|educators?|licensed|moderator|emails?|fact.?checked"
    r"|medically|about the|the author|topic|joined|messages|starter)\b",
    re.IGNORECASE,
)
_LOGIN: Final = compile_lazily(r"\d+[a-z][\w-]{3,}", re.IGNORECASE)
_DEGREE: Final = compile_lazily(
    r"(?:ph\.?\s?d|m\.?d|j\.?d|r\.?n|r\.?d\.?n?|m\.?a|m\.?s|m\.?sc|b\.?a|b\.?s|b\.?sc|mba|mph|mpa|mfa|m\.?ed|ldn|cpa|cfa"
    r"|cfp|esq|dds|dmd|dvm|d\.?o|lmft|lcsw|psy\.?d|cscs|cpt|pt|dpt|faap|facp|frcp|np|aprn|bsn|msn|pharm\.?d|ii|iii|iv|jr"
    r"|sr|inc|llc|ltd|gmbh)\.?",
    re.IGNORECASE,
)
_ORGANISATION_WORDS: Final = frozenset(
    "center centre centers centres centro centrum zentrum institut institute institutes instituto istituto ministry ministère"
    " ministerio ministero department departement département departamento dipartimento university université universität"
    " università universiteit universidad universidade college academy akademie association asociación associação associazione"
    " society foundation fundación fondation fondazione council committee commission bureau office agency agentur authority"
    " administration hospital clinic klinik klinikum museum library alliance coalition federation verlag sekretariat"
    " secretariat gmbh llc ltd inc".split()
)
_ORGANISATION_ENDINGS: Final = (
    "ministerium", "verband", "verein", "gesellschaft", "stiftung", "behörde", "amt", "-verlag", "e.v.", "e.v",
)  # fmt: skip
_LEGAL_FORM: Final = compile_lazily(r"\b(?:gmbh|llc|ltd|inc|e\.\s?v)\b\.?(?=\s*,)", re.IGNORECASE)


def find_names(text: str) -> list[str]:
    """Return the names in a byline, in order."""
    line = one_line(text, _MAX_LINE_CHARS)
    if not line or (" " not in line and _FOREIGN_SIGNS.search(line)):
        return []
    segments = _SEGMENT.split(_unwrap(line))
    if segments[0].lower() in _HOME:
        return []  # a trail of links
    found = (_names_in(segment) for segment in segments)
    return next((names for names in found if names), [])


def _unwrap(line: str) -> str:
    """Return the byline without labels, remarks and people who did not write; empty when it is about the site's maker."""
    # Most bylines are a name and nothing else: look before searching.
    if any(sign in line for sign in "([<@"):
        line = _ASIDE.sub(" ", line)
    has_colon = any(sign in line for sign in ":\uff1a\u25cf")
    if has_colon and (label := _LABEL.search(line)):
        line = _NEXT_LABEL.sub("", _CONTRIBUTORS.sub("", line[label.end() :]))
    if has_colon or "by" in line.lower():
        line = "" if _SITE_MAKER.search(line) else _CONTRIBUTORS.sub("", line)
    if has_colon and (label := _NEXT_LABEL.search(line)) and " " in line[: label.start()].strip():
        line = line[: label.start()]  # "Jane Doe Last change: ..."
    while (lead := _LEAD.match(line)) and lead.end():
        line = line[lead.end() :]
    return line


def is_organisation(name: str) -> bool:
    """Return whether the name has a word that organisations have in theirs."""
    words = (word.strip(".,") for word in name.lower().split())
    return any(word in _ORGANISATION_WORDS or word.endswith(_ORGANISATION_ENDINGS) for word in words)


def _names_in(segment: str) -> list[str]:
    parts = _SPLIT.split(segment)
    if is_organisation(parts[0]) or _is_continued(segment):
        return _whole_organisation(segment)
    names = [name for part in parts if not is_organisation(part) and _is_name(name := _trim(part))]
    people = [name for name in names if " " in name]
    # "Jane Doe, dpa": the agency, the place or the channel in one word of one case is not a second author.
    return [name for name in names if " " in name or not (people and (name.isupper() or name.islower()))]


def _is_continued(segment: str) -> bool:
    """Return whether "and" continues one name ("Justice and public order") rather than adding another."""
    match = _AND_MORE.search(segment)
    words = match[1].split() if match else []
    return len(words) > 1 and words[0] not in _LOWER_STARTS and all(word.isalpha() and word.islower() for word in words)


def _whole_organisation(segment: str) -> list[str]:
    """Return the name of an organisation, which may have commas and "and" in it."""
    end = _LEGAL_FORM.search(segment)
    name = _trim(segment[: end.end()] if end else segment)
    is_short = len(name) <= _MAX_ORGANISATION_CHARS and len(name.split()) <= _MAX_ORGANISATION_WORDS
    return [name] if is_short and name and not _FOREIGN_SIGNS.search(name) else []


def _trim(part: str) -> str:
    part = _TAIL.sub("", part).strip(" .:*\u2013\u2014\"'-\u201c\u201d\u25cf")
    if (employer := _EMPLOYER.match(part)) and not is_organisation(part):
        part = employer[1] or employer[2]
    return " ".join(part.split())


def _is_name(part: str) -> bool:
    if not _MIN_PERSON_CHARS <= len(part) <= _MAX_NAME_CHARS or part.lower() in _PLACEHOLDERS or part[0] in "@#":
        return False
    words = part.split()
    if part[0].isdigit() and (len(words) > 1 or not _LOGIN.fullmatch(part)):
        return False
    if len(words) > _MAX_WORDS or (len(words) > 2 and part[0].islower() and words[0] not in _LOWER_STARTS):
        return False
    if not any(letter.isalpha() for letter in part) or (part.count(".") > _MAX_INITIALS and len(words) == 1):
        return False
    return not (
        _FOREIGN_SIGNS.search(part) or _NOT_A_NAME.search(part) or _DEGREE.fullmatch(part) or _ADMIN.fullmatch(part)
    )
