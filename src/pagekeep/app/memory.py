"""What worked for a domain, counted at every save."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pagekeep.model import Page
from pagekeep.store import Store


def remember(store: Store, domain: str, page: Page, *, rendered: bool, now: str) -> None:
    """Count this capture: which level won, whether it took the browser, how many succeeded, and since when.

    Reading and writing are two steps: of two saves at the same moment one may go uncounted, which a memory can bear.
    """
    store.remember(domain, _counted(store.memory(domain) or {}, page, rendered, now), now)


def _counted(before: Mapping[str, Any], page: Page, rendered: bool, now: str) -> dict[str, Any]:
    succeeded = page.quality.level in ("article", "simplified")
    levels = dict(before.get("levels", {}))
    levels[page.strategy] = levels.get(page.strategy, 0) + 1
    return {
        "levels": levels,
        "last": page.strategy,
        "saves": before.get("saves", 0) + 1,
        "successes": before.get("successes", 0) + succeeded,
        "rendered": before.get("rendered", 0) + rendered,
        "since": before.get("since", now),
        "last_success": now if succeeded else before.get("last_success"),
    }
