"""Every form of a forbidden address, by every way in: all refused, and a canary sees no connection.

`python -m tests.hostile.fetch_addresses`. The control takes the guard away and must reach the canary.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from urllib.parse import quote

from pagekeep import PagekeepError
from pagekeep.config import Settings
from pagekeep.fetch import Client
from pagekeep.fetch.guard import Guard
from tests.site.address_forms import ALL
from tests.site.pages import PAGES
from tests.site.server import Canary, Site

Way = Callable[[Client, Site, str], Awaitable[object]]
EVERYTHING = ("0.0.0.0/0", "::/0", "localhost", "*.localhost", "site.example")


class Dns:
    """Knows our site by a name, so that it can be reached while loopback is forbidden; and localhost, as systems do."""

    async def addresses(self, name: str) -> list[str]:
        if name != "site.example" and not name.endswith("localhost"):
            raise OSError
        return ["127.0.0.1"]


async def _by_proxy(client: Client, site: Site, url: str) -> None:
    parts = client.guard.check_url(url)
    _, writer = await client.guard.open_connection(parts.host.name, parts.port, 1)
    writer.close()


async def _by_redirect(client: Client, site: Site, url: str) -> object:
    return await client.fetch(site.url(f"/to?url={quote(url, safe='')}", host="site.example"))


WAYS: dict[str, Way] = {
    "page": lambda client, site, url: client.fetch(url),
    "download": lambda client, site, url: client.download(url),
    "sink": lambda client, site, url: client.send("POST", url, b"{}", max_bytes=1_000, deadline=1.0),
    "redirect": _by_redirect,
    "browser's proxy": _by_proxy,
}


async def attempts(site: Site, port: int, allow: tuple[str, ...]) -> list[str]:
    """Forms that were let through, by way."""
    let_through = []
    settings = Settings(allow_hosts=allow, retries=0, timeout=1, per_host_delay=0)
    async with Client(settings, guard=Guard(allow, resolver=Dns())) as client:
        for way, go in WAYS.items():
            for name, form in ALL.items():
                try:
                    await go(client, site, form.format(port=port))
                except PagekeepError:
                    continue
                let_through.append(f"{way}: {name}")
    return let_through


def run() -> list[str]:
    """What went wrong, in words; empty when all is well."""
    faults = []
    with Site(PAGES) as site:
        with Canary() as canary:
            faults += asyncio.run(attempts(site, canary.port, ("site.example",)))
            if canary.connections:
                faults.append(f"the canary saw {canary.connections} connections")
        with Canary() as canary:
            control = [form for form in ALL.values() if form.startswith(("http://127", "http://0", "http://localhost"))]
            asyncio.run(_control(canary.port, control))
            if canary.connections < len(control) // 2:
                faults.append(f"the control reached the canary only {canary.connections} times")
    return faults


async def _control(port: int, forms: list[str]) -> None:
    settings = Settings(allow_hosts=EVERYTHING, retries=0, timeout=1, per_host_delay=0)
    async with Client(settings) as client:
        for form in forms:
            try:
                await client.fetch(form.format(port=port))
            except PagekeepError:
                continue
    await asyncio.sleep(0.1)


if __name__ == "__main__":
    found = run()
    print(f"addresses: {len(ALL)} forms x {len(WAYS)} ways, {len(found)} faults", *found, sep="\n  ")
    sys.exit(bool(found))
