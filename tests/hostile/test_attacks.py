"""Attacks on a running server beside readers, in small counts; `make hostile` has the full ones, with times."""

from __future__ import annotations

from tests.hostile import attack_table
from tests.hostile.attack_table import Phases


def test_readers_see_no_error_and_memory_is_bounded_under_attack() -> None:
    rows = ("selection", "unfinished")
    outcomes = attack_table.run(rows, Phases(1, 0.4, 20), readers=4, connections=2, pause=0.1)
    assert [outcome.row for outcome in outcomes] == list(rows)
    assert {outcome.row: outcome.faults(timed=False) for outcome in outcomes} == {row: [] for row in rows}
    assert all(outcome.answers.total() for outcome in outcomes)
