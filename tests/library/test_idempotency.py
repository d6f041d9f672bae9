"""Requests that are done once."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from pagekeep import clock
from pagekeep.errors import Conflict, NotFound
from pagekeep.library.saving import idempotency as module
from pagekeep.library.saving.idempotency import request_fingerprint, run_once
from pagekeep.store import Store


def test_requests_are_distinguished_whatever_the_order_of_their_keys() -> None:
    assert (
        request_fingerprint({"a": 1, "b": [2]})
        == request_fingerprint({"b": [2], "a": 1})
        != request_fingerprint({"a": 1, "b": [3]})
    )


def test_a_key_is_done_once_and_without_one_each_time(library: Store) -> None:
    done: list[int] = []

    async def do() -> dict[str, Any]:
        done.append(1)
        return {"number": len(done)}

    async def run() -> list[Any]:
        return [await run_once(key, {"x": 1}, library, do) for key in ("k", "k", None, None)]

    assert asyncio.run(run()) == [{"number": 1}, {"number": 1}, {"number": 2}, {"number": 3}]


def test_the_same_key_at_the_same_time_is_refused_and_not_done_twice(library: Store) -> None:
    async def run() -> None:
        going, end = asyncio.Event(), asyncio.Event()

        async def slow() -> dict[str, Any]:
            going.set()
            await end.wait()
            return {}

        first = asyncio.ensure_future(run_once("k", {}, library, slow))
        await going.wait()
        with pytest.raises(Conflict, match="still running"):
            await run_once("k", {}, library, slow)
        end.set()
        await first

    asyncio.run(run())


def test_what_failed_may_be_asked_for_again(library: Store) -> None:
    async def fail() -> dict[str, Any]:
        raise NotFound("Not there.")

    async def work() -> dict[str, Any]:
        return {"good": True}

    with pytest.raises(NotFound):
        asyncio.run(run_once("k", {}, library, fail))
    assert asyncio.run(run_once("k", {}, library, work)) == {"good": True}


def test_a_key_whose_server_was_killed_may_be_used_again_a_few_minutes_later(library: Store) -> None:
    async def work() -> dict[str, Any]:
        return {"good": True}

    request, then = request_fingerprint({}), clock.add_seconds(clock.now(), -module.CLAIM_SECONDS - 1)
    library.idempotency.claim("k", request, then, "", "")
    assert asyncio.run(run_once("k", {}, library, work)) == {"good": True}


def test_a_request_that_takes_longer_than_a_claim_lasts_keeps_it(
    library: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, renewals = clock.now(), 0

    async def wait(claim: module._Claim, seconds: float) -> bool:
        """Let the time between two renewals pass at once."""
        nonlocal renewals
        await asyncio.sleep(0.01)
        renewals += 1
        return claim._over.is_set()

    monkeypatch.setattr(module._Claim, "_is_over", wait)
    monkeypatch.setattr(clock, "now", lambda: clock.add_seconds(began, renewals * module.CLAIM_SECONDS / 3))

    async def run() -> None:
        going, end = asyncio.Event(), asyncio.Event()

        async def slow() -> dict[str, Any]:
            going.set()
            await end.wait()
            return {"slow": True}

        first = asyncio.ensure_future(run_once("k", {}, library, slow))
        await going.wait()
        while renewals < 9:  # three times as long as a claim lasts
            await asyncio.sleep(0.01)
        with pytest.raises(Conflict, match="still running"):
            await run_once("k", {}, library, slow)
        end.set()
        assert await first == {"slow": True}
        assert await run_once("k", {}, library, slow) == {"slow": True}

    asyncio.run(run())


def test_a_key_whose_server_was_killed_says_when_to_try_again(library: Store) -> None:
    async def work() -> dict[str, Any]:
        return {"good": True}

    claimed = clock.add_seconds(clock.now(), -60)
    library.idempotency.claim("k", request_fingerprint({}), claimed, "", "")
    with pytest.raises(Conflict, match="server was stopped") as caught:
        asyncio.run(run_once("k", {}, library, work))
    text = " ".join(caught.value.suggestions)
    assert clock.to_the_second(clock.add_seconds(claimed, module.CLAIM_SECONDS)) in text
    (seconds,) = map(int, re.findall(r"in (\d+) seconds", text))
    assert 60 < seconds <= module.CLAIM_SECONDS - 59
