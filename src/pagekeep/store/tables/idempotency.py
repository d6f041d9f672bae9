"""Responses to requests with an idempotency key: the same request gets the same response, and nothing is done twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pagekeep.store.engine import Part, Transaction, reads, writes
from pagekeep.store.storable import clean_json, clean_text, parse_json

_CLAIMED: Final = "WHERE user_id = :user AND key = :key AND created_at = :claimed AND answer IS NULL"
"""The time identifies the claim: one that another process took over has another time."""


class Idempotency(Part):
    """Claims of idempotency keys, and the responses to their requests."""

    @writes
    def claim(
        self, tx: Transaction, key: str, request: str, now: str, since: str, silent: str
    ) -> tuple[str, Mapping[str, Any] | None] | None:
        """Return `None` when the key is new and now claimed; else the request it was used for, and the response if any.

        Keys older than `since` are deleted. A claim without a response that was last renewed before `silent` belongs to a
        process that was killed: the same request takes it over.
        """
        tx.lock(f"answer {key}")
        tx.run("DELETE FROM answers WHERE user_id = :user AND created_at <= :since", since=since)
        rows = tx.all(
            "SELECT request, answer, created_at FROM answers WHERE user_id = :user AND key = :key", **_key(tx, key)
        )
        if not rows:
            tx.run(
                "INSERT INTO answers (user_id, key, request, created_at) VALUES (:user, :key, :request, :now)",
                **_key(tx, key),
                request=request,
                now=now,
            )
            return None
        before, response, claimed = rows[0][0], parse_json(rows[0][1]), rows[0][2]
        if before == request and response is None and claimed <= silent:
            return None if _renew(tx, key, claimed, now) else (before, None)
        return before, response

    @reads
    def claimed_at(self, tx: Transaction, key: str) -> str | None:
        """Return when the key was claimed or its claim last renewed; `None` when it has a response or is free."""
        rows = tx.all(
            "SELECT created_at FROM answers WHERE user_id = :user AND key = :key AND answer IS NULL", **_key(tx, key)
        )
        return str(rows[0][0]) if rows else None

    @writes
    def renew(self, tx: Transaction, key: str, claimed: str, now: str) -> bool:
        """Move the claim made at `claimed` to `now`, as its request is still running; False when another has it."""
        return _renew(tx, key, claimed, now)

    @writes
    def keep_response(self, tx: Transaction, key: str, claimed: str, response: Mapping[str, Any] | None) -> None:
        """Store the response; `None` releases the key of a request that failed. No effect on another's claim."""
        if response is None:
            tx.run(f"DELETE FROM answers {_CLAIMED}", **_key(tx, key), claimed=claimed)
        else:
            stored = tx.json(clean_json(response))
            tx.run(f"UPDATE answers SET answer = :answer {_CLAIMED}", **_key(tx, key), claimed=claimed, answer=stored)


def _renew(tx: Transaction, key: str, claimed: str, now: str) -> bool:
    return tx.run(f"UPDATE answers SET created_at = :now {_CLAIMED}", **_key(tx, key), claimed=claimed, now=now) == 1


def _key(tx: Transaction, key: str) -> dict[str, Any]:
    return {"key": clean_text(key)}
