"""A consent wall: a page about cookies and partners that stands before the page."""

from __future__ import annotations

import re
from typing import Final

from pagekeep.extraction.classify.caught.signals import Found, Signals
from pagekeep.extraction.classify.caught.wording import Names
from pagekeep.model import Caught

SUGGESTION: Final = "Retry with the browser, or send the page from your own browser."

_MAX_WORDS: Final = 450
_MAX_PROSE: Final = 5_000
_HITS: Final = 4
_DENSITY: Final = 200
"""Characters of text for one word of consent, at most."""
_DENSITY_NAMED: Final = 400

_HOSTS: Final = ("consent.", "myprivacy.", "guce.", "privacy-gate.")
_NAMES: Final = Names(
    r"before you continue|bevor sie (?:zu \S+ )?(?:weitergehen|fortfahren)|avant (?:d'accéder|de continuer)",
    r"antes de (?:ir a|continuar|acceder|aceder)|prima di continuare|voordat (?:je|u) (?:verdergaat|naar)",
    r"прежде чем (?:перейти|продолжить)|続行する前に|在(?:您)?继续|繼續之前",
    r"(?:\S+ )?privacy ?(?:gate|wall)|cookie[- ]?(?:consent|wall|zustimmung|toestemming)|(?:manage )?consent(?:$|\W)",
    r"your privacy (?:choices|matters)|\S+ (?:values?|cares? about|respects?) your privacy",
    r"wir (?:brauchen|benötigen) (?:ihre|deine) (?:zustimmung|einwilligung)|zustimmung (?:erforderlich"
    r"|zur datenverarbeitung)",
    r"(?:nous respectons|le respect de) votre vie privée|(?:valoramos|respetamos) (?:tu|su) privacidad",
    r"(?:rispettiamo|abbiamo a cuore) la (?:tua|vostra) privacy|(?:valorizamos|respeitamos) a sua privacidade",
    r"(?:wij |we )?(?:respecteren|waarderen) (?:je|uw|jouw) privacy|мы (?:ценим|уважаем) вашу",
    r"(?:お客様の)?プライバシーを(?:尊重|大切)|我们(?:重视|尊重)您的隐私",
)
_CONSENT: Final = re.compile(
    r"cookies?|consent|partner|personali[sz]ed|legitimate interest|advertis|privacy|einwilligung|zustimm"
    r"|werbung|datenschutz"
    r"|personalisiert|publicité|vie privée|partenaires|traceurs|publicidad|privacidad|socios|consenso"
    r"|pubblicità|parceiros"
    r"|toestemming|advertenties|согласи|конфиденциальност|クッキー|同意|プライバシー|广告|隐私|隱私"
)
_ACCEPT: Final = re.compile(
    r"\baccept|\bagree\b|allow all|i consent|reject all|manage (?:options|preferences|settings)|akzeptier|zustimmen"
    r"|einverstanden|ablehnen|j'accepte|tout refuser|aceptar|acepto|rechazar|accetta|rifiuta|aceitar|aceito|rejeitar"
    r"|akkoord|weigeren|принять|соглас|отклонить|同意する|同意して|すべて許可|拒否|接受|同意并|拒绝"
)
_POLICY: Final = re.compile(
    r"polic(?:y|ies)|notice|statement|declaration|terms|richtlinie|erklärung|hinweise|politique|política|politica"
    r"|informativa|verklaring|beleid|политика|ポリシー|方針|政策|声明|guide|what (?:is|are)|\bhow\b"
)


def detect(signals: Signals, found: Found) -> Caught | None:
    """The wall, when what was found is about consent, or nothing was found and the page speaks of little else."""
    if found.words >= _MAX_WORDS or signals.promise.prose >= _MAX_PROSE or signals.is_declared:
        return None
    # A notice over an empty app is not what keeps the page away.
    if signals.promise.empty_root or any(_POLICY.search(name) for name in signals.names):
        return None
    name = _NAMES.find(signals.names)
    named = bool(name) or signals.host.startswith(_HOSTS)
    # What stands beside a notice acquits, whether or not extraction told the two apart.
    texts = [found.text or signals.text, *([signals.promise.said] if signals.promise.filled else [])]
    if not _ACCEPT.search(signals.text) or not all(_is_about_consent(text, named) for text in texts):
        return None
    reason = f'The page calls itself "{name}"' if name else "The page speaks of cookies and consent and of little else"
    return Caught("consent_wall", reason, SUGGESTION)


def _is_about_consent(text: str, named: bool) -> bool:
    hits = len(_CONSENT.findall(text))
    return hits >= _HITS and len(text) <= hits * (_DENSITY_NAMED if named else _DENSITY)
