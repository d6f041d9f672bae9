"""The server against bad requests and slow clients, in small counts; `make hostile` has the full ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.hostile import server_connections, server_sign_in, server_slow, server_streams


def test_no_request_ends_in_a_fault_of_the_server() -> None:
    command = [sys.executable, "-m", "tests.hostile.server_fuzz", "3"]  # apart: the tool leaves connections open
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ran = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], env=environ)
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert "no fault of the server" in ran.stdout


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
