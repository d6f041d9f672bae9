"""Answers to requests that carried an idempotency key: the same request again gets the same answer, and nothing is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pagekeep.store.engine import Transaction
from pagekeep.store.storable import clean_json, clean_text
from pagekeep.store.tables.items import json_of


def claim(
    tx: Transaction, key: str, request: str, now: str, since: str, silent: str
) -> tuple[str, Mapping[str, Any] | None] | None:
    """`None` when the key is new and now ours; else the request it stands for, and its answer once there is one.

    Keys older than `since` are forgotten. A claim that was last renewed before `silent` is of someone who died over it: the
    same request takes it over.
    """
    tx.lock(f"answer {key}")
    tx.run("DELETE FROM answers WHERE user_id = :user AND created_at <= :since", user=tx.user_id, since=since)
    rows = tx.all(
        "SELECT request, answer, created_at FROM answers WHERE user_id = :user AND key = :key", **_of(tx, key)
    )
    if not rows:
        tx.run(
            "INSERT INTO answers (user_id, key, request, created_at) VALUES (:user, :key, :request, :now)",
            **_of(tx, key),
            request=request,
            now=now,
        )
        return None
    before, answer, claimed = rows[0][0], json_of(rows[0][1]), rows[0][2]
    if before == request and answer is None and claimed <= silent:
        return None if renew(tx, key, claimed, now) else (before, None)
    return before, answer


_CLAIMED: Final = "WHERE user_id = :user AND key = :key AND created_at = :claimed AND answer IS NULL"
"""The moment says whose claim it is: one that was taken over has another."""


def renew(tx: Transaction, key: str, claimed: str, now: str) -> bool:
    """The claim of that moment is now of this one; `False` when it is no more."""
    return tx.run(f"UPDATE answers SET created_at = :now {_CLAIMED}", **_of(tx, key), claimed=claimed, now=now) == 1


def keep(tx: Transaction, key: str, claimed: str, answer: Mapping[str, Any] | None) -> None:
    """What was answered; `None` lets go of a key whose request failed, so that it may be tried again."""
    if answer is None:
        tx.run(f"DELETE FROM answers {_CLAIMED}", **_of(tx, key), claimed=claimed)
    else:
        kept = tx.json(clean_json(answer))
        tx.run(f"UPDATE answers SET answer = :answer {_CLAIMED}", **_of(tx, key), claimed=claimed, answer=kept)


def _of(tx: Transaction, key: str) -> dict[str, Any]:
    return {"user": tx.user_id, "key": clean_text(key)}
