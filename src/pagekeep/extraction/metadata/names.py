"""Find the names of people in a byline, without roles, degrees, dates, URLs or the word "by"."""

from __future__ import annotations

import re
from typing import Final

from pagekeep.extraction.metadata.plain import one_line

_MAX_BYLINE_CHARS: Final = 300
_MIN_NAME_CHARS: Final = 2
_MAX_NAME_CHARS: Final = 60
_MAX_WORDS: Final = 6
"""Words in a name; more are a sentence."""
_MAX_INITIALS: Final = 2
"""Dots in a single word; more are a host name."""

_LEAD: Final = re.compile(
    r"\A\W*(?:(?:this |a |guest )?(?:article|story|post|words|recipe|text|content|blog|review)\s+(?:was\s+)?)?"
    r"(?:(?:written|posted|published|created|reported|authored|contributed|shared|submitted|compiled)\s+)?"
    r"(?:by|authors?|writer|von|par|por|di|door|av|af|autore?s?|auteurs?|автор|redaktion|作者|文)(?![\w.'-])"
    r"\s*[:\u2014|-]?\s*|\A[\s:\u2014|-]+",
    re.IGNORECASE,
)
_ASIDE: Final = re.compile(r"\([^()]{0,80}\)|\[[^\[\]]{0,80}\]|<[^<>]{0,80}>")
# A byline often continues with what follows it on the page: a date, a role, a reading time.
_TAIL: Final = re.compile(
    r"(?:\A|\s+)(?:on\s|(?:last\s)?(?:updated?|published|posted|modified|edited|reviewed)\b|read more\b|staff writer\b"
    r"|senior\b|contributing\b|\d{1,2}\s?(?:min|hours?|days?|years?)\b"
    r"|(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,?\s+)?"
    r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}\.?\s+\d"
    r"|\d{1,2}[./\s-]\w{2,9}[./\s-]\d{2,4}|\d{4}\b).*\Z",
    re.IGNORECASE | re.DOTALL,
)
_CONTRIBUTORS: Final = re.compile(
    r"(?:medically |clinically |expert |scientifically )?(?:reviewed|edited|fact.?checked|translated|illustrated|photos?"
    r"|photography|photographed|approved|verified|updated)\s+by\b.*\Z",
    re.IGNORECASE | re.DOTALL,
)
"""People who did something other than write."""
_SPLIT: Final = re.compile(
    r"\s*(?:[,;|\u2022\u00b7\u3001&+]|\s/\s|(?<![\w.])(?:and|und|et|och|og|with|y|и|by|via)(?![\w.])|\s[\u2013\u2014-]\s)\s*",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(r"://|\bwww\.|\.(?:com|org|net|html?|php)\b|\S@\S|[{}<>\\=]|:\s", re.IGNORECASE)
_PLACEHOLDERS: Final = frozenset(
    "admin administrator webmaster root user users guest anonymous unknown none null undefined editor editors author"
    " authors staff default wordpress wpadmin superuser test owner contributor contributors writer writers team you me"
    " follow share subscribe by the".split()
)
_PARTICLES: Final = frozenset("de da di du la le van von der den del dos bin ibn al el ten ter zu zur".split())
_LOWER_STARTS: Final = _PARTICLES | {"the"}
"""Lower-case words a name may start with; a longer text that starts in lower case is a sentence."""
_NOT_A_NAME: Final = re.compile(
    r"\A(?:skip|home|shop|privacy|menu|hi|hello|using|authori[sz]ed|search|live|about|follow|view|read|more|see|all|meet"
    r"|posted|published|updated|last|share|subscribe|by|log|sign|click|get|topic|original|post"
    r"|staff (?:writers?|reporters?)|mon(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|fri(?:day)?|sat(?:urday)?"
    r"|sun(?:day)?)\b"
    r"|\b(?:reporter|correspondent|writer|editors?|journalist|columnist|photographer|producer|co-?founder|founder|ceo|cto"
    r"|manager|director|professor|specialist|coordinator|consultant|president|strategist|minutes?|mins?|read|posts?"
    r"|articles?|profile|bio|biography|comments?|head of|experts?|educators?|licensed|moderator|emails?|fact.?checked"
    r"|medically|about the|the author|topic|joined|messages|starter)\b",
    re.IGNORECASE,
)
_LOGIN: Final = re.compile(r"\d+[a-z][\w-]{3,}", re.IGNORECASE)
_DEGREE: Final = re.compile(
    r"(?:ph\.?\s?d|m\.?d|j\.?d|r\.?n|r\.?d\.?n?|m\.?a|m\.?s|m\.?sc|b\.?a|b\.?s|b\.?sc|mba|mph|mpa|mfa|m\.?ed|ldn|cpa|cfa"
    r"|cfp|esq|dds|dmd|dvm|d\.?o|lmft|lcsw|psy\.?d|cscs|cpt|pt|dpt|faap|facp|frcp|np|aprn|bsn|msn|pharm\.?d|ii|iii|iv|jr"
    r"|sr|inc|llc|ltd|gmbh)\.?",
    re.IGNORECASE,
)


def find_names(text: str) -> list[str]:
    """Return the names in a byline, in order."""
    line = one_line(text, _MAX_BYLINE_CHARS)
    if not line or (_ADDRESS.search(line) and " " not in line):
        return []
    line = _CONTRIBUTORS.sub("", _ASIDE.sub(" ", line))
    while (lead := _LEAD.match(line)) and lead.end():
        line = line[lead.end() :]
    parts = (_TAIL.sub("", part).strip(" .:*\u2013\u2014\"'-\u201c\u201d") for part in _SPLIT.split(line))
    return [" ".join(part.split()) for part in parts if _is_name(part)]


def _is_name(part: str) -> bool:
    if not _MIN_NAME_CHARS <= len(part) <= _MAX_NAME_CHARS or part.lower() in _PLACEHOLDERS or part[0] in "@#":
        return False
    words = part.split()
    if part[0].isdigit() and (len(words) > 1 or not _LOGIN.fullmatch(part)):
        return False
    if len(words) > _MAX_WORDS or (len(words) > 2 and part[0].islower() and words[0] not in _LOWER_STARTS):
        return False
    if not any(letter.isalpha() for letter in part) or (part.count(".") > _MAX_INITIALS and len(words) == 1):
        return False
    return not (_ADDRESS.search(part) or _NOT_A_NAME.search(part) or _DEGREE.fullmatch(part))
