"""The server against bad requests and slow clients, in small counts; `make hostile` has the full ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile import server_connections, server_sign_in, server_slow, server_streams

_ONE_LIBRARY_FOR_ALL = """
import sys
from pagekeep.doors.http.open_libraries import OpenLibraries
from tests.hostile import server_two_users

take, users = OpenLibraries._take, []
OpenLibraries._take = lambda self, user: take(self, users.append(user) or users[0])  # Ada asks first
sys.exit(server_two_users.main(["8", "--engine", "sqlite", "--only", "/api/v1/items/{item_id}/annotations"]))
"""


def run_apart(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in its own process: schemathesis leaves connections open."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=Path(__file__).parents[2], env=environ
    )


def test_no_request_ends_in_a_fault_of_the_server() -> None:
    ran = run_apart("-m", "tests.hostile.server_fuzz", "1")
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert "no fault of the server" in ran.stdout


@pytest.mark.parametrize("only", ["/api/v1/items", pytest.param("", marks=pytest.mark.full)])
def test_no_request_of_one_user_shows_or_changes_what_another_has(only: str) -> None:
    ran = run_apart("-m", "tests.hostile.server_two_users", "1", "--engine", "sqlite", "--only", only)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
    assert " 0 faults" in ran.stdout


def test_words_and_rows_of_another_user_would_be_noticed() -> None:
    ran = run_apart("-c", _ONE_LIBRARY_FOR_ALL)
    assert ran.returncode > 0, ran.stderr[-3000:]
    assert "Ada's words" in ran.stdout
    assert "a row of Ada's changed" in ran.stdout


def test_others_are_answered_while_many_dawdle(tmp_path: Path) -> None:
    alone, among = server_slow.compare(tmp_path, 60)
    assert alone > 0
    assert among > 0


def test_few_of_many_guesses_at_a_password_are_tried_and_readers_are_served_meanwhile() -> None:
    assert server_sign_in.run(40) == []


def test_readers_sign_in_list_read_and_save_beside_hostile_connections(tmp_path: Path) -> None:
    counts, _ = server_connections.run(tmp_path, 60, 2, readers=6)
    assert counts.errors == counts.faults == []
    assert min(counts.answers[name] for name in ("sign-in", "list", "read", "save")) > 0


def test_streams_of_one_user_leave_connections_to_others(tmp_path: Path) -> None:
    assert server_streams.faults_of(server_streams.run(tmp_path, 40), 40) == []
