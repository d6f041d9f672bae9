"""What a library takes on the disk, and removing files that no item uses."""

from __future__ import annotations

from typing import Final

from pagekeep import clock
from pagekeep.model import Collected, Storage
from pagekeep.store import Store

GRACE_SECONDS: Final = 7 * 86_400
"""How long a file is kept that no item uses: a page that was deleted by mistake may come back from elsewhere."""


def measure_storage(store: Store) -> Storage:
    """Return what the library takes on the disk."""
    return store.storage()


def remove_unused(store: Store, *, at_once: bool = False, sweep: bool = True) -> Collected:
    """Remove kept files that no item has used for a week; with `at_once`, all that no item uses.

    With `sweep`, the whole folder is searched for files that a killed process left.
    """
    now = clock.now()
    before = now if at_once else clock.add_seconds(now, -GRACE_SECONDS)
    return store.collect_blobs(now, before, at_once=at_once, sweep=sweep)
