"""Mail sources: folders of mailboxes that the user added, and whose messages are taken from them."""

from __future__ import annotations

import re
import uuid
from collections.abc import Collection, Iterable
from dataclasses import asdict, replace
from typing import Any, Final, Literal

from pagekeep import clock
from pagekeep.capture.documents.email.message import parse_mailboxes, read_headers
from pagekeep.config import Settings
from pagekeep.errors import InvalidQuery, NotAllowed, NotFound
from pagekeep.fetch.urls import parse_host
from pagekeep.library.queue import MAX_INTERVAL, MIN_INTERVAL
from pagekeep.model import MailFolder, MailPosition, MailSource, Schedule
from pagekeep.store import Store

TASK: Final = "mail"
EVERY: Final = 900
"""Seconds between two polls, by default."""
MAX_SOURCES: Final = 50
_MAX_NAME_CHARS: Final = 300
DEFAULT_PORTS: Final = {"tls": 993, "plain": 143}
_COUNTS: Final = ("added", "unwanted", "too_large", "failed", "paused")


def add_source(
    store: Store,
    settings: Settings,
    host: str,
    user: str,
    *,
    senders: Iterable[str],
    folder: str = "INBOX",
    port: int | None = None,
    security: Literal["tls", "plain"] = "tls",
    every: int = EVERY,
) -> tuple[MailSource, bool]:
    """Add a mail source, and return it and whether it is new; it is polled as soon as jobs run.

    One for the same folder gets the new senders and interval. `InvalidQuery` for values that cannot be, `NotAllowed` on a
    server of several users: the passwords are settings of the server.
    """
    if settings.shared:
        raise NotAllowed(
            "Mail sources need a library of one user, as the password of the mailbox is a setting of the server.",
            suggestions=("Use them without the setting `shared`.",),
        )
    known = store.schedules.list(TASK)
    wanted = check_folder(MailFolder(host, port or DEFAULT_PORTS[security], user, folder, security))
    allowed, every = clean_senders(senders), check_interval(every)
    address = f"imap://{wanted.user}@{wanted.host}:{wanted.port}/{wanted.folder}"
    source_id = str(uuid.uuid5(uuid.NAMESPACE_URL, address))
    is_new = not any(schedule.subject == source_id for schedule in known)
    if is_new and len(known) >= MAX_SOURCES:
        raise InvalidQuery(f"There are already {MAX_SOURCES} mail sources.", suggestions=("Remove one first.",))
    config, now = {**asdict(wanted), "senders": list(allowed)}, clock.now()
    schedule = store.schedules.put(TASK, source_id, "pagekeep:mail", every, now, now, {"source": config})
    if not is_new:
        return change_source(store, source_id, senders=allowed), False
    return _source(schedule), True


def check_folder(folder: MailFolder) -> MailFolder:
    """Return a folder in its normal form; `InvalidUrl` or `InvalidQuery` for what cannot be one."""
    if not 0 < folder.port < 65_536:
        raise InvalidQuery(f"`{folder.port}` is not a valid port.", suggestions=("The usual one is 993.",))
    for what, text in (("user name", folder.user), ("folder", folder.folder)):
        if not text.strip() or not text.isprintable() or len(text) > _MAX_NAME_CHARS:
            raise InvalidQuery(f"The {what} of the mailbox is empty or not valid.", suggestions=("Check it.",))
    return replace(folder, host=parse_host(folder.host.strip()).name, user=folder.user.strip())


def check_interval(seconds: int) -> int:
    """Return the seconds between two polls; `InvalidQuery` for too few or too many."""
    if not MIN_INTERVAL <= seconds <= MAX_INTERVAL:
        raise InvalidQuery(
            "A mail source is polled every 5 minutes to 90 days.", suggestions=("Use 15m, for example.",)
        )
    return seconds


def list_sources(store: Store) -> tuple[MailSource, ...]:
    """Return the mail sources, the oldest first."""
    return tuple(sorted(map(_source, store.schedules.list(TASK)), key=lambda one: (one.created_at, one.id)))


def get_source(store: Store, key: str) -> MailSource:
    """Return the mail source with this id, beginning of an id, or label; `NotFound` when there is not exactly one."""
    sources = list_sources(store)
    found = [one for one in sources if key and (one.id.startswith(key.lower()) or one.label == key)]
    if len(found) != 1:
        raise NotFound(f"There is no mail source {key!r:.100}.", suggestions=("List them first.",))
    return found[0]


def change_source(
    store: Store, key: str, *, senders: Iterable[str] | None = None, every: int | None = None
) -> MailSource:
    """Change whose messages are taken, or how often; after new senders, recent messages are looked through again."""
    source, now = get_source(store, key), clock.now()
    if every is not None:
        source = replace(source, every=check_interval(every))
        store.schedules.put(TASK, source.id, "pagekeep:mail", every, now, now)
    if senders is not None:
        allowed = clean_senders(senders)
        added = set(allowed) - set(source.senders)
        changes: dict[str, Any] = {"source": {**asdict(source.folder), "senders": list(allowed)}}
        if added:
            changes |= {"position": {}, "others": {}}
            request_poll(store, source)
        store.schedules.merge_state(source.schedule_id, changes)
    return get_source(store, source.id)


def remove_source(store: Store, key: str) -> MailSource:
    """Poll a folder no longer; what came from it stays in the feed inbox."""
    source = get_source(store, key)
    store.schedules.remove(TASK, source.id)
    return source


def request_poll(store: Store, source: MailSource) -> None:
    """Have a source polled as soon as jobs run."""
    now = clock.now()
    store.schedules.put(TASK, source.id, "pagekeep:mail", source.every, now, now)


def find_source(store: Store, source_id: str) -> MailSource | None:
    """Return the source of a job, unless it was removed."""
    schedule = store.schedules.get(TASK, source_id)
    return _source(schedule) if schedule else None


def _source(schedule: Schedule) -> MailSource:
    config, state = schedule.state.get("source") or {}, schedule.state
    position = state.get("position") or {}
    counts = state.get("counts") or {}
    return MailSource(
        id=schedule.subject,
        folder=MailFolder(
            str(config.get("host", "")),
            int(config.get("port", 993)),
            str(config.get("user", "")),
            str(config.get("folder", "INBOX")),
            "plain" if config.get("security") == "plain" else "tls",
        ),
        senders=tuple(config.get("senders") or ()),
        every=schedule.every,
        created_at=schedule.created_at,
        next_at=schedule.next_at,
        polled_at=schedule.last_run_at,
        attempts=schedule.attempts,
        error=state.get("error"),
        counts={name: int(counts.get(name, 0)) for name in _COUNTS},
        others=dict(state.get("others") or {}),
        position=MailPosition(int(position.get("validity", 0)), int(position.get("uid", 0))),
        schedule_id=schedule.id,
    )


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
