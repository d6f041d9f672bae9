"""Find what stands among the text without being part of it: lines of the page as a tool, links, lone headings.

Lines go only whole, word for word: of some two hundred such lines on real pages, none was labelled as content.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import field
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.exclusions import Exclusions, Reason, Reasons
from pagekeep.extraction.locate.page_facts import SENTENCE_CHARS, Content, find_kept
from pagekeep.extraction.locate.survey import INLINE, TEXT, Survey, is_within_line
from pagekeep.values import dataclass

_WORDINGS: Final = {
    Reason.BACK_TO_TOP: "back to top|back to the top|back to top of page|return to top|go to top|scroll to top|top of page"
    "|back to contents|back to table of contents|nach oben|zurück nach oben|zum seitenanfang|seitenanfang|retour en haut"
    "|haut de page|retour en haut de page|volver arriba|ir arriba|voltar ao topo|torna su|torna all'inizio|terug naar boven"
    "|naar boven|till toppen|til toppen|takaisin ylös|наверх|вверх|do góry|powrót do góry|返回顶部|回到顶部|ページトップへ"
    "|ページの先頭へ|맨 위로",
    Reason.LOADING: "loading|loading please wait|please wait|wird geladen|lädt|laden|chargement|chargement en cours|cargando"
    "|carregando|caricamento|загрузка|加载中|読み込み中|로딩 중",
    Reason.ADVERTISEMENT: "advertisement|advertisements|advertising|sponsored|story continues below advertisement"
    "|article continues below advertisement|article continues after advertisement|advertisement continue reading the main story"
    "|continue reading below|anzeige|werbung|publicité|publicidad|publicidade|pubblicità|advertentie|reklama|реклама|annonce"
    "|skip advertisement|annons|mainos|广告|広告|광고",
}
_NEIGHBOURS: Final = frozenset(
    "previous|prev|next|previous post|next post|previous article|next article|previous story|next story|previous entry"
    "|next entry|previous page|next page|older post|newer post|older posts|newer posts|vorheriger beitrag|nächster beitrag"
    "|vorheriger artikel|nächster artikel|article précédent|article suivant|entrada anterior|entrada siguiente"
    "|artículo anterior|siguiente artículo|articolo precedente|articolo successivo|vorig bericht|volgend bericht".split(
        "|"
    )
)
"""The words of links to the pages before and after this one."""
_MAX_NEIGHBOURS_CHARS: Final = 400
"""Characters of the longest block of such links, with the titles of both pages."""
_MAX_NEIGHBOURS_NODES: Final = 60
"""Nodes of the largest such block, a bound on work."""
_CELLS: Final = frozenset({"td", "th", "dt", "dd"})
_LINES: Final = {line: reason for reason, lines in _WORDINGS.items() for line in lines.split("|")} | dict.fromkeys(
    _NEIGHBOURS, Reason.NEIGHBOUR_LINKS
)
_MIN_LINE_CHARS: Final = min(map(len, _LINES))
_MAX_LINE_CHARS: Final = 60
"""Characters of the longest wording, with decoration."""
_DECORATION: Final = (
    " \t\n\r\f\u00a0.\u2026:*|[]()<>\u2191\u2b06\u25b2\u25b4\u2303\u21e7\u2912\ufe0f\u2014\u2013-"
    "\u2190\u2192\u00ab\u00bb\u2039\u203a\u279c\u2794"
)
_TOPICS: Final = frozenset({Reason.LOADING, Reason.ADVERTISEMENT})
"""Reasons whose words may be an item of a list: "Design, advertising, printing"."""
_LITERAL: Final = frozenset(
    {"pre", "code", "h1", "h2", "h3", "h4", "h5", "h6", "td", "th", "dt", "dd", "label", "option"}
)
"""Elements in which the words are a name or a value: a heading "Advertising", a cell "Loading"."""


def find_stray_lines(survey: Survey, root: int, excluded: Exclusions) -> Reasons:
    """Find the blocks in the content that are nothing but one of these lines."""
    reasons: Reasons = {}
    chars, places, texts = survey.chars, survey.places[TEXT], survey.texts
    following = 0
    for first, end in find_kept(survey, Content(root, excluded)):
        for place in range(bisect_left(places, first), bisect_left(places, end)):
            index = places[place]
            if not _MIN_LINE_CHARS <= chars[index] <= _MAX_LINE_CHARS or index < following:
                continue
            line = texts[place].strip(_DECORATION).lower()
            reason = _LINES.get(line)
            if reason is None:
                continue
            find_block = _find_neighbours_block if reason is Reason.NEIGHBOUR_LINKS else _find_block
            block = find_block(survey, index, root)
            if block and not (reason in _TOPICS and _is_among_others(survey, block)):
                reasons[block] = reason
                following = survey.end[block]
    return reasons


def _is_among_others(survey: Survey, block: int) -> bool:
    """Return whether the block is one item of a list that has others."""
    return survey.tag[block] == "li" and survey.chars[survey.parent[block]] > survey.chars[block]


def _find_neighbours_block(survey: Survey, index: int, root: int) -> int:
    """Return the widest element with links to neighbouring pages and no other words; 0 where there is none."""
    top = 0
    block = survey.parent[index]
    while block > root and survey.chars[block] <= _MAX_NEIGHBOURS_CHARS and survey.tag[block] not in _LITERAL - _CELLS:
        if survey.end[block] - block > _MAX_NEIGHBOURS_NODES or not _has_only_neighbours(survey, block):
            break
        top = block
        block = survey.parent[block]
    return top if top and survey.linked[top] and _is_whole_line(survey, top) else 0


def _has_only_neighbours(survey: Survey, block: int) -> bool:
    """Return whether all text outside links is in `_NEIGHBOURS`."""
    first, end = bisect_left(survey.places[TEXT], block), bisect_left(survey.places[TEXT], survey.end[block])
    for index, text in zip(survey.places[TEXT][first:end], survey.texts[first:end], strict=True):
        if not survey.linked[index]:
            line = text.strip(_DECORATION).lower()
            if line and line not in _NEIGHBOURS:
                return False
    return True


def _is_whole_line(survey: Survey, index: int) -> bool:
    """Return whether the element is a whole line."""
    return survey.tag[index] not in INLINE or not is_within_line(survey.nodes[index])


def _find_block(survey: Survey, index: int, root: int) -> int:
    """Return the widest element with no more than this text; 0 where the text is part of a line, or a name."""
    top = index
    while survey.parent[top] > root and survey.chars[survey.parent[top]] == survey.chars[index]:
        top = survey.parent[top]
        if survey.tag[top] in _LITERAL:
            return 0
    return top if _is_whole_line(survey, top) else 0


_BLOCKS: Final = frozenset("ul ol div section table dl p aside h2 h3 h4 h5 h6 figure".split())
_LONE_BLOCKS: Final = frozenset({"div", "p"})

# Chosen on labelled pages: 22 with tables of contents, 13 with lists of sources that must stay, 35 with links alone in a block
# (F1 of articles +0.0003, +0.0007 and +0.0010).
_MIN_LINK_SHARE: Final = 0.7
"""Share of a block's text that is in links, from which on it is a block of links."""
_MIN_LINKS: Final = 3
"""Links that make a list or a table of contents."""
_MAX_SHARE: Final = 0.5
"""Share of the content from which on its blocks of links are the content."""
_HOST_CHARS: Final = 200
"""Characters of an address within which its host is; links to share a page have the page's host in them too."""
_MIN_LONE_LINK_SHARE: Final = 0.8
"""Share of a block's text that is in links, from which on it is nothing but a link."""
_MIN_ROW: Final = 3
"""Paragraphs of one link each, one after another; two may be a quotation and its source."""


def find_link_blocks(
    survey: Survey, root: int, excluded: Exclusions, min_links: int | None = _MIN_LINKS, host: str = ""
) -> Reasons:
    """Find blocks in the content that have nearly all their text in links; none when the content is such a list.

    Links lead to other pages, or to places in this one: that is a table of contents, which Markdown does not need. A list of
    links to hosts other than the page's own names sources and is kept. Without `min_links`, only tables of contents are found.
    """
    reasons: Reasons = {}
    links = _find_links(survey, root, host)
    tags, ends, chars, linked = survey.tag, survey.end, survey.chars, survey.linked
    index, end = root + 1, ends[root]
    while index < end:
        reason = None
        if tags[index] in _BLOCKS and linked[index] > _MIN_LINK_SHARE * chars[index] and index not in excluded:
            if "footnotes" in (survey.nodes[index].attr("class") or "").split():  # type: ignore[attr-defined]
                index = ends[index]  # sources that the text refers to
                continue
            reason = links.judge(index, ends[index], min_links)
        if reason:
            reasons[index] = reason
        index = ends[index] if reason or not linked[index] or index in excluded else index + 1
    total = sum(chars[index] for index in reasons)
    return reasons if total < _MAX_SHARE * chars[root] else {}


@dataclass(slots=True)
class _Links:
    """Indices of the links, lists and sentences, each in document order, so that those of a block are counted by bisection."""

    away: list[int] = field(default_factory=list)
    """Links to other pages."""
    other_hosts: list[int] = field(default_factory=list)
    """Those of them that lead to other hosts."""
    within: list[int] = field(default_factory=list)
    """Links to a named place in this page."""
    nowhere: list[int] = field(default_factory=list)
    """Links without a target: buttons."""
    lists: list[int] = field(default_factory=list)
    code: list[int] = field(default_factory=list)
    """Code blocks, whose words may link to where they are explained."""
    sentences: list[int] = field(default_factory=list)
    """Paragraphs with a sentence outside links."""

    def judge(self, first: int, end: int, min_links: int | None) -> Reason | None:
        """Return why a block of links is removed, or `None`."""
        away, within, nowhere, other_hosts = (
            _count_between(places, first, end) for places in (self.away, self.within, self.nowhere, self.other_hosts)
        )
        if min_links is not None and away - within - nowhere >= min_links:
            is_mostly_other_hosts = other_hosts > (away + within + nowhere) / 2
            names_sources = is_mostly_other_hosts and _count_between(self.lists, first, end)
            # A block with a sentence is a section that has a list: only the list is removed.
            has_sentence = _count_between(self.sentences, first + 1, end)
            return None if names_sources or has_sentence else Reason.LINK_LIST
        if within > nowhere and within + nowhere - away >= _MIN_LINKS:
            is_text = _count_between(self.code, first, end) or _count_between(self.sentences, first + 1, end)
            return None if is_text else Reason.TABLE_OF_CONTENTS
        return None


def _count_between(places: list[int], first: int, end: int) -> int:
    return bisect_left(places, end) - bisect_left(places, first)


def _find_links(survey: Survey, root: int, host: str) -> _Links:
    end, chars, linked, nodes = survey.end[root], survey.chars, survey.linked, survey.nodes
    links = _Links(
        lists=sorted(_take_between(survey, "ul", root, end) + _take_between(survey, "ol", root, end)),
        code=_take_between(survey, "pre", root, end),
    )
    for index in _take_between(survey, "a", root, end):
        target = nodes[index].attr("href") or "#"  # type: ignore[attr-defined]
        if target[0] == "#":
            (links.within if len(target) > 1 else links.nowhere).append(index)
            continue
        links.away.append(index)
        if host and target.startswith(("http:", "https:")) and host not in target[:_HOST_CHARS]:
            links.other_hosts.append(index)
    paragraphs = _take_between(survey, "p", root, end)
    links.sentences += [index for index in paragraphs if chars[index] - linked[index] >= SENTENCE_CHARS]
    return links


def _take_between(survey: Survey, tag: str, first: int, end: int) -> list[int]:
    """Return the indices of a tag from one index up to another."""
    places = survey.places.get(tag, [])
    return places[bisect_left(places, first) : bisect_left(places, end)]


def find_lone_links(survey: Survey, root: int, excluded: Exclusions) -> Reasons:
    """Find boxes that are only a link, and rows of paragraphs that are only links.

    Articles have their links in sentences and lists. Over some four hundred articles, a `div` with only a link in it was
    content on one page and a button, a card or a recommendation on five.
    """
    reasons: Reasons = {}
    tags, ends, chars, linked = survey.tag, survey.end, survey.chars, survey.linked
    row: list[int] = []
    index, end = root + 1, ends[root]
    while index < end:
        following = index + 1
        if not linked[index] or index in excluded:
            following = ends[index]
        elif tags[index] in _LONE_BLOCKS and chars[index] and linked[index] > _MIN_LONE_LINK_SHARE * chars[index]:
            if tags[index] == "p":
                if row and ends[row[-1]] != index:
                    row = []
                row.append(index)
                if len(row) >= _MIN_ROW:
                    reasons |= dict.fromkeys(row[-_MIN_ROW:], Reason.LINK_LIST)
            elif all(tag in INLINE for tag in tags[following : ends[index]]):
                reasons[index] = Reason.LINK_IN_BOX
        index = following
    return reasons


_VISIBLE: Final = frozenset((TEXT, "img", "svg", "iframe", "video", "audio", "math", "hr"))
_LEVELS: Final = {"h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_TITLE_LEVEL: Final = 1
"""Level of the end of a section, higher than any heading's."""
_MAX_BOXES: Final = 3
"""Boxes that are opened to find a heading alone in them, the innermost being the heading itself."""


def find_lone_headings(survey: Survey, root: int, excluded: Exclusions, removed: Iterable[int]) -> Reasons:
    """Find the headings right before a removed part where the next part kept is a heading of the same level, or nothing."""
    reasons: Reasons = {}
    sections = {index for index in removed if root < index < survey.end[root]}
    for parent in dict.fromkeys(survey.parent[index] for index in sections):
        heading, level, is_empty = -1, 0, False
        for child in (*_visible_children(survey, parent), -1):
            if child in sections:
                is_empty = True
                continue
            if child in excluded:
                continue
            next_level = _find_level(survey, child) if child >= 0 else _TITLE_LEVEL
            if is_empty and heading >= 0 and 0 < next_level <= level:
                reasons[heading] = Reason.HEADING_OF_CUT
            heading, level = (child, next_level) if next_level > _TITLE_LEVEL else (-1, 0)
            is_empty = False
    return reasons


def find_repeated_headings(survey: Survey, root: int, excluded: Exclusions) -> Reasons:
    """Find the lower of neighbouring headings with the same words."""
    reasons: Reasons = {}
    previous, following, end = -1, root + 1, survey.end[root]
    for index in survey.find_tags(*_LEVELS):
        if not following <= index < end or not _is_kept(survey, index, root, excluded):
            continue
        if (
            previous > 0
            and not _has_visible(survey, following, index, excluded)
            and _words(survey, previous) == _words(survey, index)
        ):
            reasons[index if survey.tag[previous] <= survey.tag[index] else previous] = Reason.HEADING_TWICE
        previous, following = index, survey.end[index]
    return reasons


def _is_kept(survey: Survey, index: int, root: int, excluded: Exclusions) -> bool:
    """Return whether neither an element nor one around it, within the content, is left out."""
    while index > root:
        if index in excluded:
            return False
        index = survey.parent[index]
    return True


def _has_visible(survey: Survey, first: int, end: int, excluded: Exclusions) -> bool:
    """Return whether something that is not left out shows between two places."""
    while first < end:
        if first in excluded:
            first = survey.end[first]
        elif survey.tag[first] in _VISIBLE:
            return True
        else:
            first += 1
    return False


def _words(survey: Survey, index: int) -> list[str]:
    return dom.text_of(survey.nodes[index]).lower().split()


def _visible_children(survey: Survey, parent: int) -> list[int]:
    children: list[int] = []
    child, end = parent + 1, survey.end[parent]
    while child < end:
        if survey.chars[child] or survey.tag[child] in ("img", "figure"):
            children.append(child)
        child = survey.end[child]
    return children


def _find_level(survey: Survey, index: int) -> int:
    """Return the level of a heading, by itself or alone in a box; 0 for anything else."""
    first, end = index, survey.end[index]
    for _ in range(_MAX_BOXES):
        if survey.tag[first] in _LEVELS:
            return _LEVELS[survey.tag[first]] if survey.chars[first] == survey.chars[index] else 0
        first += 1
        while first < end and survey.tag[first] == TEXT and not survey.chars[first]:
            first += 1
        if first >= end:
            return 0
    return 0
