"""Articles over several pages: find the links of a page to the rest of its article. Pure: nothing is fetched.

A link leads to the next page only if its address has the stem of the page's own with a number one higher, and its label is
that of a link between pages. `rel=next` is at most a label: on 42 articles and manuals of a corpus that have it, it never
leads to page 2 of the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.urls import Resolve, make_resolver
from pagekeep.extraction.pages.addresses import Numbered, Place, path_words
from pagekeep.model import Page
from pagekeep.model.page import Continuation, PageLink

__all__ = [
    "MAX_LABEL_CHARS",
    "MIN_WORDS",
    "find",
    "is_page_list",
    "leads_on",
    "may_continue",
    "shown_number",
    "shows_all",
    "squeeze",
]


MIN_WORDS: Final = 60
"""An article that is split has more on its first page; a picture in a gallery has less."""
_MAX_LINKS: Final = 2_000
"""With the number of the next page in their address, or of all links when one was found."""
_MAX_NEAR: Final = 100
"""Links with the name of the article and the number of its next page that are read; articles have a few."""
_MAX_SINGLE: Final = 3
"""Pages that may have all of the article and are tried."""
_MAX_LEVELS: Final = 12
"""Elements above a link that are looked at."""
_MIN_ID_CHARS: Final = 4
"""Shorter numbers and values are in too many addresses to identify an article."""
_DIGITS: Final = re.compile(r"\d+")
_UNQUOTABLE: Final = frozenset('"\\\n\r\f')
"""Characters that cannot be in the name of an article within a selector."""

_LISTS: Final = frozenset(
    "blog blogs news articles posts latest stories archive archives home start tag tags category categories kategorie topic "
    "topics author authors search suche recherche buscar feed all videos events jobs reviews".split()
)
"""Last segments of addresses whose pages are lists."""
_NOT_ARTICLES: Final = frozenset(
    "tag tags category categories kategorie author authors search suche recherche forum forums thread threads topic viewtopic "
    "viewtopic.php showthread showthread.php discussion discussions comments comment product products shop cart "
    "gallery galleries galerie galerien photos photo pictures bilder bildergalerie fotostrecke fotos diaporama slideshow "
    "slideshows slides album albums".split()
)
"""Segments of addresses of lists, threads, galleries and products."""
_GALLERY_ENDINGS: Final = ("-gallery", "-photos", "-pictures", "-slideshow", "-in-pictures", "-fotostrecke", "-bilder")
_LIST_PARAMETERS: Final = frozenset(
    "q s query search keyword keywords sort order filter cat category tag cpage".split()
)
_OTHER_PARTS: Final = frozenset(
    "comment comments commentlist discussion replies reviews gallery slideshow slider slides slide carousel lightbox related "
    "recommended teaser teasers thread forum posts products listing widget".split()
)
"""Names of containers whose pages are not those of the article."""


def may_continue(page: Page) -> bool:
    """Return whether a page may be the first of an article over several pages, by its kind and content."""
    if page.kind != "article" or page.quality.level not in ("article", "simplified") or page.word_count < MIN_WORDS:
        return False
    return all(check.passed for check in page.quality.checks if check.name == "link_density")


def _may_be_article(url: str) -> bool:
    """Return whether an address may be that of an article, rather than of a list, a thread, a gallery or a product."""
    segments, parameters = path_words(url)
    if not segments or segments[-1] in _LISTS or not _LIST_PARAMETERS.isdisjoint(parameters):
        return False
    return _NOT_ARTICLES.isdisjoint(segments) and not segments[-1].endswith(_GALLERY_ENDINGS)


def find(document: dom.Document, url: str | None, base: str | None, number: int | None) -> Continuation | None:
    """Return the links of a page to the rest of its article, or `None`.

    `number` is that of the page in its article; `None` finds nothing. Cheap, as every fetched page is asked: only links with
    the number of the next page in their address are looked at.
    """
    place = Place.of(url, number) if url and number else None
    if place is None or (number == 1 and not _may_be_article(place.url)):
        return None
    links = _select(document, place)
    resolve = make_resolver(base or url)
    found = _find_next(links, place, resolve) if links else None
    if found is None:
        return None
    single = () if number != 1 else tuple(_find_single(document, place.url, resolve))[:_MAX_SINGLE]
    return Continuation(found, single)


def _select(document: dom.Document, place: Place) -> list[dom.Element]:
    """Return the links that may lead to the next page: with its number, and the name of the article or a relative address."""
    parts = ["link[rel~=next]", 'a[href^="?"]']
    if place.name and not _UNQUOTABLE & {*place.name}:
        parts.append(f'a[href*="{place.name}"]')
    numbers = place.next_numbers
    if place.is_folder:
        relative = (number for number in numbers if number.isdigit())
        parts += [f'a[href*="{number}"]:not([href^="/"]):not([href^="http"]):not([href^="#"])' for number in relative]
    links = dom.select(document, ", ".join(parts))[:_MAX_LINKS]
    return [link for link in links if _has_number(link, numbers)][:_MAX_NEAR]


def _has_number(link: dom.Element, numbers: tuple[str, ...]) -> bool:
    """Return whether one of the numbers is in the address of a link, not only its digits in another number."""
    href = str(link.attr("href") or "")
    whole = _DIGITS.findall(href)
    return any(number in href and number.lstrip("=") in whole for number in numbers)


def _find_next(links: list[dom.Element], place: Place, resolve: Resolve) -> PageLink | None:
    """Return the first link to the next page; none between the pages of a list, or of comments, to the same address."""
    found: list[PageLink] = []
    elsewhere, others = set[str](), set[str]()
    for link in links:
        attributes = dom.attributes(link)
        href = attributes.get("href", "")
        if href in others:
            continue
        target = None if _is_place(href) else resolve(href.partition("#")[0])
        reading = place.read_next(target) if target else None
        if target is None or reading is None:
            others.add(href)
            continue
        label = _label(link, attributes) if link.tag == "a" else ""
        if link.tag == "a" and _is_elsewhere(link):
            elsewhere.add(target)
        elif reason := _why(link, label, reading):
            found.append(PageLink(target, reason, reading.page))
    return next((one for one in found if one.url not in elsewhere), None)


def _why(link: dom.Element, label: str, reading: Numbered) -> str:
    """Return why a link with the address of the next page is one; empty when its label says something else."""
    style = f"the address has the page number as `{reading.style}`"
    if link.tag == "link":
        # The next post of a blog may have the same title, and then `-2` at the end of its address.
        return f"{style}, and the page names it as the next one" if reading.is_named or reading.style[0] == "/" else ""
    return f"{style}, and the link is labelled `{label}`" if leads_on(label, reading.page) else ""


def _label(link: dom.Element, attributes: dict[str, str]) -> str:
    text = squeeze(dom.text_of(link))
    if any(char.isalnum() for char in text):
        return text
    named = attributes.get("aria-label") or attributes.get("title") or ""
    return squeeze(named) or text


def _is_place(href: str) -> bool:
    """Return whether an address leads to the comments of a page, or to a place in the same page."""
    fragment = href.partition("#")[2].lower()
    return href.startswith("#") or "comment" in fragment or "respond" in fragment or "disqus" in fragment


def _is_elsewhere(link: dom.Element) -> bool:
    """Return whether the link is between the pages of comments, a gallery or a list."""
    node, levels = link.parent, 0
    while (
        isinstance(node, dom.Element) and node.tag not in ("body", "html", "main", "article") and levels < _MAX_LEVELS
    ):
        attributes = dom.attributes(node)
        names = f"{attributes.get('class', '')} {attributes.get('id', '')}".lower().replace("-", " ").replace("_", " ")
        if not _OTHER_PARTS.isdisjoint(names.split()):
            return True
        node, levels = node.parent, levels + 1
    return False


def _find_single(document: dom.Document, url: str, resolve: Resolve) -> Iterator[PageLink]:
    """Yield the links to pages of the same site that may have all of the article."""
    host, own = urls.domain(url), url.partition("#")[0]
    seen = {own}
    for link in dom.tagged(document, ("a",))[:_MAX_LINKS]:
        attributes = dom.attributes(link)
        href = attributes.get("href", "").partition("#")[0]
        if not href or href.lower().startswith(("javascript:", "mailto:")):
            continue
        label = " ".join(filter(None, (_label(link, attributes), squeeze(attributes.get("title", "")))))
        if not shows_all(label):
            continue
        target = resolve(href)
        if target and target not in seen and urls.domain(target) == host and _is_related(target, url):
            seen.add(target)
            yield PageLink(target, f"the link is labelled `{label[:MAX_LABEL_CHARS]}`")


def _is_related(target: str, url: str) -> bool:
    """Return whether an address shares the name of the article, or what else identifies it in its address."""
    segments, _ = path_words(url)
    name = next((segment for segment in reversed(segments) if len(segment) > 3 and not segment.isdigit()), "")
    ids = {part for segment in segments for part in _digits(segment) if len(part) >= _MIN_ID_CHARS}
    values = {entry.partition("=")[2].lower() for entry in url.partition("?")[2].split("&")}
    known = {name, *ids, *(value for value in values if len(value) >= _MIN_ID_CHARS)} - {""}
    return any(one in target.lower() for one in known)


def _digits(text: str) -> list[str]:
    return "".join(char if char.isdigit() else " " for char in text).split()


MAX_LABEL_CHARS: Final = 80
"""A longer text is that of a teaser, not of a link between pages."""

_PAGE: Final = frozenset(
    "page pages pg p pag pagina página pagine páginas seite seiten sivu sida side strona strony strana stranica oldal sayfa "
    "halaman trang страница стр 页 頁 ページ".split()
)
_NEXT: Final = frozenset(
    "next nextpage continue continued more weiter weiterlesen nächste naechste folgende suivant suivante suite siguiente "
    "continuar seguir próxima proxima próximo seguinte avanti successiva successivo prossima continua volgende verder "
    "nästa neste næste seuraava następna następny dalej další dále következő sonraki devam berikutnya selanjutnya tiếp "
    "далее следующая вперед 下一页 下一頁 次へ 次のページ 다음".split()
)
_FILLER: Final = frozenset(
    "to the on of reading this article story go zum zur auf der die des lesen à la le de del al lire leer a di pagina's "
    "read continue this › » → > ›› >> -> ▶ ► ⟩ … / | - – — : ( ) von sur de of".split()
)
_ARROWS: Final = frozenset("› » → > ›› >> -> ▶ ► ⟩ ❯ ⇒ ⟶".split())
_OTHER_WORKS: Final = frozenset(
    "article articles post posts story stories entry chapter lesson episode issue photo picture image slide gallery video "
    "comment comments reply replies result results topic thread product item artikel beitrag bild kapitel".split()
)
"""What "next" may also mean; "continue reading this article" is still about the same one."""

_BACK: Final = frozenset(
    "previous prev back first last zurück vorherige précédent anterior precedente vorige « ‹ ← < << …".split()
)

_SINGLE: Final = (
    *(
        "single page",
        "singlepage",
        "one page",
        "full article",
        "full story",
        "entire article",
        "whole article",
        "view all",
    ),
    *("show all", "view as single", "read all", "all pages", "print", "printer friendly", "printer-friendly"),
    *(
        "auf einer seite",
        "alles auf einer",
        "druckversion",
        "drucken",
        "druckansicht",
        "ganzer artikel",
        "gesamter artikel",
    ),
    *("sur une page", "une seule page", "imprimer", "version imprimable", "una sola página", "una pagina", "imprimir"),
    *(
        "stampa",
        "versione stampabile",
        "op één pagina",
        "afdrukken",
        "skriv ut",
        "na jednej stronie",
        "drukuj",
        "версия для печати",
    ),
)
_MAX_SINGLE_WORDS: Final = 5
"""Words of a block that is only a link to all of an article; a sentence about printing has more."""
_NOT_SINGLE: Final = (
    "comment",
    "photo",
    "image",
    "picture",
    "video",
    "review",
    "product",
    "result",
    "topic",
    "subscri",
    "edition",
)


def squeeze(text: str) -> str:
    """Return the label in lower case, with single spaces; empty when it is too long to be one."""
    label = " ".join(text[: 4 * MAX_LABEL_CHARS].split()).lower()
    return label if len(label) <= MAX_LABEL_CHARS else ""


def shown_number(label: str) -> int | None:
    """Return the number that a label shows as the page it leads to: `2`, `page 2`, `2 / 5`, `[2]`."""
    words = _words(label)
    if words and words[0] in _PAGE:
        words = words[1:]
    if not words or not (words[0].isascii() and words[0].isdigit() and len(words[0]) <= 2):
        return None
    rest = [word for word in words[1:] if not word.isdigit() and word not in _FILLER and word not in _PAGE]
    return None if rest else int(words[0])


def leads_on(label: str, number: int) -> bool:
    """Return whether a label says that the link leads to the page with this number of the same text."""
    if not label:
        return False
    shown = shown_number(label)
    if shown is not None:
        return shown == number
    words = _words(label)
    if len(words) > 1 and words[0] in _PAGE and words[1] == str(number):
        return True  # `Page 2: The engine`
    kinds = {_kind(word) for word in words}
    if "other" in kinds or not kinds & {"next", "arrow"}:
        return False
    others = [word for word in words if word in _OTHER_WORKS]
    return not others or ("reading" in words or "read" in words or "lesen" in words)


def is_page_list(text: str) -> bool:
    """Return whether a block of text only leads to other pages: `Page 1 2 3 Next`, `Next page »`."""
    label = squeeze(text)
    words = _words(label)
    if len(words) <= _MAX_SINGLE_WORDS and shows_all(label):
        return True
    if not words or any(_kind(word) == "other" and word not in _BACK for word in words):
        return False
    numbers = [word for word in words if word.isdigit()]
    return len(numbers) > 1 or any(word in _NEXT or word in _PAGE for word in words)


def shows_all(label: str) -> bool:
    """Return whether a label says that the link leads to all of the article on one page, or to its print view."""
    return any(phrase in label for phrase in _SINGLE) and not any(word in label for word in _NOT_SINGLE)


def _words(label: str) -> list[str]:
    spaced = "".join(f" {char} " if char in "/|:()[]›»→>▶►⟩❯⇒⟶…–—«‹←" else char for char in label)
    return [word.strip(".,!#") for word in spaced.split() if word.strip(".,!#[]()")]


def _kind(word: str) -> Literal["next", "arrow", "plain", "other"]:
    if word in _NEXT:
        return "next"
    if word in _ARROWS:
        return "arrow"
    known = word in _PAGE or word in _FILLER or word in _OTHER_WORKS or word.isdigit()
    return "plain" if known else "other"
