"""Things that are done once however often they are asked for: a client that got no answer may simply ask again."""

from __future__ import annotations

import asyncio
import hashlib
import json
from asyncio import shield, to_thread
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from pagekeep import clock
from pagekeep.errors import Conflict, StoreError
from pagekeep.store import Store

REMEMBERED: Final = 24 * 3600.0
"""Seconds for which an answer is kept."""
SILENT: Final = 180.0
"""Seconds after which a claim that nobody renewed is of a server that was killed: whoever asks again takes it over."""
Answer = Mapping[str, Any]


def fingerprint(asked: Mapping[str, Any]) -> str:
    """Tells two requests apart."""
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


async def once(key: str | None, asked: Mapping[str, Any], store: Store, do: Callable[[], Awaitable[Answer]]) -> Answer:
    """The answer of `do`, or the one that was given to the same key before.

    `Conflict` when the key came with another request, or its first one is still under way. A request that failed may be
    made again with its key, and so may one whose server was killed over it, a few minutes later.
    """
    if key is None:
        return await do()
    request, now = fingerprint(asked), clock.now()
    since, silent = clock.add_seconds(now, -REMEMBERED), clock.add_seconds(now, -SILENT)
    claimed = await to_thread(store.claim, key, request, now, since, silent)
    if claimed is not None:
        return _answered(*claimed, request)
    claim = _Claim(key, now, store)
    try:
        answer = await do()
    except BaseException:
        await shield(claim.settle(None))
        raise
    await shield(claim.settle(answer))
    return answer


class _Claim:
    """A key that is ours, renewed until there is an answer."""

    def __init__(self, key: str, moment: str, store: Store) -> None:
        self._key = key
        self._moment = moment
        self._store = store
        self._over = asyncio.Event()
        self._renewing = asyncio.create_task(self._renew())

    async def settle(self, answer: Answer | None) -> None:
        """Keep the answer, or let go of the key. Not beside a renewal: after one the claim has another moment."""
        self._over.set()
        await self._renewing
        await to_thread(self._store.keep_response, self._key, self._moment, answer)

    async def _renew(self) -> None:
        while not await self._is_over(SILENT / 3):
            now = clock.now()
            with suppress(StoreError):  # the next time may work; if none does, the claim is lost and no more
                if not await to_thread(self._store.renew_claim, self._key, self._moment, now):
                    return
                self._moment = now

    async def _is_over(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), seconds)
        return self._over.is_set()


def _answered(before: str, answer: Answer | None, request: str) -> Answer:
    if before != request:
        raise Conflict("The idempotency key was used for another request.", suggestions=("Use a new key.",))
    if answer is None:
        raise Conflict("The same request is still under way.", suggestions=("Ask again in a moment.",))
    return answer
