"""Bombs of every coding, layered and after a redirect: stopped at the limit, with at most 64 MB more memory.

`python -m tests.hostile.fetch_bombs [megabytes]`. Each runs in its own process, and so does the site. The control
decodes as libraries do and must exceed the bound.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

from pagekeep import TooLarge
from pagekeep.config import Settings
from pagekeep.fetch import Client
from tests.site.bombs import PACKERS
from tests.site.process import site_process

ROOT = Path(__file__).parents[2]
BOUND = 64
LAYERED = ("gzip,gzip", "gzip,br", "br,gzip", "zstd,br", "br,zstd", "deflate,gzip,br", "gzip,br,zstd,deflate")
CONTROL = "control"


def _peak() -> int:
    """The most memory this process has used so far, in KB. Not `ru_maxrss`: a child starts with its parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


async def _fetch(site: str, path: str) -> int:
    """Peak memory in KB that the bomb took, beyond what a good page of every coding takes."""
    settings = Settings(allow_hosts=("127.0.0.1",), per_host_delay=0)
    async with Client(settings) as client:
        for coding in PACKERS:
            await client.fetch(f"{site}/coded?by={quote(coding)}")
        before = _peak()
        try:
            await client.fetch(site + path, deadline=60)
        except TooLarge:
            return _peak() - before
    raise AssertionError("the bomb was taken for a page")


async def _careless(site: str, path: str) -> int:
    """The same with the decoding that counts too late."""
    import brotli

    settings = Settings(allow_hosts=("127.0.0.1",))
    async with Client(settings) as client:
        before = _peak()
        page = await client.download(site + path.replace("/bomb", "/packed-bomb"), deadline=60)
        brotli.decompress(page.body)
        return _peak() - before


def _measured(site: str, path: str, kind: str) -> str:
    command = [sys.executable, "-m", "tests.hostile.fetch_bombs", kind, site, path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def run(megabytes: int = 2000, codings: tuple[str, ...] = (*PACKERS, *LAYERED)) -> list[str]:
    """What went wrong, in words; empty when all is well."""
    faults = []
    with site_process() as site:
        for coding in codings:
            straight = f"/bomb?mb={megabytes}&by={quote(coding)}"
            for path in (straight, f"/to?url={quote(straight, safe='')}"):
                grown = _measured(site, path, "bomb")
                way = "after a redirect" if path != straight else "straight"
                print(f"  {coding:22} {way:17} +{grown} KB")
                if not grown.isdigit() or int(grown) > BOUND * 1024:
                    faults.append(f"{coding} {way}: {grown}")
        grown = _measured(site, "/bomb?mb=200&by=br", CONTROL)
        print(f"  careless control, 200 MB: +{grown} KB")
        if not grown.isdigit() or int(grown) <= BOUND * 1024:
            faults.append(f"the careless control stayed within the bound: {grown}")
    return faults


def main() -> int:
    """The script, or in a child process one measurement."""
    if len(sys.argv) == 4:
        kind, site, path = sys.argv[1:]
        print(asyncio.run((_careless if kind == CONTROL else _fetch)(site, path)))
        return 0
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    found = run(megabytes)
    print(f"bombs: {megabytes} MB each, {len(found)} faults", *found, sep="\n  ")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
