"""One task in its own process."""

from __future__ import annotations

import os

import pytest

from pagekeep.errors import ParseError, TooLarge
from pagekeep.workers import Limits, run_alone
from tests.workers.jobs import Call


def test_a_task_runs_in_another_process_and_gives_way_to_others() -> None:
    pid, nice, threads = run_alone(Call("pid"))  # type: ignore[misc]
    assert pid != os.getpid()
    assert nice >= os.nice(0) + 10 or nice == 19
    assert threads == 1


def test_its_process_ends_with_it() -> None:
    pid, *_ = run_alone(Call("pid"))  # type: ignore[misc]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_its_error_is_raised() -> None:
    with pytest.raises(ParseError, match="cannot be read") as caught:
        run_alone(Call("fail"))
    assert caught.value.suggestions == ("Try another.",)


@pytest.mark.parametrize(
    ("action", "message"),
    [("loop", "more than 0.2 s of CPU time"), ("fill", "too much memory"), ("die", "was killed")],
)
def test_it_has_the_limits_of_a_room(action: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        run_alone(Call(action), Limits(cpu_seconds=0.2, megabytes=1_000))


def test_a_large_task_or_result_is_refused() -> None:
    with pytest.raises(TooLarge, match="page"):
        run_alone(Call("a" * 1_000), Limits(input_bytes=1_000))
    with pytest.raises(TooLarge, match="result"):
        run_alone(Call("pid"), Limits(result_bytes=1))
