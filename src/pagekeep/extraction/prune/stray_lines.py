"""Find lines about the page as a tool, not about its subject: "Back to top", "Loading...", "Advertisement".

Only whole lines, word for word: of some two hundred such lines on real pages, none was labelled as content.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from pagekeep.extraction.locate.exclusions import Exclusions, Reason, Reasons
from pagekeep.extraction.locate.page_facts import Content, find_kept
from pagekeep.extraction.locate.prose import INLINE, is_within_line
from pagekeep.extraction.locate.survey import TEXT, Survey

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


def find(survey: Survey, root: int, excluded: Exclusions) -> Reasons:
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
