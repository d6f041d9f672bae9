"""Servers that waste time: each is ended by the wall clock at the timeout, while a good page beside them arrives.

`python -m tests.hostile.fetch_slow [timeout]`.
"""

from __future__ import annotations

import asyncio
import sys
from time import perf_counter

from pagekeep import FetchHttpError, FetchTimeout, PagekeepError
from pagekeep.config import Settings
from pagekeep.fetch import Client
from tests.site.pages import ARTICLE
from tests.site.process import site_process

FLOOD = "/chunk-flood"
"""Not five of these: they keep a core busy, ours and the site's."""
SLOW = (
    "/drip",
    "/drip?every=0.01",
    "/drip-head",
    "/silent",
    "/endless-chunks",
    "/withheld",
    "/continues",
    "/slow-hops",
)
GRACE = 1.0
"""Seconds that a busy machine may be late."""


async def _ended(client: Client, url: str, timeout: float) -> str | None:
    began = perf_counter()
    try:
        await client.fetch(url, deadline=timeout)
    except (FetchTimeout, FetchHttpError):
        took = perf_counter() - began
        return None if took <= timeout + GRACE else f"{url} took {took:.1f} s"
    except PagekeepError as error:
        return f"{url} gave {error.type}"
    return f"{url} was taken for a page"


async def _good(client: Client, site: str) -> str | None:
    began = perf_counter()
    page = await client.fetch(f"{site}/article")
    took = perf_counter() - began
    return None if page.body == ARTICLE.encode() and took < GRACE else f"the good page took {took:.1f} s"


async def attempts(site: str, timeout: float) -> list[str]:
    """All at once."""
    settings = Settings(allow_hosts=("127.0.0.1",), per_host_delay=0, per_host_connections=100)
    async with Client(settings) as client:
        slow = [asyncio.create_task(_ended(client, site + path, timeout)) for path in (*SLOW * 5, FLOOD)]
        await asyncio.sleep(timeout / 2)
        faults = [await _good(client, site), *await asyncio.gather(*slow)]
    return [fault for fault in faults if fault]


def run(timeout: float = 8.0) -> list[str]:
    """What went wrong, in words; empty when all is well."""
    with site_process() as site:
        return asyncio.run(attempts(site, timeout))


if __name__ == "__main__":
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 8.0
    found = run(seconds)
    print(
        f"slow servers: {len(SLOW)} kinds, 5 of each, and a flood, {seconds:g} s, {len(found)} faults",
        *found,
        sep="\n  ",
    )
    sys.exit(bool(found))
