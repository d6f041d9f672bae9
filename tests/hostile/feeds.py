"""Hostile feeds through a real worker: bombs, floods and endless redirects end within limits, with errors of ours.

    python tests/hostile/feeds.py [MUTANTS]

Every document is polled from a loopback server as a feed would be, in a worker room; the process itself stays small.
"""

from __future__ import annotations

import asyncio
import random
import resource
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.library.feeds.poll import PollReport, poll_feeds
from pagekeep.library.feeds.subscriptions import add_feed
from pagekeep.model import EntryQuery, FeedSettings
from pagekeep.store import Store, open_store
from pagekeep.workers import Room
from tests.library.feeds.parse import quirks, quirks_of_documents
from tests.site.server import Reply, Request, Site

MAX_SECONDS: Final = 60.0
MAX_GROWTH_MB: Final = 300
"""Of this process: a document of 10 MB passes through it, and entries come back."""
HEAD: Final = "<rss version='2.0'><channel><title>H</title>"
TAIL: Final = "</channel></rss>"


def laughs() -> bytes:
    """A billion laughs."""
    lines = "".join(f"<!ENTITY a{n + 1} '{f'&a{n};' * 10}'>" for n in range(12))
    return f"<!DOCTYPE rss [<!ENTITY a0 'ha'>{lines}]>{HEAD}<item><title>&a12;</title></item>{TAIL}".encode()


def quadratic() -> bytes:
    """One long entity, many times."""
    entity = "x" * 50_000
    return f"<!DOCTYPE rss [<!ENTITY a '{entity}'>]>{HEAD}<item><title>{'&a;' * 50_000}</title></item>{TAIL}".encode()


BOMBS: Final[dict[str, Any]] = {
    "billion laughs": laughs,
    "quadratic entity": quadratic,
    "50 MB": lambda: f"{HEAD}{'<item><title>x</title></item>' * 1_800_000}{TAIL}".encode(),
    "100,000 entries": lambda: (
        f"{HEAD}{''.join(f'<item><title>{n}</title><guid>{n}</guid></item>' for n in range(100_000))}{TAIL}".encode()
    ),
    "a million empty items": lambda: f"{HEAD}{'<item/>' * 1_000_000}{TAIL}".encode(),
    "deep XML": lambda: f"{HEAD}<item>{'<a>' * 500_000}".encode(),
    "deep closed XML": lambda: f"{HEAD}<item>{'<a>' * 200_000}{'</a>' * 200_000}</item>{TAIL}".encode(),
    "deep HTML": lambda: (
        f"{HEAD}<item><title>t</title><description><![CDATA[{'<div>' * 200_000}]]></description></item>{TAIL}".encode()
    ),
    "a long attribute": lambda: f"{HEAD}<item><link href='{'x' * 9_000_000}'/></item>{TAIL}".encode(),
    "a long title": lambda: f"{HEAD}<item><title>{'<b>x' * 2_000_000}</title></item>{TAIL}".encode(),
    "a million attributes": lambda: f"{HEAD}<item {' '.join(f'a{n}=1' for n in range(500_000))}/>{TAIL}".encode(),
    "unclosed CDATA": lambda: f"{HEAD}<item><title><![CDATA[{'x' * 9_000_000}".encode(),
    "many comments": lambda: f"{HEAD}{'<!-- -->' * 1_000_000}{TAIL}".encode(),
    "half comments": lambda: f"{HEAD}{'<!--' * 2_000_000}".encode(),
    "open brackets": lambda: (HEAD + "<" * 9_000_000).encode(),
    "ampersands": lambda: (HEAD + "<item><title>" + "&" * 5_000_000).encode(),
    "a bad encoding": lambda: b"<?xml version='1.0' encoding='punycode'?><rss>" + b"\xe9a-" * 3_000_000,
    "deep JSON": lambda: b'{"version":"https://jsonfeed.org/version/1","items":' + b"[" * 5_000_000,
    "JSON with a million items": lambda: (
        b'{"version":"https://jsonfeed.org/version/1","items":[' + b"{}," * 2_000_000 + b"{}]}"
    ),
    "JSON with a huge number": lambda: (
        b'{"version":"https://jsonfeed.org/version/1","items":[{"id":' + b"9" * 9_000_000 + b"}]}"
    ),
    "many namespaces": lambda: (
        "<rss " + " ".join(f"xmlns:n{n}='u{n}'" for n in range(100_000)) + "><channel/></rss>"
    ).encode(),
}


def mutants(count: int) -> list[bytes]:
    """Our quirks, broken at random."""
    chance = random.Random(7)
    cases = [
        case[1]
        for module in (quirks, quirks_of_documents)
        for value in vars(module).values()
        if isinstance(value, list)
        for case in value
    ]
    made = []
    for _ in range(count):
        data = bytearray(chance.choice(cases))
        for _ in range(chance.randint(1, 12)):
            at = chance.randrange(len(data) or 1)
            data[at : at + chance.randint(0, 9)] = bytes(chance.randrange(256) for _ in range(chance.randint(0, 9)))
        made.append(bytes(data))
    return made


async def attack(store: Store, settings: Settings, bodies: dict[str, bytes]) -> list[str]:
    """Poll every document; return what was not as it must be."""

    async def feed(request: Request, reply: Reply) -> None:
        await reply.send(bodies[request.query["name"]], content_type="application/xml")

    async def ring(_request: Request, reply: Reply) -> None:
        await reply.send("", status=302, location="/ring")

    faults = []
    with Site({"feed": feed, "ring": ring}) as site, closing(Room(1)) as room:
        async with Retrieval(settings, room=room) as retrieval:
            for name in (*bodies, "ring"):
                path = "/ring" if name == "ring" else f"/feed?name={name.replace(' ', '+')}"
                added, _ = add_feed(store, site.url(path), settings=FeedSettings(content="feed"))
                began, report = time.perf_counter(), PollReport()
                try:
                    await poll_feeds((added,), store, retrieval, report)
                except Exception as error:
                    faults.append(f"{name}: {type(error).__name__}: {error}"[:200])
                seconds = time.perf_counter() - began
                entries = len(store.entries.find(EntryQuery((added.id,), limit=200)).entries)
                if not name.startswith("mutant"):
                    print(
                        f"{name}: {seconds:.1f} s, {entries} entries, {report.failures.get(added.id, 'read')}"[:150],
                        flush=True,
                    )
                if seconds > MAX_SECONDS:
                    faults.append(f"{name} took {seconds:.0f} s")
                store.feeds.remove(added.id)
    return faults


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    bodies = {name: make() for name, make in BOMBS.items()}
    bodies |= {f"mutant {number}": body for number, body in enumerate(mutants(count))}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1_000
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(library=str(Path(folder) / "library.db"), allow_hosts=("127.0.0.1",), per_host_delay=0)
        with closing(open_store(settings.library)) as store:
            faults = asyncio.run(attack(store, settings, bodies))
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1_000 - before
    if growth > MAX_GROWTH_MB:
        faults.append(f"the process grew by {growth} MB")
    print(f"{len(BOMBS)} bombs, {count} mutants, +{growth} MB, {len(faults)} faults")
    for fault in faults:
        print(fault)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
