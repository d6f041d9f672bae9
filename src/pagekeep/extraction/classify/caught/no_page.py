"""Detect that there is no page: an error page sent as a success, a parked domain, or an app's empty shell."""

from __future__ import annotations

from typing import Final

from pagekeep.extraction.classify import browser_need
from pagekeep.extraction.classify.caught.signals import Extracted, Names, Signals, Wording
from pagekeep.model import Caught

SOFT_404_SUGGESTION: Final = "Check the address, or look for the page in a web archive."
SOFT_404_SUGGESTION_LATER: Final = "Try again later."

# Set by hand; tests/extraction/classify/caught/test_labelled_pages.py holds them.
_MAX_SOFT_404_WORDS: Final = 120
"""Extracted words of an error page."""
_MAX_WORDS_WITH_APOLOGY: Final = 400
"""An error page may list a few hundred words of other pages; then it must also state what happened."""

_THING: Final = (
    r"(?:page|article|post|story|document|topic|thread|user|content|file|product|item|video|listing|profile"
    r"|resource|url)"
)
_SOFT_404_NAMES: Final = Names(
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


def detect_soft_404(signals: Signals, extracted: Extracted) -> Caught | None:
    """Detect the error page by its title and headings, and by how little other text it has."""
    if extracted.words >= _MAX_WORDS_WITH_APOLOGY or signals.is_declared:
        return None
    is_short = extracted.words < _MAX_SOFT_404_WORDS
    if is_short and (name := _SERVER.find(signals.names)):
        return Caught("soft_404", f'The page calls itself "{name}"', SOFT_404_SUGGESTION_LATER)
    name = _SOFT_404_NAMES.find(signals.names)
    if name and (is_short or _APOLOGY.find(signals.text)):
        answered = ", though the server answered 200" if signals.status == 200 else ""
        return Caught("soft_404", f'The page calls itself "{name}"{answered}', SOFT_404_SUGGESTION)
    return None


PARKED_DOMAIN_SUGGESTION: Final = "The site is gone: look for the page in a web archive."

# Set by hand; tests/extraction/classify/caught/test_labelled_pages.py holds them.
_MAX_PARKED_DOMAIN_WORDS: Final = 150
"""Extracted words of a parked page that is recognised by its words alone."""
_MAX_WORDS_WITH_MARK: Final = 500
"""Extracted words when it also has the mark of a parking service, which fills pages with links."""
_MAX_PARKED_DOMAIN_PROSE: Final = 4_000
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


def detect_parked_domain(signals: Signals, extracted: Extracted) -> Caught | None:
    """Detect a parked domain by the mark of a parking service together with its words, or by its words on a short page."""
    if (
        extracted.words >= _MAX_WORDS_WITH_MARK
        or signals.render_signs.prose >= _MAX_PARKED_DOMAIN_PROSE
        or signals.is_declared
    ):
        return None
    reason = _by_mark(signals, extracted) or (
        _find_parked_domain_words(signals) if extracted.words < _MAX_PARKED_DOMAIN_WORDS else None
    )
    return Caught("parked_domain", reason, PARKED_DOMAIN_SUGGESTION) if reason else None


def _by_mark(signals: Signals, extracted: Extracted) -> str | None:
    is_empty = not extracted.words and signals.render_signs.prose < _SHORT_PAGE
    if is_empty or _SALE.find(signals.text):
        service = signals.find_mark(_MARKS)
        return f"The domain is parked with {service}" if service else None
    return None


def _find_parked_domain_words(signals: Signals) -> str | None:
    is_short = len(signals.text) < _SHORT_PAGE
    if default := _DEFAULT.find(signals.names if is_short else (signals.title,)):
        return f'This is the default page of a web server: "{default}"'
    names_host = signals.host and signals.host.removeprefix("www.") in " ".join(signals.names)
    offer = _SALE.find(" ".join(signals.names)) or (names_host and _SALE.find(signals.text))
    if not offer and is_short:
        offer = _SALE.find(signals.text)
    return f'A short page says "{offer}"' if offer else None


EMPTY_SHELL_SUGGESTION: Final = "Retry with the browser."

_MAX_EMPTY_SHELL_WORDS: Final = 40
"""A page with more words may be a short one with a widget: worth a browser, but not to be discarded."""
_MAX_CHROME_WORDS: Final = 200
"""The same when all words are in the header, the footer or a cookie notice."""


def detect_empty_shell(signals: Signals, extracted: Extracted) -> Caught | None:
    """Detect the shell when a browser is needed and hardly any text was extracted."""
    if extracted.words >= (_MAX_EMPTY_SHELL_WORDS if signals.render_signs.filled else _MAX_CHROME_WORDS):
        return None
    need = browser_need.need_render(signals.render_signs, extracted.text, extracted.words, extracted.strategy)
    return Caught("empty_shell", need.reason, EMPTY_SHELL_SUGGESTION) if need else None
