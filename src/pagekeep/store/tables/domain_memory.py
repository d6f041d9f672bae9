"""What worked for a domain, remembered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pagekeep.store.engine import Transaction
from pagekeep.store.storable import clean_json, clean_text
from pagekeep.store.tables.items import json_of


def memory(tx: Transaction, domain: str) -> Mapping[str, Any] | None:
    """What is remembered of the domain."""
    rows = tx.all(
        "SELECT memory FROM domain_memory WHERE user_id = :user AND domain = :domain",
        user=tx.user_id,
        domain=_key(domain),
    )
    found: Mapping[str, Any] | None = json_of(rows[0][0]) if rows else None
    return found


def remember(tx: Transaction, domain: str, memory: Mapping[str, Any], now: str) -> None:
    """Remember this in place of what was."""
    tx.run(
        "INSERT INTO domain_memory (user_id, domain, memory, updated_at) VALUES (:user, :domain, :memory, :now) "
        "ON CONFLICT (user_id, domain) DO UPDATE SET memory = excluded.memory, updated_at = excluded.updated_at",
        user=tx.user_id,
        domain=_key(domain),
        memory=tx.json(clean_json(memory)),
        now=now,
    )


def _key(domain: str) -> str:
    return clean_text(domain).lower()[:255]
