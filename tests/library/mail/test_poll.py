"""Newsletters from a real IMAP server in the feed inbox: each once, only of allowed senders, whatever is killed when."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.library.feeds.inbox import keep_entry
from pagekeep.library.feeds.mail_poll import poll_job
from pagekeep.library.feeds.mail_sources import change_source, get_source
from pagekeep.library.feeds.subscriptions import change_feed, list_feeds
from pagekeep.library.run_jobs import JobResult, JobRunner
from pagekeep.model import EntryQuery, Item, MailSource
from pagekeep.store import Store, open_store
from pagekeep.workers import Room
from tests.library.mail.conftest import Poll
from tests.site.imap import ImapServer

MAILS = Path(__file__).parents[2] / "capture/documents/email/mails"
Subscribe = Callable[..., MailSource]


def letter(number: int, sender: str = "ann@letters.example") -> bytes:
    head = f"From: Ann <{sender}>\nSubject: Letter {number}\nDate: Tue, 03 Nov 2026 08:00:00 +0000\n"
    return f"{head}Message-ID: <{number}@letters.example>\n\nThe text of letter {number} is here.\n".encode()


def titles(store: Store) -> list[str]:
    return sorted(entry.title for entry in store.entries.find(EntryQuery(limit=200)).entries)


def test_a_newsletter_arrives_by_imap_and_is_read_and_kept(
    any_library: Store, mailbox: ImapServer, subscribe: Subscribe, poll_now: Poll, mail_settings: Settings, room: Room
) -> None:
    data = (MAILS / "post-platform.eml").read_bytes()
    mailbox.add(data)
    source = subscribe(any_library, "post.example")
    report = poll_now(any_library, source.id)
    assert (report["added"], report["error"]) == (1, None)
    (counted,) = list_feeds(any_library)
    assert (counted.feed.kind, counted.feed.label, counted.feed.folder) == ("mail", "Slow Water", "Newsletters")
    (found,) = any_library.entries.find(EntryQuery()).entries
    entry = any_library.entries.get(found.id)
    assert (entry.title, entry.author) == ("The tide clock that lost an hour", "Mara Lind from Slow Water")
    assert entry.content.startswith("# [The tide clock")
    assert "Unsubscribe" not in entry.content

    async def keep() -> Item:
        async with Retrieval(mail_settings, room=room) as retrieval:
            return (await keep_entry(entry.id, any_library, retrieval)).item

    item = asyncio.run(keep())
    raw = any_library.items.raw(item.id)
    assert (item.url, item.source) == ("https://slowwater.post.example/p/the-tide-clock", "mail")
    assert raw is not None
    assert raw.body == data.replace(b"\n", b"\r\n")
    assert not any("STORE" in command.upper() for command in mailbox.commands)


def test_messages_come_once_and_the_next_ones_follow(
    any_library: Store, mailbox: ImapServer, subscribe: Subscribe, poll_now: Poll
) -> None:
    for number in range(3):
        mailbox.add(letter(number))
    source = subscribe(any_library)
    assert poll_now(any_library, source.id)["added"] == 3
    assert "added" not in poll_now(any_library, source.id)
    mailbox.add(letter(3))
    assert poll_now(any_library, source.id)["added"] == 1
    assert titles(any_library) == [f"Letter {number}" for number in range(4)]
    state = get_source(any_library, source.id)
    assert (state.counts["added"], state.position.uid, state.error) == (4, 4, None)


def test_a_folder_that_is_numbered_again_gives_nothing_twice(
    library: Store, mailbox: ImapServer, subscribe: Subscribe, poll_now: Poll
) -> None:
    for number in range(3):
        mailbox.add(letter(number))
    source = subscribe(library)
    poll_now(library, source.id)
    mailbox.validity = 8
    mailbox.folders["INBOX"] = {uid + 10: message for uid, message in mailbox.folders["INBOX"].items()}
    mailbox.add(letter(3))
    assert poll_now(library, source.id)["added"] == 1
    assert len(titles(library)) == 4
    assert get_source(library, source.id).position.validity == 8


def test_other_senders_are_counted_and_shown_and_can_be_allowed(
    library: Store, mailbox: ImapServer, subscribe: Subscribe, poll_now: Poll
) -> None:
    mailbox.add(letter(1))
    mailbox.add(letter(2, "shop@ads.example"))
    mailbox.add(letter(3, "x@news.letters.example"))
    source = subscribe(library, "letters.example")
    poll_now(library, source.id)
    assert titles(library) == ["Letter 1", "Letter 3"]
    state = get_source(library, source.id)
    assert (state.counts["unwanted"], state.others) == (1, {"shop@ads.example": 1})
    change_source(library, source.id, senders=("letters.example", "shop@ads.example"))
    assert poll_now(library, source.id)["added"] == 1
    assert len(titles(library)) == 3


def test_a_paused_newsletter_gets_no_more_entries(
    library: Store, mailbox: ImapServer, subscribe: Subscribe, poll_now: Poll
) -> None:
    mailbox.add(letter(1))
    source = subscribe(library)
    poll_now(library, source.id)
    change_feed(library, "ann@letters.example", status="paused")
    mailbox.add(letter(2))
    assert poll_now(library, source.id)["paused"] == 1
    assert titles(library) == ["Letter 1"]


def test_encrypted_large_and_broken_messages_are_noticed(
    library: Store, mailbox: ImapServer, subscribe: Subscribe, poll_now: Poll, mail_settings: Settings
) -> None:
    mailbox.add((MAILS / "encrypted-pgp.eml").read_bytes())
    mailbox.add(letter(2) + b"x" * 200_000)
    mailbox.add(b"From: a@b.example\n\n\x00\xff")
    source = subscribe(library)
    report = poll_now(library, source.id, replace(mail_settings, max_bytes=100_000))
    assert (report["added"], report["too_large"]) == (2, 1)
    contents = [library.entries.get(one.id).content for one in library.entries.find(EntryQuery()).entries]
    assert any("encrypted (OpenPGP)" in content for content in contents)


def test_a_failed_poll_is_noted_and_the_next_one_is_later(
    library: Store, mailbox: ImapServer, subscribe: Subscribe, poll_now: Poll, mail_settings: Settings
) -> None:
    source = subscribe(library)
    wrong = replace(mail_settings, mail_password="wrong-password")
    for attempt in (1, 2):
        assert "refused" in poll_now(library, source.id, wrong)["error"]
        state = get_source(library, source.id)
        assert state.attempts == attempt
    assert "wrong-password" not in str(library.schedules.list("mail"))
    assert poll_now(library, source.id)["error"] is None
    assert (get_source(library, source.id).error, get_source(library, source.id).attempts) == (None, 0)


def test_the_guard_covers_the_mail_server(
    library: Store, mailbox: ImapServer, subscribe: Subscribe, poll_now: Poll, mail_settings: Settings
) -> None:
    source = subscribe(library)
    assert "private address" in poll_now(library, source.id, replace(mail_settings, allow_hosts=()))["error"]
    assert mailbox.commands == []


def test_a_due_source_is_polled_by_a_worker(
    library: Store, mailbox: ImapServer, subscribe: Subscribe, mail_settings: Settings, room: Room, tmp_path: Path
) -> None:
    mailbox.add(letter(1))
    subscribe(library)
    reports: list[JobResult] = []

    async def work() -> None:
        path = tmp_path / "library.db"
        with closing(open_store(path, workers=True)) as jobs:
            async with Retrieval(mail_settings, room=room) as retrieval:
                runner = JobRunner("w", jobs, lambda user: open_store(path, user), retrieval, reports.append)
                await runner.run(until_empty=True)

    asyncio.run(work())
    assert titles(library) == ["Letter 1"]
    assert [result.error for result in reports] == [None]


_POLL = """
import asyncio, sys
from contextlib import closing
from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.library.feeds.mail_poll import poll
from pagekeep.library.feeds.mail_sources import list_sources
from pagekeep.store import open_store
async def main(place, account, password):
    settings = Settings(allow_hosts=("127.0.0.1",), mail_account=account, mail_password=password)
    with closing(open_store(place, "local")) as store:
        async with Retrieval(settings) as retrieval:
            await poll(list_sources(store)[0], store, retrieval)
asyncio.run(main(*sys.argv[1:]))
"""


def poll_and_kill(place: Path, mailbox: ImapServer, at: int) -> None:
    """Poll in a process that is killed when it requests the body of message `at`."""
    process: subprocess.Popen[bytes] | None = None

    def kill(uid: int) -> None:
        if uid == at and process is not None:
            process.kill()

    mailbox.on_body = kill
    account = f"{mailbox.user}@127.0.0.1"
    process = subprocess.Popen([sys.executable, "-c", _POLL, str(place), account, mailbox.password])
    process.wait(60)
    mailbox.on_body = None


def test_a_poll_that_is_killed_loses_and_doubles_nothing(
    mailbox: ImapServer, subscribe: Subscribe, poll_now: Poll, tmp_path: Path
) -> None:
    for number in range(6):
        mailbox.add(letter(number))
    with closing(open_store(tmp_path / "library.db", "local")) as store:
        source: Any = subscribe(store)
        poll_and_kill(tmp_path / "library.db", mailbox, 4)
        poll_now(store, source.id)
        assert titles(store) == [f"Letter {number}" for number in range(6)]
        assert get_source(store, source.id).position.uid == 6


def test_each_visit_is_a_slice_of_the_job(
    library: Store, mailbox: ImapServer, subscribe: Subscribe, mail_settings: Settings, room: Room
) -> None:
    for number in range(120):
        mailbox.add(letter(number, "shop@ads.example"))
    source = subscribe(library, "letters.example")
    options = {"task": "mail", "subject": source.id}
    job = library.jobs.add("pagekeep:mail", "pagekeep:mail", options, clock.now())

    async def run() -> list[bool]:
        async with Retrieval(mail_settings, room=room) as retrieval:
            first = await poll_job(job, library, retrieval, lambda _stage: None)
            second = await poll_job(
                replace(job, options={**job.options, "so_far": first.so_far}), library, retrieval, print
            )
            return [first.so_far is not None, second.so_far is not None]

    assert asyncio.run(run()) == [True, False]
    assert get_source(library, source.id).position.uid == 120
