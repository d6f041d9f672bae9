"""Detect a parked domain: a page of a domain seller or hosting company instead of a site."""

from __future__ import annotations

from typing import Final

from pagekeep.extraction.classify.caught.signals import Extracted, Signals
from pagekeep.extraction.classify.caught.wording import Names, Wording
from pagekeep.model import Caught

SUGGESTION: Final = "The site is gone: look for the page in a web archive."

# Set by hand; tests/extraction/classify/caught/test_labelled_pages.py holds them.
_MAX_WORDS: Final = 150
"""Extracted words of a parked page that is recognised by its words alone."""
_MAX_WORDS_WITH_MARK: Final = 500
"""Extracted words when it also has the mark of a parking service, which fills pages with links."""
_MAX_PROSE: Final = 4_000
"""Characters outside links."""
_SHORT_PAGE: Final = 800
"""Characters of a page on which an offer in the text is enough."""

_MARKS: Final = (
    ("sedoparking.com", "Sedo"),
    ("sedo.com/search/details", "Sedo"),
    ("parkingcrew.net", "ParkingCrew"),
    ("d38psrni17bvxu.cloudfront.net", "ParkingCrew"),
    ("bodis.com", "Bodis"),
    ("/parking-lander", "GoDaddy"),
    ("cashparking", "GoDaddy"),
    ("parklogic.com", "ParkLogic"),
    ("above.com/marketplace", "Above"),
    ("afternic.com/forsale", "Afternic"),
    ("dan.com/buy-domain", "Dan"),
    ("hugedomains.com/domain_profile", "HugeDomains"),
    ("adsense/domains/caf.js", "an advertiser"),
    ("skenzo.com", "Skenzo"),
    ("namebrightstatic.com", "NameBright"),
    ("parkingpage.namecheap.com", "Namecheap"),
    ("dsultra.com", "Domain Sponsor"),
)
_DOMAIN: Final = r"(?:domain(?: name)?(?: \S{1,60})?|\S{1,60}\.[a-z]{2,12})"
_SALE: Final = Wording(
    (
        "for sale",
        rf"{_DOMAIN} (?:is|may be|might be|could be) (?:available |listed )?for sale|domain (?:name )?for sale",
    ),
    ("purchase", r"domain (?:name )?(?:\S{1,60} )?(?:is|may be) available for purchase"),
    ("this domain", r"(?:buy|own|get|inquire about|interested in|make an offer (?:on|for)) this domain"),
    (
        "parked",
        rf"{_DOMAIN} is parked|parked (?:free|domain)|domain parked",
    ),
    ("registered", r"this domain (?:name )?(?:is|was|has been|has recently been) registered"),
    ("expired", r"(?:this )?domain (?:name )?(?:has )?expired"),
    ("quite cool", r"future home of something quite cool"),
    ("verkauf", r"domain (?:\S{1,60} )?(?:steht|ist) (?:hier )?(?:zum verkauf|zu verkaufen)"),
    ("diese domain", r"diese domain (?:kaufen|erwerben|ist geparkt|wurde (?:registriert|reserviert))"),
    (
        "domaine",
        r"domaine (?:\S{1,60} )?(?:est |peut être )?(?:à vendre|en vente|réservé|parqué)|acheter ce (?:nom de )?domaine",
    ),
    ("dominio", r"dominio (?:\S{1,60} )?(?:está |puede estar )?(?:en venta|a la venta|aparcado)|comprar? este dominio"),
    ("in vendita", r"dominio (?:\S{1,60} )?(?:è |potrebbe essere )?in vendita"),
    ("questo dominio", r"acquista questo dominio"),
    ("domínio", r"domínio (?:\S{1,60} )?(?:está |pode estar )?à venda|comprar? este domínio"),
    ("te koop", r"domein(?:naam)? (?:\S{1,60} )?(?:is |staat )?te koop"),
    ("domeinnaam", r"domeinnaam (?:\S{1,60} )?is (?:geregistreerd|gereserveerd)"),
    ("домен", r"домен\w* (?:\S{1,60} )?(?:прода[её]тся|припаркован|выставлен)|купить (?:этот )?домен"),
    ("ドメイン", r"ドメイン(?:名)?(?:は|を|が)?(?:現在)?(?:売り出し|販売|売却|お売り|購入|取得)"),
    ("域名", r"域名(?:正在|可|可能)?(?:出售|待售|转让|停放)|(?:购买|出售)(?:此|该|这个)?域名"),
)
_DEFAULT: Final = Names(
    r"welcome to (?:nginx|openresty|centos)|apache2? (?:\w+ )?(?:default|test) page"
    r"|test page for (?:the )?(?:apache|nginx)",
    r"iis windows server|iis7$|it works!?$|default (?:web )?(?:site |server |plesk )?page|web server's default page",
    r"domain default page|congratulations! your site is (?:up|live)|website coming soon|site under construction"
    r"|coming soon$",
)


def detect(signals: Signals, extracted: Extracted) -> Caught | None:
    """Detect a parked domain by the mark of a parking service together with its words, or by its words on a short page."""
    if extracted.words >= _MAX_WORDS_WITH_MARK or signals.render_signs.prose >= _MAX_PROSE or signals.is_declared:
        return None
    reason = _by_mark(signals, extracted) or (_by_words(signals) if extracted.words < _MAX_WORDS else None)
    return Caught("parked_domain", reason, SUGGESTION) if reason else None


def _by_mark(signals: Signals, extracted: Extracted) -> str | None:
    is_empty = not extracted.words and signals.render_signs.prose < _SHORT_PAGE
    if is_empty or _SALE.find(signals.text):
        service = signals.find_mark(_MARKS)
        return f"The domain is parked with {service}" if service else None
    return None


def _by_words(signals: Signals) -> str | None:
    is_short = len(signals.text) < _SHORT_PAGE
    if default := _DEFAULT.find(signals.names if is_short else (signals.title,)):
        return f'This is the default page of a web server: "{default}"'
    names_host = signals.host and signals.host.removeprefix("www.") in " ".join(signals.names)
    offer = _SALE.find(" ".join(signals.names)) or (names_host and _SALE.find(signals.text))
    if not offer and is_short:
        offer = _SALE.find(signals.text)
    return f'A short page says "{offer}"' if offer else None
