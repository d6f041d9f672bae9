"""What worked for a domain, for later saves of its pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pagekeep.store.engine import Transaction
from pagekeep.store.storable import clean_json, clean_text, parse_json
from pagekeep.store.table import Table, reads, writes


class DomainMemoryTable(Table):
    """Statistics of extraction for each domain."""

    @reads
    def memory(self, tx: Transaction, domain: str) -> Mapping[str, Any] | None:
        """Return what is remembered for the domain."""
        rows = tx.all(
            "SELECT memory FROM domain_memory WHERE user_id = :user AND domain = :domain",
            user=tx.user_id,
            domain=_key(domain),
        )
        memory: Mapping[str, Any] | None = parse_json(rows[0][0]) if rows else None
        return memory

    @writes
    def remember(self, tx: Transaction, domain: str, memory: Mapping[str, Any], now: str) -> None:
        """Replace what is remembered for the domain."""
        tx.run(
            "INSERT INTO domain_memory (user_id, domain, memory, updated_at) VALUES (:user, :domain, :memory, :now) "
            "ON CONFLICT (user_id, domain) DO UPDATE SET memory = excluded.memory, updated_at = excluded.updated_at",
            user=tx.user_id,
            domain=_key(domain),
            memory=tx.json(clean_json(memory)),
            now=now,
        )


def _key(domain: str) -> str:
    """Domain names have at most 253 characters (RFC 1035)."""
    return clean_text(domain).lower()[:255]
