"""The library's shelves: one contract, kept by SQLite for one person and by PostgreSQL for many."""

from __future__ import annotations

from pagekeep.store.contract import Order, Store
from pagekeep.store.opening import LOCAL_USER, default_library, install_library, open_accounts, open_store
from pagekeep.store.tables.accounts import Accounts

__all__ = [
    "LOCAL_USER",
    "Accounts",
    "Order",
    "Store",
    "default_library",
    "install_library",
    "open_accounts",
    "open_store",
]
