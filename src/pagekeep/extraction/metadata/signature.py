"""Recognise an author who is signed but not announced: a name that stands beside the date under the heading."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.extraction.metadata import nearby
from pagekeep.extraction.metadata.clues import Clues
from pagekeep.extraction.metadata.dates import to_iso
from pagekeep.extraction.metadata.names import names_in

_MAX_LINES: Final = 25
_MAX_NAME: Final = 60
_MAX_PARAGRAPHS: Final = 200
_MAX_PARAGRAPH: Final = 2_000
_PERSON: Final = re.compile(
    r"[^\W\d_a-z][\w'\u2019.-]*(?:\s(?:(?:d|l)['\u2019]|de|da|di|du|la|le|van|von|der|den|del|al|el|bin)){0,2}"
    r"(?:\s[^\W\d_a-z][\w'\u2019.-]*){1,2}"
)
_READING_TIME: Final = re.compile(r"\d\s?(?:min|minutes|minuten|minutos|minuti|мин|分)", re.IGNORECASE)
_ROLE: Final = re.compile(
    r"\b(?:writer|editor|author|founder|manager|director|engineer|consultant|head|lead|ceo|cto)\b", re.IGNORECASE
)
_PERSON_LINK: Final = re.compile(
    r"/(?:authors?|autor(?:es)?|auteurs?|team|people|staff|writers?|contributors?|profiles?|members?|users?|u|bio)/"
    r"|linkedin\.com/in/|/@\w|[?&]author",
    re.IGNORECASE,
)
_SECTION_LINK: Final = re.compile(
    r"/(?:category|categories|tags?|topics?|sections?|kategorie|categoria)/|[?&_]cat", re.IGNORECASE
)


def names(clues: Clues) -> list[str]:
    """The name by the heading that is linked to a person or stands beside the date; at most one."""
    lines = [line for line in clues.lines[:_MAX_LINES] if _says_something(line[0])]
    for place, (line, element) in enumerate(lines):
        name = _signed(line)
        if name is None or _is_section(element):
            continue
        if (
            name != line or _PERSON_LINK.search(_address(element)) or _is_beside_date(lines, place)
        ) and not clues.is_foreign(element):
            return [name] if _is_always_written_large(clues, name) else []
    return []


def is_person(name: str) -> bool:
    """Whether the text is written as the names of people are: two to five words, the outer ones large."""
    return len(name) <= _MAX_NAME and _PERSON.fullmatch(name) is not None and names_in(name) == [name]


def _says_something(line: str) -> bool:
    return any(map(str.isalnum, line))


def _signed(line: str) -> str | None:
    """The name a line consists of, or begins with before "| role | date"."""
    name, bar, rest = (part.strip() for part in line.partition("|"))
    return name if is_person(name) and (not bar or to_iso(rest)) else None


def _is_beside_date(lines: list[nearby.Line], place: int) -> bool:
    behind = [text for text, _ in lines[place + 1 : place + 3]]
    if behind and (behind[0] in ("in", "on") or _ROLE.search(behind[0])):
        return True
    if any("author" in (element.attr("class") or "").lower() for _, element in lines[place + 1 : place + 2]):
        return True
    ahead = [lines[place - 1][0]] if place else []
    return any(_tells_time(text) for text in (*behind[:1], *ahead))


def _tells_time(text: str) -> bool:
    return to_iso(text) is not None or _READING_TIME.search(text) is not None


def _is_section(element: dom.Element) -> bool:
    return bool(_SECTION_LINK.search(_address(element)))


def _address(element: dom.Element) -> str:
    """Where the element or the one around it links to; empty for nowhere."""
    link = element if element.tag == "a" else element.parent
    return (link.attr("href") or "")[:300] if isinstance(link, dom.Element) and link.tag == "a" else ""


def _is_always_written_large(clues: Clues, name: str) -> bool:
    """Whether the page never uses the name's words in lower case: "Machine Learning" is a subject, "Elliot Raba" none."""
    text = "\n".join(
        dom.text_of(paragraph)[:_MAX_PARAGRAPH] for paragraph in dom.select(clues.document, "p")[:_MAX_PARAGRAPHS]
    )
    lowered = [word.lower() for word in name.split() if word[0].isupper()]
    return not any(re.search(rf"\s{re.escape(word)}[\s,.;:]", text) for word in lowered)
