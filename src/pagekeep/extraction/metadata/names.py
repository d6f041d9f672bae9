"""Find the names of people in a byline, without roles, degrees, dates, URLs or the word "by"."""

from __future__ import annotations

import re
from typing import Final

from pagekeep.extraction.input.structured import one_line
from pagekeep.text import compile_lazily

_MAX_BYLINE_CHARS: Final = 300
_MIN_NAME_CHARS: Final = 2
_MAX_NAME_CHARS: Final = 60
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
    line = one_line(text, _MAX_BYLINE_CHARS)
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
    if not _MIN_NAME_CHARS <= len(part) <= _MAX_NAME_CHARS or part.lower() in _PLACEHOLDERS or part[0] in "@#":
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
