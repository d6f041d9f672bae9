"""Idempotency: a request with a key runs once, so that a client without an answer can safely send it again."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from asyncio import shield, to_thread
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from pagekeep import clock
from pagekeep.errors import Conflict, StoreError
from pagekeep.store import Store

ANSWER_SECONDS: Final = 24 * 3600.0
"""Seconds for which an answer is stored: long enough for any client that retries."""
CLAIM_SECONDS: Final = 180.0
"""Seconds without renewal after which the server of a claim must have been killed: then the next request takes it over."""
Answer = Mapping[str, Any]


def request_fingerprint(request: Mapping[str, Any]) -> str:
    """Return a hash that is the same for equal requests only."""
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


async def run_once(
    key: str | None, request: Mapping[str, Any], store: Store, do: Callable[[], Awaitable[Answer]]
) -> Answer:
    """Return the answer of `do`, or the one that the same key had before.

    Raise `Conflict` when the key was used for another request, or the first one is still running. A request that failed
    can be sent again with its key, and so can one whose server was killed, a few minutes later.
    """
    if key is None:
        return await do()
    digest, now = request_fingerprint(request), clock.now()
    since, expired = clock.add_seconds(now, -ANSWER_SECONDS), clock.add_seconds(now, -CLAIM_SECONDS)
    claimed = await to_thread(store.idempotency.claim, key, digest, now, since, expired)
    if claimed is not None:
        before, answer = claimed
        if before == digest and answer is None:
            raise _still_running(await to_thread(store.idempotency.claimed_at, key), now)
        if before != digest or answer is None:
            raise Conflict("The idempotency key was used for another request.", suggestions=("Use a new key.",))
        return answer
    claim = _Claim(key, now, store)
    try:
        answer = await do()
    except BaseException:
        await shield(claim.settle(None))
        raise
    await shield(claim.settle(answer))
    return answer


class _Claim:
    """A key that this server claimed, renewed until there is an answer."""

    def __init__(self, key: str, time: str, store: Store) -> None:
        self._key = key
        self._time = time
        self._store = store
        self._over = asyncio.Event()
        self._renewing = asyncio.create_task(self._renew())

    async def settle(self, answer: Answer | None) -> None:
        """Store the answer, or release the key, after the last renewal, which changes the time of the claim."""
        self._over.set()
        await self._renewing
        await to_thread(self._store.idempotency.keep_response, self._key, self._time, answer)

    async def _renew(self) -> None:
        while not await self._is_over(CLAIM_SECONDS / 3):
            now = clock.now()
            with suppress(StoreError):  # the next renewal may work; if none does, only the claim is lost
                if not await to_thread(self._store.idempotency.renew, self._key, self._time, now):
                    return
                self._time = now

    async def _is_over(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), seconds)
        return self._over.is_set()


def _still_running(claimed_at: str | None, now: str) -> Conflict:
    """Return the error of a request whose first copy has no answer yet; it says when the key is free in any case."""
    if claimed_at is None:  # it ended just now
        return Conflict("The same request was still running.", suggestions=("Try again now.",))
    free_at = clock.add_seconds(claimed_at, CLAIM_SECONDS)
    seconds = max(1, math.ceil(clock.days_between(now, free_at) * 86_400))
    return Conflict(
        "The same request is still running, or the server was stopped while it ran.",
        suggestions=(
            "Try again in a few seconds to get its answer.",
            f"If the server was stopped, try again in {seconds} seconds, at {clock.to_the_second(free_at)}: "
            "the request then runs again.",
        ),
    )
