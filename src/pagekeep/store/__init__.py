"""Libraries on disk: SQLite for one user, PostgreSQL for many, with the same methods and the same results."""

from __future__ import annotations

from pagekeep.store.query import parse_query
from pagekeep.store.tables.accounts import Accounts
from pagekeep.store.user_store import LOCAL_USER, Store, default_library, install_library, open_accounts, open_store

__all__ = [
    "LOCAL_USER",
    "Accounts",
    "Store",
    "default_library",
    "install_library",
    "open_accounts",
    "open_store",
    "parse_query",
]
