"""The library's shelves: one contract, kept by SQLite for one person and by PostgreSQL for many."""

from __future__ import annotations

from pagekeep.store.contract import Order, Store
from pagekeep.store.opening import LOCAL_USER, default_library, open_store

__all__ = ["LOCAL_USER", "Order", "Store", "default_library", "open_store"]
