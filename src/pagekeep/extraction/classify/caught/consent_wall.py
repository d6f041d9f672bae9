"""Detect a consent wall: a page about cookies and partners in front of the page."""

from __future__ import annotations

from typing import Final

from pagekeep.extraction.classify.caught.signals import Extracted, Signals
from pagekeep.extraction.classify.caught.wording import Names
from pagekeep.model import Caught
from pagekeep.text import compile_lazily

SUGGESTION: Final = "Retry with the browser, or send the page from your own browser."

# Set by hand; tests/extraction/classify/caught/test_labelled_pages.py holds them.
_MAX_WORDS: Final = 450
"""Extracted words of a consent wall."""
_MAX_PROSE: Final = 5_000
"""Characters outside links."""
_MIN_HITS: Final = 4
"""Words about consent; a single cookie notice has fewer."""
_MAX_CHARS_PER_HIT: Final = 200
"""Characters of text per word about consent."""
_MAX_CHARS_PER_HIT_NAMED: Final = 400
"""The same when title or heading names a consent page."""

_MIN_HITS_GATE: Final = 2
"""Words about cookies of a page that calls itself a gate ("Before you continue"), or has the host of one."""

_HOSTS: Final = ("consent.", "myprivacy.", "guce.", "privacy-gate.", "cmp-consent-tool.", "collectconsent.")
"""Hosts on which platforms (Google, YouTube, Yahoo, AOL, publishers in Europe) ask for consent and show nothing else."""
_GATES: Final = Names(
    r"before (?:you|u) continue|bevor (?:sie|du) (?:zu \S+ |mit \S+ )?(?:weitergeh|fortf(?:ahr|ähr))",
    r"avant d(?:'accéder|e (?:continuer|poursuivre))",
    r"antes de (?:ir a|continuar|acceder|aceder|avançar)|abans de continuar|prima di (?:continuare|procedere)",
    r"voordat (?:je|u) (?:verdergaat|doorgaat|naar)|zanim przejdziesz|innan du fortsätter|før du fortsæt\w+|før du går videre",
    r"ennen kuin jatkat|než (?:budete pokračovat|přejdete)|predtým, ako|mielőtt (?:továbblép|folytat)|înainte de a continua",
    r"πριν (?:συνεχίσετε|μεταβείτε)|прежде чем (?:перейти|продолжить)|перш ніж (?:перейти|продовжити)|преди да продължите",
    r"\S{1,30} devam etmeden önce|sebelum (?:anda )?melanjutkan|trước khi (?:bạn )?tiếp tục|قبل المتابعة|לפני שממשיכים",
    r".{0,30}(?:にアクセスする前に|続行する前に|계속하기 전에|(?:搜索|使用|繼續|继续).{0,12}(?:之前|前))",
    r"在(?:您|你)?(?:继续|繼續)",
)
"""Titles of pages that ask for consent before the page that was asked for."""
_NAMES: Final = Names(
    r"(?:\S+ )?privacy ?(?:gate|wall)|cookie[- ]?(?:consent|wall|zustimmung|toestemming)|(?:manage )?consent(?:$|\W)",
    r"your privacy (?:choices|matters)|\S+ (?:values?|cares? about|respects?) your privacy",
    r"wir (?:brauchen|benötigen) (?:ihre|deine) (?:zustimmung|einwilligung)|zustimmung (?:erforderlich"
    r"|zur datenverarbeitung)",
    r"(?:nous respectons|le respect de) votre vie privée|(?:valoramos|respetamos) (?:tu|su) privacidad",
    r"(?:rispettiamo|abbiamo a cuore) la (?:tua|vostra) privacy|(?:valorizamos|respeitamos) a sua privacidade",
    r"(?:wij |we )?(?:respecteren|waarderen) (?:je|uw|jouw) privacy|мы (?:ценим|уважаем) вашу",
    r"(?:お客様の)?プライバシーを(?:尊重|大切)|我们(?:重视|尊重)您的隐私",
)
_CONSENT: Final = compile_lazily(
    r"cookies?|consent|partner|personali[sz]ed|legitimate interest|advertis|privacy|einwilligung|zustimm"
    r"|werbung|datenschutz"
    r"|personalisiert|publicité|vie privée|partenaires|traceurs|publicidad|privacidad|socios|consenso"
    r"|pubblicità|parceiros"
    r"|toestemming|advertenties|согласи|конфиденциальност|クッキー|同意|プライバシー|广告|隐私|隱私"
)
_COOKIES: Final = compile_lazily(r"cookie|consent|evästei|çerez|кук[иі]|クッキー|쿠키|ملفات تعريف|עוגיות")
_ACCEPT: Final = compile_lazily(
    r"\baccept|\bagree\b|allow all|i consent|reject all|manage (?:options|preferences|settings)|akzeptier|zustimmen"
    r"|einverstanden|ablehnen|j'accepte|tout refuser|aceptar|acepto|rechazar|accetta|rifiuta|aceitar|aceito|rejeitar"
    r"|akkoord|weigeren|afwijzen|zaakceptuj|odrzuć|godkänn|avvisa|godta|avvis|afvis|hyväksy|hylkää|přijmout|odmítnout"
    r"|prijať|elfogad|elutasít|kabul et|reddet|accept|αποδοχή|απόρριψη|прийняти|приемам|setuju|terima|chấp nhận|수락|거부"
    r"|قبول|אישור|принять|соглас|отклонить|同意する|同意して|すべて許可|拒否|接受|同意并|拒绝"
)
_POLICY: Final = compile_lazily(
    r"polic(?:y|ies)|notice|statement|declaration|terms|richtlinie|erklärung|hinweise|politique|política|politica"
    r"|informativa|verklaring|beleid|политика|ポリシー|方針|政策|声明|guide|what (?:is|are)|\bhow\b"
)


def detect(signals: Signals, extracted: Extracted) -> Caught | None:
    """Detect the wall when the extracted text, or all text if there is none, is about consent and little else."""
    if extracted.words >= _MAX_WORDS or signals.render_signs.prose >= _MAX_PROSE or signals.is_declared:
        return None
    if reason := _find_gate(signals):
        return Caught("consent_wall", reason, SUGGESTION)
    # A notice over an empty app is not the reason why the content is missing.
    if signals.render_signs.empty_root or any(_POLICY.search(name) for name in signals.names):
        return None
    name = _NAMES.find(signals.names)
    is_named = bool(name)
    # Other content beside a notice rules the wall out, whether or not extraction separated the two.
    texts = [extracted.text or signals.text, *([signals.render_signs.text] if signals.render_signs.filled else [])]
    if not all(_is_about_consent(text, is_named) for text in texts) or not _ACCEPT.search(signals.text):
        return None
    reason = f'The page calls itself "{name}"' if name else "The page speaks of cookies and consent and of little else"
    return Caught("consent_wall", reason, SUGGESTION)


def _find_gate(signals: Signals) -> str | None:
    """Return how the page shows that it is a gate: by its host, or by its title and the buttons of such a page."""
    if signals.host.startswith(_HOSTS) and _COOKIES.search(signals.text):
        return f"{signals.host} asks for consent to cookies and shows nothing else"
    name = _GATES.find(signals.names)
    if not name or len(_COOKIES.findall(signals.text)) < _MIN_HITS_GATE or not _ACCEPT.search(signals.text):
        return None
    return f'The page calls itself "{name}"'


def _is_about_consent(text: str, is_named: bool) -> bool:
    hits = len(_CONSENT.findall(text))
    return hits >= _MIN_HITS and len(text) <= hits * (_MAX_CHARS_PER_HIT_NAMED if is_named else _MAX_CHARS_PER_HIT)
