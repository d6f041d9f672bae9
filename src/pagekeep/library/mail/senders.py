"""Whose messages are taken: a list of addresses and domains."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from pagekeep.capture.documents.email.headers import parse_mailboxes, read_headers
from pagekeep.errors import InvalidQuery

EVERYONE: Final = "*"
MAX_SENDERS: Final = 500
_MAX_SENDER_CHARS: Final = 320
_SENDER: Final = re.compile(r"(?:[^\s@<>,\"]{1,64}@)?(?:[\w-]{1,63}\.)+[\w-]{2,63}|[^\s@<>,\"]{1,64}@[\w-]{1,63}")


def clean_senders(senders: Iterable[str]) -> tuple[str, ...]:
    """Return addresses and domains in lower case, each once; `InvalidQuery` for anything else, or none."""
    cleaned: dict[str, None] = {}
    for sender in senders:
        text = sender.strip().lower().removeprefix("@")
        if not text:
            continue
        if text != EVERYONE and (len(text) > _MAX_SENDER_CHARS or not _SENDER.fullmatch(text)):
            raise InvalidQuery(
                f"{sender!r:.80} is not a mail address or a domain.",
                suggestions=("Use ann@example.com, example.com, or * for all senders.",),
            )
        cleaned[text] = None
    if not cleaned:
        raise InvalidQuery(
            "Whose messages are taken? No sender is named.",
            suggestions=("Name addresses or domains, or * for all senders.",),
        )
    if len(cleaned) > MAX_SENDERS:
        raise InvalidQuery(f"There are more than {MAX_SENDERS} senders.", suggestions=("Name domains instead.",))
    return tuple(cleaned)


def find_sender(head: bytes) -> str:
    """Return the address of a message's sender in lower case; empty when its headers name none."""
    boxes = parse_mailboxes((read_headers(head).get("from") or [""])[0])
    return next((box.address.lower() for box in boxes if box.address), "")


def is_allowed(sender: str, allowed: Collection[str]) -> bool:
    """Return whether a sender is in the list: by address, or by domain with the domains below it."""
    if EVERYONE in allowed or (sender and sender in allowed):
        return True
    labels = sender.rpartition("@")[2].split(".") if sender else []
    return any(".".join(labels[start:]) in allowed for start in range(len(labels) - 1))
