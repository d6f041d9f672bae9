"""Detect a paywall: the start of an article, then an offer to subscribe."""

from __future__ import annotations

from typing import Final

from pagekeep.extraction.classify.caught.signals import Extracted, Signals
from pagekeep.extraction.classify.caught.wording import Wording
from pagekeep.extraction.input.structured import Json, type_names
from pagekeep.model import Caught
from pagekeep.text import compile_lazily

SUGGESTION: Final = "Send the page from your own browser (log in there first)."

# Set by hand; tests/extraction/classify/caught/test_labelled_pages.py holds them.
_MAX_TEASER_WORDS: Final = 250
"""With fewer words a declared wall, or one in the text, is enough."""
_MAX_LONG_TEASER_WORDS: Final = 500
"""With fewer words it is enough if the wall is right where the text ends."""
_WALL_CHARS: Final = 1_500
"""Characters after the end of the text that are searched for that wall."""
_END_CHARS: Final = 40
"""Last characters of the extracted text, by which its end is found in the page."""
_LAST_CHARS: Final = 400
"""Last characters of the extracted text that are searched for the wall."""
_MAX_WORD_COUNT: Final = 1e9
_MAX_DIGITS: Final = 8
_GATED: Final = compile_lazily(r"(?:Article|Posting|Report|Page|CreativeWork|Review|Story)$")
_LOCKED: Final = ("locked", "paid", "premium", "subscriber")

_MORE: Final = (
    r"(?:reading|(?:full |unlimited )?access|the (?:full|rest|whole|entire)"
    r"|this (?:article|story|post|content|full)|more)"
)
_WORDS: Final = Wording(
    ("subscribe", rf"(?:subscribe|subscribers?)(?: now| today)?(?: or [\w ]{{2,20}})? (?:to|for) (?:continue"
                  rf"|keep|finish|read|unlock|get|access) ?(?:on )?{_MORE}"),
    ("reading", r"(?:sign up|register|log ?in|sign in|account|member|trial|join)(?: now| today"
                r"| for free)? (?:to|and) (?:continue|keep|finish) reading"),
    ("to read", r"(?:sign up|register|log ?in|sign in|account|member|trial|join)(?: now| today"
                r"| for free)? to read (?:the (?:full|rest|whole|entire)|this (?:article|story|post))"),
    ("reading", r"(?:continue|keep) reading (?:this (?:article|post|story) )?(?:with (?:a|an|your)|for (?:free"
                r"|just|only|\W))"),
    ("subscribers", r"(?:article|story|post|content|piece|report|episode|newsletter) is (?:only )?(?:for"
                    r"|available to|reserved for|exclusive(?:ly)? (?:to|for)"
                    r"|restricted to) (?:\S{1,20} ){0,2}subscribers"),
    ("members", r"(?:article|story|post|content|piece|report|episode) is (?:only )?(?:for|available to"
                r"|reserved for|exclusive(?:ly)? (?:to|for)|restricted to) (?:\S{1,20} ){0,2}members"),
    ("subscribers", r"(?:only for|for) (?:paid |paying |our )?subscribers(?: only)?(?:$|[.!:|])"),
    ("-only", r"(?:subscriber|member)s?-only (?:content|article|story|post)"),
    (" only", r"(?:subscriber|member)s? only (?:content|article|story|post)"),
    ("to continue reading", r"to continue reading[^.!?]{0,60}(?:subscri|log in|sign (?:in|up)|register|trial"
                            r"|member|account|upgrade)"),
    ("to read the", r"to read the (?:full|rest|whole|entire)[^.!?]{0,60}(?:subscri|log in|sign (?:in|up)"
                    r"|register|trial|member|account|upgrade)"),
    ("free article", r"you(?:'ve| have) (?:reached|hit|read|used)[^.!?]{0,40}free articles?"),
    ("article limit", r"(?:reached|hit) your (?:\w+ ){0,2}article limit"),
    ("unlock ", r"unlock (?:this|the (?:full|whole|rest|entire)) (?:article|story|post|content)"),
    ("the rest of this", r"the rest of this (?:article|story|post) is"),
    ("artikel", r"dieser artikel[^.!?]{0,40}(?:abonnent|exklusiv|kostenpflichtig)|ganzen? artikel (?:lesen"
                r"|freischalten)"),
    ("abonnent", r"(?:nur|exklusiv) für abonnent"),
    ("weiterlesen", r"(?:jetzt )?weiterlesen mit|(?:abo|abonnement|angebot)[^.!?]{0,40}weiterlesen"
                    r"|weiterlesen[^.!?]{0,40}(?:abo\b|abonnent|registrier)"),
    ("weiterzulesen", r"um (?:diesen artikel )?weiterzulesen"),
    ("réservé", r"réservée? (?:aux|à nos) abonnés"),
    ("il vous reste", r"il vous reste [^.!?]{0,30}(?:à lire|à découvrir|de cet article)"),
    ("abonnez-vous", r"abonnez-vous pour (?:lire|continuer|accéder|découvrir)"),
    ("lire la suite", r"pour lire la suite"),
    ("suscriptores", r"(?:exclusiv|reservad|sol)[oa] para suscriptores"),
    ("suscríbete", r"suscríbete (?:ahora )?(?:para|y) (?:seguir|sigue|continuar|leer|lee)"),
    ("leyendo", r"para (?:seguir|continuar) leyendo"),
    ("abbonati", r"(?:riservato|esclusivo) (?:agli|per gli) abbonati|abbonati (?:ora )?per (?:continuare|leggere)"),
    ("a leggere", r"per continuare a leggere"),
    ("assinantes", r"(?:exclusiv|restrit|reservad)[oa] (?:para|a|aos) assinantes"),
    ("assine", r"assine (?:já |agora )?(?:para|e) (?:continu|ler|leia)"),
    ("para continuar", r"para continuar (?:a ler|lendo|a leitura)"),
    ("abonnees", r"(?:alleen|exclusief) (?:beschikbaar )?voor abonnees"),
    ("lezen", r"(?:abonneer|log in|abonnee|abonnement)[^.!?]{0,40}(?:verder (?:te )?lezen|door te lezen"
              r"|verderlezen|te lezen)"),
    ("подпис", r"(?:материал|статья|текст|публикация)[^.!?]{0,20}(?:доступ\w+|открыт\w*) (?:только )?(?:для "
               r"|по )?подпис|(?:оформите|купите) подписку[^.!?]{0,40}(?:чита|продолж|доступ)"),
    ("чтобы ", r"чтобы (?:продолжить чтение|дочитать|читать дальше)"),
    ("会員", r"(?:この|こちらの)(?:記事|コンテンツ)は[^。]{0,12}会員|(?:続き|残り)(?:を|は)[^。]{0,20}会員|会員(?:限定|専用)"),
    ("有料", r"(?:この|こちらの)(?:記事|コンテンツ)は[^。]{0,12}有料|(?:続き|残り)(?:を|は)[^。]{0,20}有料"),
    ("残り", r"残り ?\d+ ?文字"),
    ("订阅", r"(?:本文|该文章|此内容|全文)[^。]{0,12}订阅|订阅[^。]{0,10}(?:阅读全文|继续阅读|查看全文)"),
    ("訂閱", r"(?:本文|此內容|全文)[^。]{0,12}訂閱|訂閱[^。]{0,10}(?:閱讀全文|繼續閱讀)"),
    ("付费", r"(?:本文|该文章|此内容|全文)[^。]{0,12}付费|付费[^。]{0,10}(?:阅读全文|继续阅读|查看全文)"),
    ("会员", r"(?:本文|该文章|此内容|全文)[^。]{0,12}会员"),
)  # fmt: skip


def detect(signals: Signals, extracted: Extracted) -> Caught | None:
    """Detect the wall when the page declares or mentions it, and its text is short or ends there."""
    if extracted.words >= _MAX_LONG_TEASER_WORDS:
        return None
    declared = _find_declaration(signals)
    if declared and (extracted.words < _MAX_TEASER_WORDS or _declares_more_words(signals, extracted)):
        return Caught("paywall", f"{declared}, and only {extracted.words} words are here", SUGGESTION)
    words = _WORDS.find(signals.text)
    if words and (extracted.words < _MAX_TEASER_WORDS or _ends_at_wall(signals, extracted)):
        return Caught("paywall", f'After {extracted.words} words the page says "{words}"', SUGGESTION)
    return None


def _find_declaration(signals: Signals) -> str | None:
    """Return how the page declares that it is not free."""
    tier = signals.structured.opengraph.get("article:content_tier") or signals.structured.meta.get(
        "og:article:content_tier"
    )
    if tier and tier.strip().lower() in _LOCKED:
        return f'The page declares its content "{tier.strip().lower()}"'
    if any(_is_gated(item) for item in signals.structured.json_ld):
        return "The page declares that it is not free"
    return None


def _is_gated(item: Json) -> bool:
    """Return whether the item is a text that is not free; museums and courses declare fees too."""
    free = item.get("isAccessibleForFree")
    is_paid = free is False or (isinstance(free, str) and free.strip().lower().endswith("false"))
    return is_paid and any(_GATED.search(name) for name in type_names(item))


def _declares_more_words(signals: Signals, extracted: Extracted) -> bool:
    """Return whether the page declares at least twice the words that were extracted."""
    counts = (item.get("wordCount") for item in signals.structured.json_ld)
    return any(_number(count) >= 2 * extracted.words for count in counts)


def _number(value: object) -> int:
    if isinstance(value, (int, float)) and abs(value) < _MAX_WORD_COUNT:
        return int(value)
    return (
        int(value)
        if isinstance(value, str) and len(value) <= _MAX_DIGITS and value.isascii() and value.isdigit()
        else 0
    )


def _ends_at_wall(signals: Signals, extracted: Extracted) -> bool:
    """Return whether the words of the wall are at the end of the text, or follow right after it."""
    if _WORDS.find(extracted.text[-_LAST_CHARS:]):
        return True
    end = signals.text.rfind(extracted.text[-_END_CHARS:]) if len(extracted.text) >= _END_CHARS else -1
    return end >= 0 and _WORDS.find(signals.text[end : end + _WALL_CHARS]) is not None
