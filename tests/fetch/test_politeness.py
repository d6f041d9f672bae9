from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pagekeep import FetchHttpError
from pagekeep.fetch.politeness import MAX_HOSTS, MAX_WAIT_SECONDS, HostLimits, backoff, retry_after


async def _visit(hosts: HostLimits, host: str, *, spaced: bool = True, patience: float = 15) -> None:
    async with hosts.slot(host, spaced=spaced, max_wait=patience):
        pass


def test_fetches_from_one_host_begin_the_delay_apart(clock: Any, run: Any) -> None:
    hosts = HostLimits(8, 2.0, clock)

    async def visits() -> None:
        for _ in range(3):
            await _visit(hosts, "a.example")

    run(visits())
    assert clock.slept == [2.0, 2.0]


def test_hosts_do_not_wait_for_each_other(clock: Any, run: Any) -> None:
    hosts = HostLimits(1, 60.0, clock)
    run(_visit(hosts, "a.example"))
    run(_visit(hosts, "b.example"))
    assert clock.slept == []


def test_a_redirect_within_the_host_does_not_wait(clock: Any, run: Any) -> None:
    hosts = HostLimits(1, 60.0, clock)
    run(_visit(hosts, "a.example"))
    run(_visit(hosts, "a.example", spaced=False))
    assert clock.slept == []


def test_no_more_than_this_many_at_once(clock: Any, run: Any) -> None:
    hosts = HostLimits(3, 0.0, clock)
    inside: list[int] = []
    most = 0

    async def visit() -> None:
        nonlocal most
        async with hosts.slot("a.example", spaced=True, max_wait=15):
            inside.append(1)
            most = max(most, len(inside))
            await asyncio.sleep(0)
            inside.pop()

    async def all_at_once() -> None:
        await asyncio.gather(*(visit() for _ in range(20)))

    run(all_at_once())
    assert most == 3


def test_a_resting_host_is_waited_for_when_the_rest_is_short(clock: Any, run: Any) -> None:
    hosts = HostLimits(1, 0.0, clock)
    hosts.hold("a.example", 5)
    run(_visit(hosts, "a.example"))
    assert clock.slept == [5.0]


def test_a_resting_host_is_not_asked_when_the_rest_is_long(clock: Any, run: Any) -> None:
    hosts = HostLimits(1, 0.0, clock)
    hosts.hold("a.example", 50)
    with pytest.raises(FetchHttpError) as caught:
        run(_visit(hosts, "a.example"))
    assert caught.value.status == 429
    assert "50 seconds" in caught.value.suggestions[0]
    run(_visit(hosts, "b.example"))


def test_a_seat_is_given_back_after_an_error(clock: Any, run: Any) -> None:
    hosts = HostLimits(1, 0.0, clock)

    async def fail() -> None:
        async with hosts.slot("a.example", spaced=True, max_wait=15):
            raise KeyError

    for _ in range(2):
        with pytest.raises(KeyError):
            run(fail())
    run(_visit(hosts, "a.example"))


def test_idle_hosts_are_forgotten_and_resting_ones_are_not(clock: Any, run: Any) -> None:
    hosts = HostLimits(1, 0.0, clock)
    hosts.hold("resting.example", 1000)

    async def visits() -> None:
        for number in range(MAX_HOSTS * 2):
            await _visit(hosts, f"h{number}.example")

    run(visits())
    assert len(hosts._hosts) <= MAX_HOSTS + 1
    with pytest.raises(FetchHttpError):
        run(_visit(hosts, "resting.example"))


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120.0),
        ("0", 0.0),
        ("99999999999999999999", MAX_WAIT_SECONDS),
        ("Sun, 15 Jun 2025 15:28:00 GMT", 280.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("Mon, 99 Foo 2025 99:99:99 GMT", None),
    ],
)
def test_retry_after_is_read_in_both_forms(header: str, seconds: float | None, clock: Any) -> None:
    assert retry_after({"retry-after": header}, clock) == seconds


def test_pauses_grow_and_differ() -> None:
    first = {backoff(0) for _ in range(50)}
    third = {backoff(2) for _ in range(50)}
    assert len(first) > 40
    assert max(first) < min(third) * 1.5
    assert min(first) >= 0.25
    assert max(third) <= 3.0
