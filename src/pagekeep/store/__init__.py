"""The library's shelves: one contract, kept by SQLite for one person and by PostgreSQL for many."""

from __future__ import annotations

from pagekeep.store.accounts import Accounts
from pagekeep.store.contract import Order, Store
from pagekeep.store.opening import LOCAL_USER, default_library, install_library, open_accounts, open_store

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
