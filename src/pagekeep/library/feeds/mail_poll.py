"""Poll mail sources: new messages of allowed senders become entries of the feed inbox."""

from __future__ import annotations

import shlex
import ssl
import subprocess
from asyncio import to_thread
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.errors import NotAllowed, NotFound, PagekeepError, ParseError, StoreError
from pagekeep.fetch.imap import FolderNews, Limits, read_new
from pagekeep.library.feeds.inbox import add_entries
from pagekeep.library.feeds.mail_sources import TASK, find_sender, find_source, is_allowed
from pagekeep.library.feeds.subscriptions import add_feed
from pagekeep.library.queue import SliceResult, next_time
from pagekeep.library.saving.mail_messages import Letter, read_letter
from pagekeep.model import FeedSettings, Job, MailPosition, MailSource
from pagekeep.store import Store
from pagekeep.store.tables.jobs import SO_FAR

FOLDER: Final = "Newsletters"
"""The folder of the feeds that arrive by mail."""
_SETTINGS: Final = FeedSettings(keep_days=0)
"""Messages stay whatever their date: it may be far in the past, and they cannot be fetched again."""
SINCE_DAYS: Final = 30
"""How far back a folder is read at first."""
MAX_VISITS: Final = 5
"""Visits of one poll while there are more messages; the next poll goes on."""
_BATCH: Final = 10
"""Messages after which the position is stored."""
_MAX_OTHERS: Final = 50


@dataclass(slots=True)
class Poll:
    """What a poll has found so far."""

    source: MailSource
    position: MailPosition
    counts: Counter[str] = field(default_factory=Counter)
    others: dict[str, int] = field(default_factory=dict)
    has_more: bool = False
    """Whether the last visit left messages for another one."""

    def changes(self) -> dict[str, Any]:
        """Return what is remembered of it."""
        total = Counter(self.source.counts)
        total.update(self.counts)
        return {
            "position": {"validity": self.position.validity, "uid": self.position.uid},
            "counts": dict(total),
            "others": dict(list(self.others.items())[-_MAX_OTHERS:]),
        }


async def poll_job(job: Job, store: Store, retrieval: Retrieval, progress: Callable[[str], None]) -> SliceResult:
    """Poll a mail source, as a job; each visit is a slice, so that a slow server does not hold up other sources."""
    source = await to_thread(find_source, store, str(job.options.get("subject")))
    if source is None:
        return SliceResult(report={"added": 0})
    progress("Reading mail")
    visits = int((job.options.get(SO_FAR) or {}).get("visits", 0)) + 1
    report = await poll(source, store, retrieval, visits=1)
    if report["has_more"] and visits < MAX_VISITS:
        return SliceResult(so_far={"visits": visits})
    return SliceResult(report=report)


async def poll(
    source: MailSource,
    store: Store,
    retrieval: Retrieval,
    *,
    visits: int = MAX_VISITS,
    tls: ssl.SSLContext | None = None,
) -> Mapping[str, Any]:
    """Read the new messages of a source; a failure is noted, and the next poll comes later."""
    found = Poll(source, source.position, others=dict(source.others))
    error: str | None = None
    try:
        await _read_all(found, store, retrieval, visits, tls)
    except StoreError:
        raise
    except PagekeepError as failure:
        error = failure.message
    await to_thread(_settle, store, found, error)
    return {**found.counts, "error": error, "has_more": found.has_more and error is None}


async def _read_all(found: Poll, store: Store, retrieval: Retrieval, visits: int, tls: ssl.SSLContext | None) -> None:
    settings, source = retrieval.settings, found.source
    if settings.shared:
        raise NotAllowed("Mail sources need a library of one user.", suggestions=())
    password = await to_thread(find_password, settings, source.account)
    since = date.fromisoformat(clock.add_seconds(clock.now(), -SINCE_DAYS * 86_400.0)[:10])
    for _ in range(visits):
        news = await read_new(
            source.folder,
            password,
            retrieval.client.guard,
            after=found.position,
            since=since,
            wants=lambda head: is_allowed(find_sender(head), source.senders),
            limits=Limits(message_bytes=settings.max_bytes),
            tls=tls,
        )
        await _take(news, found, store, retrieval)
        found.has_more = news.has_more
        if not news.has_more:
            break


async def _take(news: FolderNews, found: Poll, store: Store, retrieval: Retrieval) -> None:
    """Put the messages of a visit into the inbox, and store the position behind them every few messages."""
    for number, message in enumerate(news.messages, 1):
        if message.body is None:
            found.counts[message.skipped] += 1
            if message.skipped == "unwanted":
                sender = find_sender(message.head)[:200] or "(no address)"
                found.others[sender] = found.others.pop(sender, 0) + 1
        else:
            letter = await read_letter(message.body, clock.now(), retrieval)
            found.counts[await to_thread(_put, store, letter)] += 1
            found.counts["failed"] += int(not letter.is_read)
        found.position = MailPosition(news.validity, message.uid)
        if number % _BATCH == 0:
            await to_thread(store.schedules.merge_state, found.source.schedule_id, found.changes())
    if found.position.validity != news.validity and not news.messages:
        found.position = MailPosition(news.validity, 0)


def _put(store: Store, letter: Letter) -> str:
    """Put a message into the inbox of its newsletter; return what to count it as."""
    feed, _ = add_feed(store, letter.feed, kind="mail", title=letter.feed_title, folder=FOLDER, settings=_SETTINGS)
    if feed.status != "active":
        return "paused"
    return "added" if add_entries(store, feed, [letter.entry], listed=()).added else "known"


def _settle(store: Store, found: Poll, error: str | None) -> None:
    """Store what the poll remembers; after a failure the next one is later."""
    source, now, failed = found.source, clock.now(), error is not None
    schedule = store.schedules.get(TASK, source.id)
    if schedule is None:
        return
    later = next_time(replace(schedule, attempts=schedule.attempts + 1), now) if failed else None
    changes = {**found.changes(), "error": error}
    store.schedules.merge_state(schedule.id, changes, failed=failed, now=now, next_at=later)


_COMMAND_SECONDS: Final = 20.0
_MAX_PASSWORD_CHARS: Final = 4_000


def find_password(settings: Settings, account: str) -> str:
    """Return the password for `user@host`; `NotFound` when there is none, `ParseError` when the command fails.

    The password of the settings is for one mailbox only: else a client that can add sources could have it sent to its
    own server.
    """
    if settings.mail_password_command:
        return _ask_command(settings.mail_password_command, account)
    if settings.mail_password and settings.mail_account == account:
        return settings.mail_password
    raise NotFound(
        f"There is no password for the mailbox {account:.200}.",
        suggestions=(
            f"Set PAGEKEEP_MAIL_ACCOUNT={account:.200} and PAGEKEEP_MAIL_PASSWORD, or the setting `mail_password_command`.",
        ),
    )


def _ask_command(command: str, account: str) -> str:
    failed = ParseError(
        f"The command in `mail_password_command` printed no password for {account:.200}.",
        suggestions=("Run it in a terminal to see why.",),
    )
    try:
        done = subprocess.run(
            [*shlex.split(command), account],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_COMMAND_SECONDS,
            check=True,
        )
        password = done.stdout.decode("utf-8").partition("\n")[0].rstrip("\r")
    except (OSError, ValueError, subprocess.SubprocessError):
        raise failed from None
    if not password or len(password) > _MAX_PASSWORD_CHARS:
        raise failed
    return password
