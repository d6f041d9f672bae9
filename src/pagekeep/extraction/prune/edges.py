"""Find what is around an article: paths and datelines above its text; other articles, authors and letters below.

The judge leaves parts like those below out of long articles. On a short page it does not judge, and a box of thirty words is
a large share.

The frontmatter has what datelines say. On 21 of 23 pages with such a line, the people who labelled the content left it out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pagekeep import dom
from pagekeep.extraction.input.structured import split_words
from pagekeep.extraction.locate.boilerplate import compile_lines
from pagekeep.extraction.locate.exclusions import Exclusions, Reason, Reasons
from pagekeep.extraction.locate.survey import INLINE, PHRASING, TEXT, Survey, is_within_line
from pagekeep.extraction.metadata.dates import remove_date
from pagekeep.text import compile_lazily

_PARAGRAPH_CHARS: Final = 80
"""Characters outside links from which on a block is a paragraph, as in `readability`."""
_MAX_HEADING_CHARS: Final = 60
"""Characters of the longest heading that announces such a section."""
_MAX_SHARE: Final = 0.4
"""Share of the content below which a section may be left out."""
_MAX_BIO_CHARS: Final = 600
"""Characters of the longest section about the author or a letter."""
_MIN_LINKED_SHARE: Final = 0.25
"""Share of the text in links from which on a section lists other articles: their titles are."""
_MAX_PATH_CHARS: Final = 120
"""Characters of the longest path to a page."""
_MAX_BOX_CHARS: Final = 300
"""Characters of the longest box that asks for an address to write to."""
_MAX_NOTICE_CHARS: Final = 160
_HEADINGS: Final = ("h2", "h3", "h4", "h5", "h6")
_ADDRESS_FIELDS: Final = 'input[type="email"], input[name*="email" i]'

_OTHER_ARTICLES: Final = r"""
related (?:articles?|posts?|stories|reading|content|links|news|topics)$|related$|similar (?:articles|posts|stories)
you (?:may|might) (?:also )?(?:like|enjoy|be interested)|keep reading|read (?:next|this next|more|also)
up next|what to read next
more (?:from|stories|articles|posts|like this|news|reading)|recommended(?: for you| reading| articles| posts| stories)?$
(?:popular|latest|recent|trending|featured) (?:posts|articles|news|stories)|trending$|don['’]t miss|continue reading
mehr zum thema|das könnte (?:sie|dich|ihnen|dir) auch|(?:ähnliche|weitere|verwandte|neueste) (?:artikel|beiträge)|lesen sie auch
à lire aussi|lire aussi|sur le même sujet|articles (?:similaires|connexes|liés)|vous aimerez aussi
artículos relacionados|te puede interesar|también te puede|lee también|noticias relacionadas
leggi anche|articoli correlati|potrebbe interessarti|leia também|artigos relacionados|veja também
lees ook|gerelateerde (?:artikelen|berichten)|läs också|relaterade artiklar|читайте также|関連記事|相关文章|관련 기사
"""
_ABOUT_AUTHOR: Final = r"""
about (?:the )?(?:authors?|writer|contributor)s?$|written by(?: |$)|meet the author
über (?:den|die) autor(?:in|en)?$|zum autor$|zur autorin$|à propos de l['’]auteur|sobre (?:el|la|o|a) autora?$|sull['’]autor
over de auteur|om författaren|об авторе|著者について|作者简介
"""
_LETTERS: Final = r"""
(?:get|join|subscribe to|sign up (?:for|to)) (?:our|my|the) .{0,20}(?:newsletter|mailing list|updates)|newsletter$
subscribe$|sign up$|stay (?:updated|informed|in the loop|up to date)|never miss (?:a|an) |enjoyed this
newsletter abonnieren|s['’]abonner|suscríbete|iscriviti|inscreva-se
"""


_ANNOUNCEMENTS: Final = (
    (compile_lines(_OTHER_ARTICLES), Reason.RELATED),
    (compile_lines(_ABOUT_AUTHOR), Reason.AUTHOR_BOX),
    (compile_lines(_LETTERS), Reason.SIGN_UP),
)
_COPYRIGHT: Final = compile_lazily(r"(?:copyright\s+)?©\s*(?:\d{4}|.*all rights reserved)", re.I)


def find(survey: Survey, root: int, excluded: Exclusions, own: Sequence[int]) -> Reasons:
    """Find these parts of an article; a section counts only where no paragraph of the article follows it."""
    reasons = _find_paths(survey, root, excluded, own)
    reasons |= _find_address_boxes(survey, root, excluded)
    last = survey.end[root]
    for heading, reason in reversed(_find_announcements(survey, root, excluded)):
        section = _find_section(survey, root, heading)
        chars = survey.chars[section]
        if (
            section == heading
            or chars > _MAX_SHARE * survey.chars[root]
            or not _fits(survey, section, heading, reason, own)
        ):
            continue
        if not _has_paragraph(survey, survey.end[section], last, own, excluded):
            reasons[section] = reason
            last = section
    return reasons | _find_copyright(survey, root, excluded, last)


def _find_announcements(survey: Survey, root: int, excluded: Exclusions) -> list[tuple[int, Reason]]:
    """Find the headings that announce something else than the article."""
    found: list[tuple[int, Reason]] = []
    for index in survey.find_tags(*_HEADINGS):
        if (
            not root < index < survey.end[root]
            or not 0 < survey.chars[index] <= _MAX_HEADING_CHARS
            or index in excluded
        ):
            continue
        text = " ".join(dom.text_of(survey.nodes[index]).lower().split()).rstrip(" :.!→")
        reason = next((reason for pattern, reason in _ANNOUNCEMENTS if pattern.match(text)), None)
        if reason:
            found.append((index, reason))
    return found


def _find_section(survey: Survey, root: int, heading: int) -> int:
    """Return the largest element that begins with the heading."""
    section = heading
    while survey.parent[section] > root and not any(survey.chars[survey.parent[section] + 1 : section]):
        section = survey.parent[section]
    return section


def _fits(survey: Survey, section: int, heading: int, reason: Reason, own: Sequence[int]) -> bool:
    """Return whether a section is what its heading says: links to others without sentences about them, or a few words."""
    if reason is not Reason.RELATED:
        return survey.chars[section] <= _MAX_BIO_CHARS
    inside = range(survey.end[heading], survey.end[section])
    sentences = [index for index in inside if own[index] >= _PARAGRAPH_CHARS]
    # A teaser has its link above its text; a sentence with a link, or before the first link, is about the links.
    first_link = next((index for index in inside if survey.linked[index]), survey.end[section])
    is_about = any(survey.linked[index] or index < first_link for index in sentences)
    chars = survey.chars[section] - survey.chars[heading]
    return survey.linked[section] >= _MIN_LINKED_SHARE * chars and not is_about


def _has_paragraph(survey: Survey, first: int, end: int, own: Sequence[int], excluded: Exclusions) -> bool:
    """Return whether there is a paragraph from one index up to another."""
    index = first
    while index < end:
        if index in excluded:
            index = survey.end[index]
            continue
        if own[index] >= _PARAGRAPH_CHARS:
            return True
        index += 1
    return False


def _find_paths(survey: Survey, root: int, excluded: Exclusions, own: Sequence[int]) -> Reasons:
    """Find the lines with links above the headline: the path to the page, the way back."""
    headline = next((index for index in survey.find_tags("h1") if root < index < survey.end[root]), 0)
    reasons: Reasons = {}
    index = root + 1
    while index < headline:
        if index in excluded:
            index = survey.end[index]
        elif survey.end[index] <= headline and survey.tag[index] != TEXT and survey.linked[index]:
            if survey.chars[index] > _MAX_PATH_CHARS or own[index] >= _PARAGRAPH_CHARS:
                return {}  # not an article below its headline
            if survey.tag[index] not in INLINE or not is_within_line(survey.nodes[index]):
                reasons[index] = Reason.NAVIGATION
            index = survey.end[index]
        else:
            index += 1
    return reasons


def _find_address_boxes(survey: Survey, root: int, excluded: Exclusions) -> Reasons:
    """Find the boxes around fields for an address to write to, with the few words that ask for it."""
    reasons: Reasons = {}
    fields = dom.select(survey.nodes[root], _ADDRESS_FIELDS)
    boxes = (
        survey.find_nodes({field.parent for field in fields if isinstance(field.parent, dom.Element)}) if fields else {}
    )
    for box in boxes.values():
        if box <= root:
            continue
        while survey.parent[box] > root and survey.chars[survey.parent[box]] <= _MAX_BOX_CHARS:
            box = survey.parent[box]
        inside = survey.tag[box : survey.end[box]]
        if survey.chars[box] <= _MAX_BOX_CHARS and box not in excluded and "h1" not in inside:
            reasons[box] = Reason.SIGN_UP
    return reasons


def _find_copyright(survey: Survey, root: int, excluded: Exclusions, end: int) -> Reasons:
    """Find a last line that says whose the page is."""
    blocks = [index for index in survey.find_tags("p", "div", "small") if root < index < end and survey.chars[index]]
    for index in reversed(blocks[-3:]):
        if survey.chars[index] <= _MAX_NOTICE_CHARS and index not in excluded:
            text = " ".join(dom.text_of(survey.nodes[index]).split())
            if _COPYRIGHT.match(text):
                return {index: Reason.SMALL_PRINT}
    return {}


# Chosen on the articles of the corpus.
_MAX_HEAD_NODES: Final = 400
"""Nodes within which the first paragraph of an article begins."""
_MAX_DIARY_NODES: Final = 3_000
"""Nodes within which a diary has its second entry."""
_MAX_LINE_CHARS: Final = 100
"""Characters of the longest line of dates."""
_MAX_LINE_NODES: Final = 40
"""Nodes of the longest line; an element with more is not one line."""
_MAX_LINKED_CHARS: Final = 60
"""Characters in links beside a date."""
_MAX_DATES: Final = 3
"""Dates in one line: published, updated, reviewed."""
_READING_TIME: Final = compile_lazily(
    r"\d{1,3}\s?(?:-|\u2013)?\s?(?:min(?:ute)?s?\b\.?|minuten|minutos|minuti)\s?(?:to |de |di )?"
    r"(?:read(?:ing)?\b(?: time)?|lesezeit|lecture|lectura|leitura|lettura|leestijd)"
    r"|(?:read(?:ing)? time|lesezeit|temps de lecture|tiempo de lectura)\s?:?\s?(?:ca\.\s?)?\d{1,3}\s?min\w{0,4}\.?",
    re.IGNORECASE,
)
_NAME_WORDS: Final = range(2, 5)
"""Words of a name."""
_MAX_BYLINE_CHARS: Final = 150
"""Characters of the longest line of authors and their roles."""
_BOXES: Final = frozenset({"div", "header", "section", "p"})
_BYLINE: Final = compile_lazily(r"(?i:by )?[^\W\d_]+\.? [^.!?]+,[^.!?]+$|(?i:by )[^.!?,]+$")
"""Two words or more, a comma and what follows, or the word `by`; and not a sentence."""
_JOINTS: Final = frozenset("by and of the for at in on und y e et von de".split())
_WORD: Final = compile_lazily(r"\w+")
_DATE_WORDS: Final = frozenset(
    "published posted publish post updated update last modified edited reviewed created written released date on at in by am"
    " pm est edt cst cdt mst mdt pst pdt et ct pt utc gmt cet"
    " mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday sun sunday"
    " montag dienstag mittwoch donnerstag freitag samstag sonntag veröffentlicht aktualisiert zuletzt stand vom am um uhr"
    " lundi mardi mercredi jeudi vendredi samedi dimanche publié le mis à jour"
    " lunes martes miércoles jueves viernes sábado domingo publicado el actualizado"
    " lunedì martedì mercoledì giovedì venerdì sabato domenica pubblicato il aggiornato gepubliceerd op bijgewerkt".split()
)


def find_datelines(survey: Survey, root: int, excluded: Exclusions, own: list[int], author: str | None) -> Reasons:
    """Find the lines of dates between the beginning of the content and its first paragraph."""
    reasons: Reasons = {}
    names = frozenset(split_words(author or ""))
    index, end = root + 1, min(survey.end[root], root + _MAX_HEAD_NODES)
    while index < end and own[index] < _PARAGRAPH_CHARS:
        following = survey.end[index]
        if index not in excluded and survey.tag[index] != TEXT:
            if survey.chars[index] > _MAX_LINE_CHARS or not _is_line(survey, index):
                following = index + 1
            elif _is_date_line(survey, index, names):
                reasons[index] = Reason.DATELINE
        index = following
    repeated = _find_repeated_tags(survey, index, survey.end[root], {survey.tag[line] for line in reasons}, names)
    found = {line: reason for line, reason in reasons.items() if survey.tag[line] not in repeated}
    return found | dict.fromkeys(_find_bylines(survey, found, excluded), Reason.DATELINE)


def _find_bylines(survey: Survey, datelines: Reasons, excluded: Exclusions) -> list[int]:
    """Find lines with names and roles that are alone with a date line in a box."""
    bylines: list[int] = []
    for line in datelines:
        box = survey.parent[line]
        beside = [index for index in _find_children(survey, box) if index not in datelines and index not in excluded]
        if survey.tag[box] in _BOXES and len(beside) == 1 and _is_byline(survey, beside[0]):
            bylines += beside
    return bylines


def _find_children(survey: Survey, box: int) -> list[int]:
    """Return the children of an element that show anything."""
    children: list[int] = []
    index = box + 1
    while index < survey.end[box]:
        if survey.chars[index]:
            children.append(index)
        index = survey.end[index]
    return children


def _is_byline(survey: Survey, index: int) -> bool:
    """Return whether a line has only names and roles, each with a capital letter, separated by commas."""
    if survey.tag[index] == TEXT or not _is_line(survey, index) or survey.chars[index] > _MAX_BYLINE_CHARS:
        return False
    line = " ".join("".join(survey.texts_in(index, survey.end[index])).split())
    words = _WORD.findall(line)
    names = [word for word in words if word.lower() not in _JOINTS]
    return (
        bool(_BYLINE.match(line)) and len(names) > 1 and all(word[0].isupper() or word[0].isdigit() for word in names)
    )


def _find_repeated_tags(survey: Survey, begin: int, end: int, tags: set[str], names: frozenset[str]) -> set[str]:
    """Return which of these tags have a date line again further down: then the dates are headings of a diary or changelog."""
    repeated: set[str] = set()
    for index in range(begin, min(end, begin + _MAX_DIARY_NODES)) if tags else ():
        tag = survey.tag[index]
        if tag not in tags or tag in repeated or survey.chars[index] > _MAX_LINE_CHARS or not _is_line(survey, index):
            continue
        if _is_date_line(survey, index, names):
            repeated.add(tag)
    return repeated


def _is_line(survey: Survey, index: int) -> bool:
    """Return whether the element is one line of text, without blocks."""
    size = survey.end[index] - index
    return size <= _MAX_LINE_NODES and all(tag in INLINE for tag in survey.tag[index + 1 : index + size])


def _is_date_line(survey: Survey, index: int, names: frozenset[str]) -> bool:
    node = survey.nodes[index]
    if survey.tag[index] in PHRASING and is_within_line(node):
        return False
    line = " ".join(survey.texts_in(index, survey.end[index]))
    if is_dateline(line, names):
        return True
    # Links beside a date and the author's name lead to the author's page or the subject.
    is_signed = not names.isdisjoint(split_words(line)) and 0 < survey.linked[index] <= _MAX_LINKED_CHARS
    if is_signed and is_dateline(" ".join(_texts_outside_links(survey, index)), names):
        return True
    return 0 < survey.linked[index] <= _MAX_LINKED_CHARS and _is_signed_dateline(line)


def _texts_outside_links(survey: Survey, index: int) -> list[str]:
    texts: list[str] = []
    inner, end = index + 1, survey.end[index]
    while inner < end:
        if survey.tag[inner] == TEXT:
            texts.append(survey.nodes[inner].data)  # type: ignore[attr-defined]
        inner = survey.end[inner] if survey.tag[inner] == "a" else inner + 1
    return texts


def is_dateline(line: str, names: frozenset[str] = frozenset()) -> bool:
    """Return whether a line is a date or a reading time, with only words such as "updated" and the authors' names beside."""
    line = " ".join(line.split())
    left = _READING_TIME.sub(" ", line)
    for _ in range(_MAX_DATES):
        left = remove_date(left)
    return left != line and all(word in _DATE_WORDS or word in names for word in split_words(left))


def _is_signed_dateline(line: str) -> bool:
    """Return whether a line with links is a date or a reading time, with nothing but a name beside."""
    left = _READING_TIME.sub(" ", " ".join(line.split()))
    has_time = left != " ".join(line.split())
    without_date = remove_date(left)
    words = [word for word in _WORD.findall(without_date) if word.lower() not in _DATE_WORDS]
    is_name = len(words) in _NAME_WORDS and all(word[0].isupper() for word in words)
    return is_name and has_time and without_date != left
