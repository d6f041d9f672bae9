"""The server against bad requests and slow clients, in small counts; `make hostile` has the full ones."""

from __future__ import annotations

from pathlib import Path

from tests.hostile import server_fuzz, server_slow


def test_no_request_ends_in_a_fault_of_the_server(tmp_path: Path) -> None:
    assert server_fuzz.fuzz(tmp_path, 3) > 30


def test_others_are_answered_while_many_dawdle(tmp_path: Path) -> None:
    alone, among = server_slow.compare(tmp_path, 60)
    assert alone > 0
    assert among > 0
