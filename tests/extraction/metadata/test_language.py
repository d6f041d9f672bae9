from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.extraction import metadata

GERMAN = (
    "Am frühen Morgen öffnet die Bäckerin ihren kleinen Laden am Marktplatz und stellt die warmen Brote ins Fenster. "
    "Die Nachbarn kommen mit Körben vorbei, erzählen sich Neuigkeiten und bleiben oft länger stehen, als sie wollten. "
    "Gegen Mittag ist fast alles verkauft, und sie setzt sich mit einer Tasse Kaffee auf die Bank vor der Tür. "
    "Dann zählt sie das Geld, schreibt die Bestellungen für den nächsten Tag auf und fegt den Boden."
)
PORTUGUESE = (
    "De manhã cedo a padeira abre a sua pequena loja na praça e coloca os pães quentes na janela. Os vizinhos "
    "chegam com cestas, contam novidades e ficam muitas vezes mais tempo do que queriam. Ao meio-dia quase tudo já "
    "foi vendido, e ela se senta com uma xícara de café no banco em frente à porta. Depois conta o dinheiro, varre o "
    "chão da loja e anota as encomendas do dia seguinte, enquanto as crianças jogam bola debaixo das árvores."
)


def test_long_text_outweighs_a_wrong_declaration() -> None:
    assert metadata.detect_language(dom.parse('<html lang="en-US">'), GERMAN) == ("de", "text")


def test_region_of_the_declaration_is_kept_when_the_text_agrees() -> None:
    assert metadata.detect_language(dom.parse('<html lang="pt-BR">'), PORTUGUESE) == ("pt-br", "declared")


def test_short_text_does_not_outweigh_the_declaration() -> None:
    assert metadata.detect_language(
        dom.parse('<html lang="fr">'), "The quick brown fox jumps over the lazy dog again."
    ) == (
        "fr",
        "declared",
    )


def test_text_without_declaration_is_enough() -> None:
    assert metadata.detect_language(dom.parse("<p>"), GERMAN[:110])[0] == "de"


def test_few_ideographs_are_enough() -> None:
    text = "老面包师在日出前打开店门，把热面包卖给邻居们，然后坐在门口喝茶。"
    assert metadata.detect_language(dom.parse("<p>"), text)[0] == "zh"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ('<html lang="EN_us">', "en-us"),
        ('<html lang="zh-Hant-TW">', "zh-tw"),
        ('<html lang="iw">', "he"),
        ('<meta http-equiv="Content-Language" content="de, en">', "de"),
        ('<meta property="og:locale" content="es_ES">', "es-es"),
        ('<html lang=""><meta property="og:locale" content="it_IT">', "it-it"),
    ],
)
def test_declarations_are_read_in_their_many_forms(head: str, expected: str) -> None:
    assert metadata.detect_language(dom.parse(head), "") == (expected, "declared")


@pytest.mark.parametrize(
    "head", ["<html>", '<html lang="english">', '<html lang="{{ lang }}">', '<html lang="\ud800">']
)
def test_page_that_says_nothing_has_no_language(head: str) -> None:
    assert metadata.detect_language(dom.parse(head), "12 34") == (None, "none")


def test_text_that_cannot_be_encoded_is_survived() -> None:
    assert metadata.detect_language(dom.parse("<p>"), "\ud800" + GERMAN)[0] == "de"


ENGLISH_WORDS = (
    "Settings, default values and options of the command line: timeout, retry count, cache folder, log level, output format. "
    "Open source software on the desktop: editor, browser, terminal, package manager, window manager, file server. "
)


def test_declaration_wins_over_a_guess_that_is_not_certain() -> None:
    mixed = ENGLISH_WORDS + PORTUGUESE[:250]
    assert metadata.detect_language(dom.parse('<html lang="pt">'), mixed) == ("pt", "declared")


def test_both_halves_of_the_text_must_contradict_the_declaration() -> None:
    assert metadata.detect_language(dom.parse('<html lang="de">'), PORTUGUESE + GERMAN) == ("de", "declared")
    assert metadata.detect_language(dom.parse('<html lang="de">'), PORTUGUESE * 2) == ("pt", "text")


def test_fifty_words_are_too_few_to_contradict_the_declaration() -> None:
    fifty = " ".join(PORTUGUESE.split()[:50])
    assert metadata.detect_language(dom.parse('<html lang="de">'), fifty) == ("de", "declared")
    assert metadata.detect_language(dom.parse('<html lang="de">'), PORTUGUESE) == ("pt", "text")
