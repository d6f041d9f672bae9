"""A name server that changes its answers: 100 runs, no hit.

`python -m tests.hostile.fetch_rebinding [runs]`. The control checks a name and then lets the system look it up again, as
careless clients do, and must be hit.
"""

from __future__ import annotations

import asyncio
import random
import sys
from contextlib import suppress

from pagekeep import PagekeepError
from pagekeep.config import Settings
from pagekeep.fetch import Client
from pagekeep.fetch.guard import Guard
from tests.site.server import Canary

PUBLIC = "203.0.113.9"
"""Plays a public address. It is set aside for documentation, so no packet of ours troubles anyone."""
INSIDE = ("127.0.0.1", "::1", "0.0.0.0", "::ffff:127.0.0.1", "127.3.2.1")


class Rebinding:
    """Answers publicly first, and with an inside address later; or with both at once; or as chance has it."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.manner = seed % 4
        self.answers = 0

    async def addresses(self, name: str) -> list[str]:
        self.answers += 1
        inside = self.chance.choice(INSIDE)
        if self.manner == 0:
            return [PUBLIC] if self.answers == 1 else [inside]
        if self.manner == 1:
            return [PUBLIC, inside]
        if self.manner == 2:
            return [inside] if self.answers % 2 else [PUBLIC]
        return self.chance.choice([[PUBLIC], [inside], [inside, PUBLIC]])


async def guarded(port: int, runs: int) -> None:
    for seed in range(runs):
        guard = Guard([PUBLIC], resolver=Rebinding(seed))
        settings = Settings(timeout=0.2, retries=2, per_host_delay=0)
        async with Client(settings, guard=guard) as client:
            for _ in range(3):
                with suppress(PagekeepError):
                    await client.fetch(f"http://rebind.example:{port}/")


async def careless(port: int, runs: int) -> None:
    for seed in range(runs):
        dns = Rebinding(seed)
        guard = Guard([PUBLIC], resolver=dns)
        try:
            await guard.resolve("rebind.example", port)
        except PagekeepError:
            continue
        with suppress(OSError, TimeoutError):
            again = await dns.addresses("rebind.example")
            _, writer = await asyncio.wait_for(asyncio.open_connection(again[0], port), 0.2)
            writer.close()
    await asyncio.sleep(0.1)


def run(runs: int = 100) -> list[str]:
    """What went wrong, in words; empty when all is well."""
    faults = []
    with Canary() as canary:
        asyncio.run(guarded(canary.port, runs))
        if canary.connections:
            faults.append(f"{canary.connections} hits in {runs} runs")
    with Canary() as canary:
        asyncio.run(careless(canary.port, runs))
        if not canary.connections:
            faults.append("the careless control was not hit: this shows nothing")
    return faults


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    found = run(count)
    print(f"rebinding: {count} runs, {len(found)} faults", *found, sep="\n  ")
    sys.exit(bool(found))
