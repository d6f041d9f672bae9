"""robots.txt: which addresses a site lets programs visit, how fast, and where its sitemaps are. Parsed in workers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from protego import Protego

from pagekeep.values import dataclass

MAX_BYTES: Final = 512_000
"""RFC 9309 asks for at least 500 KiB."""
MAX_DELAY: Final = 60.0
"""Seconds; a larger crawl delay is cut to this, as a crawl would never end."""
MAX_SITEMAPS: Final = 50
FORBID_ALL: Final = "User-agent: *\nDisallow: /\n"
"""What counts where robots.txt cannot be reached, as RFC 9309 says."""


@dataclass(frozen=True, slots=True)
class Robots:
    """What a robots.txt says to us."""

    text: str
    delay: float
    sitemaps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RobotsTask:
    """Read a robots.txt, in a worker."""

    body: bytes
    agent: str

    def run(self) -> Robots:
        """Return what it says."""
        text = self.body[:MAX_BYTES].decode("utf-8", "replace").replace("\x00", "")
        rules = _parse(text)
        delay = rules.crawl_delay(self.agent) or 0.0
        rate = rules.request_rate(self.agent)
        if rate is not None and rate.requests:
            delay = max(delay, rate.seconds / rate.requests)
        sitemaps = tuple(address for address, _ in zip(rules.sitemaps, range(MAX_SITEMAPS), strict=False))
        return Robots(text, max(0.0, min(float(delay), MAX_DELAY)), sitemaps)


def agent_of(user_agent: str) -> str:
    """Return the name by which robots.txt files address us: the product in the User-Agent header."""
    return user_agent.split("/")[0].split()[0].lower()


def allows(robots: Mapping[str, str], host: str, url: str, agent: str) -> bool:
    """Return whether the robots.txt of a host allows an address; only in a worker."""
    text = robots.get(host)
    return text is None or _parse(text).can_fetch(url, agent)


@lru_cache(maxsize=64)
def _parse(text: str) -> Protego:
    return Protego.parse(text)
