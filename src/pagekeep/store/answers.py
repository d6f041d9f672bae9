"""Answers to requests that carried an idempotency key: the same request again gets the same answer, and nothing is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pagekeep.store.clean import clean_json, clean_text
from pagekeep.store.engine import Transaction
from pagekeep.store.items import json_of


def claim(tx: Transaction, key: str, request: str, now: str, since: str) -> tuple[str, Mapping[str, Any] | None] | None:
    """`None` when the key is new and now ours; else the request it stands for, and its answer once there is one.

    Keys older than `since` are forgotten.
    """
    tx.lock(f"answer {key}")
    tx.run("DELETE FROM answers WHERE user_id = :user AND created_at <= :since", user=tx.user_id, since=since)
    rows = tx.all(
        "SELECT request, answer FROM answers WHERE user_id = :user AND key = :key",
        user=tx.user_id,
        key=clean_text(key),
    )
    if rows:
        return rows[0][0], json_of(rows[0][1])
    tx.run(
        "INSERT INTO answers (user_id, key, request, created_at) VALUES (:user, :key, :request, :now)",
        user=tx.user_id,
        key=clean_text(key),
        request=request,
        now=now,
    )
    return None


def keep(tx: Transaction, key: str, answer: Mapping[str, Any] | None) -> None:
    """What was answered; `None` lets go of a key whose request failed, so that it may be tried again."""
    if answer is None:
        tx.run("DELETE FROM answers WHERE user_id = :user AND key = :key", user=tx.user_id, key=clean_text(key))
    else:
        tx.run(
            "UPDATE answers SET answer = :answer WHERE user_id = :user AND key = :key",
            answer=tx.json(clean_json(answer)),
            user=tx.user_id,
            key=clean_text(key),
        )
