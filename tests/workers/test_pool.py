"""Children that misbehave cost their own job and nothing else."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from pagekeep.errors import FetchHttpError, ParseError
from pagekeep.workers import Limits, Pool

TASK = "tests.workers.jobs:work"
TIGHT = Limits(cpu_seconds=0.5, wall_seconds=60, megabytes=1_000)


@pytest.fixture
def pool() -> Iterator[Pool]:
    with Pool(TASK, 2, TIGHT) as pool:
        yield pool


def test_answers_come_in_the_order_of_the_jobs(pool: Pool) -> None:
    jobs = [("echo", number) for number in range(100)]
    assert [answer.result for answer in pool.map(jobs, batch=7)] == list(range(100))


def test_work_is_done_in_other_processes_that_live_on(pool: Pool) -> None:
    pids = {answer.result for answer in pool.map([("pid", None)] * 40, batch=5)}
    assert os.getpid() not in pids
    assert len(pids) <= 2


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("loop", "took more than 0.5 s"),
        ("sleep", "took more than 3 s."),
        ("crash", "memory"),
        ("vanish", "was killed"),
        ("eat", "memory"),
    ],
)
def test_a_job_that_kills_its_child_costs_that_job_only(bad: str, said: str) -> None:
    jobs = [("echo", number) for number in range(10)]
    jobs[4] = (bad, None)
    limits = replace(TIGHT, wall_seconds=3) if bad == "sleep" else TIGHT  # a busy machine must not end the others first
    with Pool(TASK, 2, limits) as pool:
        answers = list(pool.map(jobs, batch=10))
    assert isinstance(answers[4].error, ParseError)
    assert said in answers[4].error.message
    assert [answer.result for answer in answers if answer.error is None] == [0, 1, 2, 3, 5, 6, 7, 8, 9]


def test_our_errors_come_back_as_they_were(pool: Pool) -> None:
    with pytest.raises(ParseError) as refused:
        pool.run(("refuse", None))
    assert refused.value.suggestions == ("Look elsewhere.",)
    with pytest.raises(FetchHttpError) as answered:
        pool.run(("status", None))
    assert answered.value.status == 404


def test_printing_does_not_break_the_answers(pool: Pool) -> None:
    assert pool.run(("print", "fine")) == "fine"


def test_many_threads_may_ask_one_pool(pool: Pool) -> None:
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda number: pool.run(("echo", number)), range(50)))
    assert answers == list(range(50))


def test_jobs_are_not_read_far_ahead(pool: Pool) -> None:
    read = 0

    def jobs() -> Iterator[tuple[str, int]]:
        nonlocal read
        for number in range(1_000):
            read += 1
            yield "echo", number

    answers = pool.map(jobs(), batch=5)
    next(answers)
    assert read <= 5 * 2 * 8


def test_nothing_is_left_running_after_it_is_closed() -> None:
    with Pool(TASK, 2, TIGHT) as pool:
        pids = {answer.result for answer in pool.map([("pid", None)] * 20, batch=2)}
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_fault_in_the_work_itself_is_named_and_the_child_lives_on() -> None:
    with Pool(TASK, 1, TIGHT) as pool:
        child = pool.run(("pid", None))
        with pytest.raises(ParseError, match="AssertionError"):
            pool.run(("nothing we know", None))
        assert pool.run(("pid", None)) == child


def test_a_key_press_that_interrupts_the_terminal_does_not_end_the_children() -> None:
    with Pool(TASK, 1, TIGHT) as pool:
        child = pool.run(("pid", None))
        os.kill(child, signal.SIGINT)
        assert pool.run(("pid", None)) == child
