"""A few deliveries with kills; `make hostile` runs a thousand with fifty."""

from __future__ import annotations

from tests.hostile.sink_kills import attack


def test_nothing_is_lost_or_doubled_when_sinks_fail_and_processes_are_killed() -> None:
    found, run = attack(24, 2, share=0.2)
    assert found == []
    assert run.arrived() >= 24
    assert sum(run.kills.values()) == 2
