"""Statistics of what worked for a domain, updated at every save."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pagekeep import clock
from pagekeep.library import normal_url
from pagekeep.model import Options, Page
from pagekeep.store import Store

_MIN_SUCCESS: Final = 0.8
"""Share of tries in which a selector must have found the content to be tried first."""
_EXPIRES_DAYS: Final = 180
"""Sites are redesigned: an older success says little."""


def remember(store: Store, domain: str, page: Page, *, rendered: bool, now: str) -> None:
    """Count this capture: which strategy won, whether it was rendered, how many succeeded, and since when.

    Reading and writing are two steps: of two saves at the same time one may not be counted, which does no harm.
    """
    store.remember(domain, _count(store.memory(domain) or {}, page, rendered, now), now)


def extraction_options(store: Store, url: str, max_bytes: int) -> Options:
    """Return the options with which every page of the library is extracted, however it came."""
    memory = store.memory(normal_url.domain(url))
    return Options(max_bytes=max_bytes, remembered=preferred_selectors(memory, clock.now()))


def _count(before: Mapping[str, Any], page: Page, rendered: bool, now: str) -> dict[str, Any]:
    succeeded = page.quality.level in ("article", "simplified")
    levels = dict(before.get("levels", {}))
    levels[page.strategy] = levels.get(page.strategy, 0) + 1
    return {
        "levels": levels,
        "selectors": _count_selectors(before.get("selectors", {}), page, now),
        "last": page.strategy,
        "saves": before.get("saves", 0) + 1,
        "successes": before.get("successes", 0) + succeeded,
        "rendered": before.get("rendered", 0) + rendered,
        "since": before.get("since", now),
        "last_success": now if succeeded else before.get("last_success"),
    }


def preferred_selectors(memory: Mapping[str, Any] | None, now: str) -> tuple[str, ...]:
    """Return the selectors to try first: those that found the content in over 80 % of their tries, and not long ago."""
    records = (memory or {}).get("selectors", {})
    good = [
        (-record["wins"], selector)
        for selector, record in records.items()
        if record["wins"] > _MIN_SUCCESS * record["tries"] and clock.days_between(record["last"], now) <= _EXPIRES_DAYS
    ]
    return tuple(selector for _, selector in sorted(good))


def _count_selectors(before: Mapping[str, Any], page: Page, now: str) -> dict[str, Any]:
    """Return each selector's tries and wins; only a page that the strategy `simplified` extracted counts."""
    counts = {selector: dict(record) for selector, record in before.items()}
    if page.strategy != "simplified" or page.selector is None:
        return counts
    counts.setdefault(page.selector, {"tries": 0, "wins": 0, "last": now})
    for record in counts.values():
        record["tries"] += 1
    counts[page.selector]["wins"] += 1
    counts[page.selector]["last"] = now
    return counts
