"""Read the label of a link: whether it leads to another page of the same article, or to all of it on one page."""

from __future__ import annotations

from typing import Final, Literal

MAX_CHARS: Final = 80
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
    label = " ".join(text[: 4 * MAX_CHARS].split()).lower()
    return label if len(label) <= MAX_CHARS else ""


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
