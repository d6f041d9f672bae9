"""Detect a soft 404: an error page that the server sent with a success status."""

from __future__ import annotations

from typing import Final

from pagekeep.extraction.classify.caught.signals import Extracted, Signals
from pagekeep.extraction.classify.caught.wording import Names, Wording
from pagekeep.model import Caught

SUGGESTION: Final = "Check the address, or look for the page in a web archive."
SUGGESTION_LATER: Final = "Try again later."

# Set by hand; tests/extraction/classify/caught/test_labelled_pages.py holds them.
_MAX_WORDS: Final = 120
"""Extracted words of an error page."""
_MAX_WORDS_WITH_APOLOGY: Final = 400
"""An error page may list a few hundred words of other pages; then it must also state what happened."""

_THING: Final = (
    r"(?:page|article|post|story|document|topic|thread|user|content|file|product|item|video|listing|profile"
    r"|resource|url)"
)
_NAMES: Final = Names(
    r"(?:http )?(?:error )?(?:404|410)(?:$|\W+(?:$|error|http|not found|page(?: not|$| ?[|–-])|file|gone|oops|sorry"
    r"|seite|fehler|página|pagina))",
    r"(?:http )?(?:error )?404\W+(?:erreur|introuvable|ошибка|страница|не найден|ページ|页面|頁面|找不到|未找到)",
    r"(?:erreur|errore|erro|fehler|fout|ошибка) 404|error(?:$|[ :|–-]+(?:404|410|page not))",
    r"(?:oops|sorry|uh[- ]oh|whoops|hmm+)\b.{0,40}(?:not found|n't exist|not exist|can't (?:find|be found)|404)",
    rf"(?:the |this |that |requested |your )*{_THING} (?:(?:was|is|could|can)? ?not|cannot|can't|couldn't"
    rf"|wasn't) (?:be )?found",
    rf"(?:the |this |that )*{_THING} (?:doesn't exist|does not exist|no longer exists|has been (?:removed"
    rf"|deleted)|was (?:removed|deleted))",
    rf"(?:the |this |that )*{_THING} (?:isn't|is not|is no longer|is currently not) available"
    rf"|{_THING} (?:is )?unavailable|no such {_THING}",
    rf"we (?:can't|cannot|couldn't|could not) find (?:that|the|this|your) {_THING}|not found(?:$|\W)"
    rf"|nothing found(?:$|\W)",
    r"(?:die |diese )?seite (?:wurde |konnte )?(?:leider )?(?:nicht (?:gefunden|verfügbar|vorhanden)"
    r"|existiert nicht)|nicht gefunden",
    r"(?:la |cette )?page (?:introuvable|non trouvée|inexistante|demandée (?:est )?introuvable|n'existe)"
    r"|(?:contenu|article) introuvable",
    r"(?:la )?página (?:no (?:encontrada|existe|disponible)|não (?:encontrada|existe|disponível))"
    r"|no encontrad[oa]|não encontrad[ao]",
    r"(?:la )?pagina (?:non (?:trovata|disponibile|esiste)|niet gevonden|bestaat niet)|niet gevonden",
    r"страница не (?:найдена|существует)|не найдено|(?:запрашиваемая|запрошенная) страница",
    r"(?:お探しの)?ページ(?:が|は)(?:見つかりません|存在しません)|見つかりません",
    r"(?:页面|頁面|您访问的页面)(?:不存在|未找到|找不到|没有找到)|找不到(?:页面|頁面|网页|網頁)",
)
_SERVER: Final = Names(
    r"(?:http )?(?:error )?50[0234](?:$|[ :|–-]+(?:$|internal|bad gateway|service|gateway|server|error))",
    r"internal server error$|bad gateway$|service (?:temporarily )?unavailable$|gateway time-?out$"
    r"|application error$",
    r"error establishing a database connection|database error$|site (?:is )?(?:under maintenance"
    r"|temporarily unavailable)",
    r"(?:we're |we are )?(?:down for|under) maintenance|(?:wartungsarbeiten|wartungsmodus|site en maintenance)$",
)
_APOLOGY: Final = Wording(
    ("looking for", r"(?:page|article|content|link|url|document|file|what) (?:that )?(?:you're|you are|you were"
                r"|you've been) looking for"),
    ("request", r"(?:page|url|document|file|resource) (?:that )?you(?:'ve| have)? requested|requested (?:page"
                r"|url|document|resource)"),
    ("find ", r"(?:can't|cannot|couldn't|could not|unable to|weren't able to) (?:seem to )?find (?:the|that"
              r"|this|what|a) "),
    ("have been ", r"(?:may|might|could) have been (?:moved|removed|deleted|renamed)"),
    ("exist", r"no longer exists|doesn't exist|does not exist"),
    ("has been ", r"(?:page|article|content|post|it) has been (?:moved|removed|deleted)"),
    ("on this server", r"was not found on this server"),
    ("seite", r"(?:gesuchte|angeforderte|aufgerufene|gewünschte)n? seite"),
    ("gefunden", r"konnte (?:leider )?nicht gefunden"),
    ("existiert", r"existiert (?:leider )?nicht"),
    ("page ", r"page (?:que vous (?:cherchez|recherchez|avez demandé)|demandée|recherchée)"),
    ("n'existe", r"n'existe (?:pas|plus)"),
    ("página ", r"página que (?:busca|está|estás|has|intentas|solicit|você|procura)"),
    ("no existe", r"no existe"),
    ("não existe", r"não existe"),
    ("pagina ", r"pagina (?:che (?:stai|hai|cerchi)|richiesta|cercata|die (?:je|u) (?:zoekt|zocht))"),
    ("non esiste", r"non esiste"),
    ("bestaat niet", r"bestaat niet"),
    ("не существует", r"не существует"),
    ("была ", r"была (?:удал|перемещ)\w+"),
    ("которую вы", r"которую вы (?:ищете|искали|запросили)"),
    ("お探しのページ", r"お探しのページ"),
    ("削除", r"削除された"),
    ("不存在", r"不存在"),
    ("删除", r"已(?:被)?删除"),
)  # fmt: skip


def detect(signals: Signals, extracted: Extracted) -> Caught | None:
    """Detect the error page by its title and headings, and by how little other text it has."""
    if extracted.words >= _MAX_WORDS_WITH_APOLOGY or signals.is_declared:
        return None
    is_short = extracted.words < _MAX_WORDS
    if is_short and (name := _SERVER.find(signals.names)):
        return Caught("soft_404", f'The page calls itself "{name}"', SUGGESTION_LATER)
    name = _NAMES.find(signals.names)
    if name and (is_short or _APOLOGY.find(signals.text)):
        answered = ", though the server answered 200" if signals.status == 200 else ""
        return Caught("soft_404", f'The page calls itself "{name}"{answered}', SUGGESTION)
    return None
