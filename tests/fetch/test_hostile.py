"""The scripts of `tests/hostile`, with fewer runs. `make hostile` runs them in full."""

from __future__ import annotations

import sys

import pytest

from tests.hostile import fetch_addresses, fetch_bombs, fetch_rebinding, fetch_slow


def test_every_forbidden_form_is_refused_by_every_way_in() -> None:
    assert fetch_addresses.run() == []


def test_a_name_server_that_changes_its_answers_gets_no_request_inside() -> None:
    assert fetch_rebinding.run(12) == []


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_bombs_cost_no_more_memory_than_the_bound() -> None:
    assert fetch_bombs.run(200, ("br", "gzip,zstd")) == []


def test_slow_servers_are_ended_and_delay_no_other_request() -> None:
    assert fetch_slow.run(1.5) == []
