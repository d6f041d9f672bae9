"""Find what is above an article's headline and below its last paragraph: paths, other articles, authors, letters.

The judge leaves such parts out of long articles. On a short page it does not judge, and a box of thirty words is a large share.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.exclusions import Exclusions, Reason, Reasons
from pagekeep.extraction.locate.prose import INLINE, is_within_line
from pagekeep.extraction.locate.survey import TEXT, Survey
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


def _compile(phrases: str) -> re.Pattern[str]:
    return compile_lazily("|".join(phrases.split("\n")[1:-1]))


_ANNOUNCEMENTS: Final = (
    (_compile(_OTHER_ARTICLES), Reason.RELATED),
    (_compile(_ABOUT_AUTHOR), Reason.AUTHOR_BOX),
    (_compile(_LETTERS), Reason.SIGN_UP),
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
