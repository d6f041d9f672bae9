"""The forest: how its data is read and walked."""

from __future__ import annotations

from pathlib import Path

import pytest

from pagekeep.extraction.prune.judge import forest, forest_data
from pagekeep.extraction.prune.judge.features import NAMES

CHARS = NAMES.index("chars")
LINKED = NAMES.index("linked")
TREES = (f"{CHARS}:100:0 -800 {LINKED}:500:400 900 -300", "50")


def _row(**values: int) -> list[int]:
    row = [0] * len(NAMES)
    for name, value in values.items():
        row[NAMES.index(name)] = value
    return row


def _read(trees: tuple[str, ...] = TREES) -> forest.Forest:
    return forest.read_forest(" ".join(NAMES), "story:120 promo:-80", "more:-40", trees)


@pytest.mark.parametrize(
    ("row", "score"),
    [
        (_row(chars=100), -800 + 50),
        (_row(chars=101, linked=500), 900 + 50),
        (_row(chars=101, linked=501), -300 + 50),
    ],
)
def test_a_row_goes_left_up_to_the_threshold(row: list[int], score: int) -> None:
    assert _read().score(row) == score


def test_contributions_add_up_to_the_way_through_the_trees() -> None:
    assert _read().contributions(_row(chars=101, linked=501)) == {CHARS: 400, LINKED: -700}


def test_a_block_that_is_surely_content_needs_only_the_first_trees() -> None:
    trees = ("600", "600", *["0"] * 18, "-5000")
    assert _read(trees).score(_row()) == 1200
    assert _read(("600", *["0"] * 19, "-5000")).score(_row()) == -4400


def test_words_have_their_odds() -> None:
    assert _read().lexicon.names == {"story": 120, "promo": -80}
    assert _read().lexicon.words == {"more": -40}


def test_data_made_for_other_features_is_refused() -> None:
    with pytest.raises(ValueError, match="make judge"):
        forest.read_forest("chars linked", "", "", ())


def test_the_shipped_data_is_small_and_says_where_it_came_from() -> None:
    assert Path(forest_data.__file__).stat().st_size < 500_000
    assert '"pages"' in forest_data.PROVENANCE
    assert len(forest.shipped().roots) == len(forest_data.TREES) > 20
