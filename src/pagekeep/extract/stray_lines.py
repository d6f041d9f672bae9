"""Lines that speak of the page as a device and not of its subject: "Back to top", "Loading...", "Advertisement".

Only whole lines, word for word: of some two hundred such lines on real pages, people marked none as content.
"""

from __future__ import annotations

from typing import Final

from pagekeep.extract.boilerplate import Dropped
from pagekeep.extract.prose import PHRASING, is_within_line
from pagekeep.extract.survey import TEXT, Survey

_SAID: Final = {
    "way to the top": "back to top|back to the top|back to top of page|return to top|go to top|scroll to top|top of page"
    "|back to contents|back to table of contents|nach oben|zurück nach oben|zum seitenanfang|seitenanfang|retour en haut"
    "|haut de page|retour en haut de page|volver arriba|ir arriba|voltar ao topo|torna su|torna all'inizio|terug naar boven"
    "|naar boven|till toppen|til toppen|takaisin ylös|наверх|вверх|do góry|powrót do góry|返回顶部|回到顶部|ページトップへ"
    "|ページの先頭へ|맨 위로",
    "loading": "loading|loading please wait|please wait|wird geladen|lädt|laden|chargement|chargement en cours|cargando"
    "|carregando|caricamento|загрузка|加载中|読み込み中|로딩 중",
    "advertisement": "advertisement|advertisements|advertising|sponsored|story continues below advertisement"
    "|article continues below advertisement|article continues after advertisement|advertisement continue reading the main story"
    "|continue reading below|anzeige|werbung|publicité|publicidad|publicidade|pubblicità|advertentie|reklama|реклама|annonce"
    "|annons|mainos|广告|広告|광고",
}
_LINES: Final = {line: reason for reason, lines in _SAID.items() for line in lines.split("|")}
_SHORTEST: Final = min(map(len, _LINES))
_LONGEST: Final = 60
_DECORATION: Final = " \t\n\r\f\u00a0.\u2026:*|[]()<>\u2191\u2b06\u25b2\u25b4\u2303\u21e7\u2912\ufe0f\u2014\u2013-"
_LITERAL: Final = frozenset(
    {"pre", "code", "h1", "h2", "h3", "h4", "h5", "h6", "td", "th", "dt", "dd", "label", "option"}
)
"""Where the words are a name or a value: a heading "Advertising", a cell "Loading"."""


def find(survey: Survey, root: int, dropped: Dropped) -> Dropped:
    """The blocks in the content that hold nothing but such a line."""
    found: Dropped = {}
    tags, chars, nodes, ends = survey.tag, survey.chars, survey.nodes, survey.end
    index, end = root + 1, ends[root]
    while index < end:
        if index in dropped:
            index = ends[index]
            continue
        if tags[index] == TEXT and _SHORTEST <= chars[index] <= _LONGEST:
            reason = _LINES.get(nodes[index].data.strip(_DECORATION).lower())  # type: ignore[attr-defined]
            if reason and (block := _block(survey, index, root)):
                found[block] = reason
        index += 1
    return found


def _block(survey: Survey, index: int, root: int) -> int:
    """The widest element that holds no more than this text; 0 where the text is a part of a line, or a name."""
    top = index
    while survey.parent[top] > root and survey.chars[survey.parent[top]] == survey.chars[index]:
        top = survey.parent[top]
        if survey.tag[top] in _LITERAL:
            return 0
    if survey.tag[top] not in PHRASING and survey.tag[top] != TEXT:
        return top
    return 0 if is_within_line(survey.nodes[top]) else top
