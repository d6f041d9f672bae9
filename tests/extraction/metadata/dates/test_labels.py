from __future__ import annotations

import pytest

from pagekeep.extraction.metadata.dates.anywhere import mentions_other_day, mentions_publication, mentions_update


@pytest.mark.parametrize(
    "text",
    [
        "Published on",
        "Veröffentlicht am",
        "Publié le",
        "发布时间：",
        "Posted by Ann on",
        "Datum:",
        "掲載日",
        "Опубликовано",
    ],
)
def test_words_about_the_publication(text: str) -> None:
    assert mentions_publication(text)
    assert not mentions_update(text)


@pytest.mark.parametrize(
    "text", ["Last updated", "Aktualisiert:", "Letzte Änderung", "Mis à jour le", "更新时间：", "last edited"]
)
def test_words_about_a_change(text: str) -> None:
    assert mentions_update(text)


@pytest.mark.parametrize("text", ["\u00a9", "Copyright", "Member since", "Sale ends", "abgerufen am", "版权所有"])
def test_words_about_another_day(text: str) -> None:
    assert mentions_other_day(text)


@pytest.mark.parametrize("text", ["Ann Lee", "Revista", "Bern,", "4 min read"])
def test_other_words(text: str) -> None:
    assert not mentions_publication(text)
    assert not mentions_update(text)
    assert not mentions_other_day(text)
