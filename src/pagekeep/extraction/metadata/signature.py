"""Recognise an author who is named without "by": a name next to the date below the heading."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.structured import short_text
from pagekeep.extraction.metadata import nearby
from pagekeep.extraction.metadata.clues import Clues
from pagekeep.extraction.metadata.dates import to_iso
from pagekeep.extraction.metadata.names import find_names
from pagekeep.extraction.metadata.plain import split_words
from pagekeep.text import compile_lazily

_MAX_LINES: Final = 25
"""Lines near the heading that are searched for a name."""
_MAX_NAME_CHARS: Final = 60
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
    lines = [line for line in clues.lines[:_MAX_LINES] if _has_letters(line[0])]
    for index, (line, element) in enumerate(lines):
        name = _name_in_line(line)
        if name is None:
            if _is_login(line, element) and _is_next_to_date(lines, index) and not clues.is_foreign(element):
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


def find_companions(lines: list[nearby.Line], first: str) -> list[str]:
    """Return the people in the lines after the first one, each after a comma or "and"."""
    texts = [text for text, _ in lines]
    index = texts.index(first) if first in texts else len(texts)
    names: list[str] = []
    while index + 2 < len(texts) and _JOINER.fullmatch(texts[index + 1]) and is_person(texts[index + 2]):
        names.append(texts[index + 2])
        index += 2
    return names


def _is_login(line: str, element: dom.Element) -> bool:
    """Return whether the line is one word that links to the page of a user of that name."""
    return (
        " " not in line
        and _address(element).rstrip("/").lower().endswith(f"/{line.lower()}")
        and _links_to_person(element)
    )


def is_person(name: str) -> bool:
    """Return whether the text looks like a person's name: two to five words, the first and last capitalised."""
    return len(name) <= _MAX_NAME_CHARS and _PERSON.fullmatch(name) is not None and find_names(name) == [name]


def _has_letters(line: str) -> bool:
    return any(map(str.isalnum, line))


def _name_in_line(line: str) -> str | None:
    """Return the name that is the whole line, or its start before "| role | date"."""
    name, bar, rest = (part.strip() for part in line.partition("|"))
    return name if is_person(name) and (not bar or to_iso(rest)) else None


def _is_next_to_date(lines: list[nearby.Line], index: int) -> bool:
    before = [text for text, _ in lines[max(index - 1, 0) : index]]
    after = [text for text, _ in lines[index + 1 : index + 2]]
    if after and (after[0] in ("in", "on") or _ROLE.search(after[0])):
        return True
    if any("author" in (element.attr("class") or "").lower() for _, element in lines[index + 1 : index + 2]):
        return True
    return any(_is_date_or_duration(text) for text in (*after, *before))


def _is_date_or_duration(text: str) -> bool:
    return to_iso(text) is not None or _READING_TIME.search(text) is not None


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
