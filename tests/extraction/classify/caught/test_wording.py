from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pagekeep.extraction.classify.caught import no_page, walls
from pagekeep.extraction.classify.caught.signals import Names, Wording

PHRASES = [
    (module.__name__.rpartition(".")[2], stem, pattern)
    for module in (walls, walls, no_page, walls, no_page)
    for wording in vars(module).values()
    if isinstance(wording, Wording)
    for stem, pattern in wording.phrases
]


@pytest.mark.parametrize(
    ("module", "stem", "pattern"), PHRASES, ids=[f"{module}-{stem}" for module, stem, _ in PHRASES]
)
def test_every_match_of_a_phrase_holds_its_stem(module: str, stem: str, pattern: re.Pattern[str]) -> None:
    @settings(database=None, suppress_health_check=list(HealthCheck))
    @given(st.from_regex(pattern.pattern, fullmatch=True))
    def check(phrase: str) -> None:
        assert stem in phrase

    check()


def test_a_phrase_is_found_as_it_is_in_the_text() -> None:
    wording = Wording(("kiln", r"cold kilns?"), ("ash", r"(?:oak|apple) ash"))
    assert wording.find("two cold kilns and apple ash") == "cold kilns"
    assert wording.find("apple ash, no other") == "apple ash"
    assert wording.find("ash of elder in a warm kiln") is None


def test_a_name_counts_only_at_its_beginning() -> None:
    names = Names(r"page not found", r"kaputt$")
    assert names.find(("kiln diary", "page not found | kiln diary")) == "page not found"
    assert names.find(("why a page not found is art", "kaputt or not")) is None
