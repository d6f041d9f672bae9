"""A poll of a mailbox that is killed at any message is run again: every message is in the feed inbox once.

python -m tests.hostile.mail_kill [KILLS]
"""

from __future__ import annotations

import asyncio
import random
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.library.feeds.mail_poll import poll
from pagekeep.library.feeds.mail_sources import add_source, get_source
from pagekeep.model import EntryQuery
from pagekeep.store import open_store
from tests.library.mail.test_poll import letter, poll_and_kill
from tests.site.imap import ImapServer

MESSAGES = 60


def check(kills: int) -> int:
    """Kill polls at random messages, then poll to the end; return how many messages are in the inbox."""
    pick = random.Random(7)
    with TemporaryDirectory() as folder, ImapServer() as mailbox:
        place = Path(folder) / "library.db"
        settings = Settings(
            allow_hosts=("127.0.0.1",), mail_account=f"{mailbox.user}@127.0.0.1", mail_password=mailbox.password
        )
        with closing(open_store(place, "local")) as store:
            source, _ = add_source(
                store, settings, "127.0.0.1", mailbox.user, senders=["*"], port=mailbox.port, security="plain"
            )
            for number in range(MESSAGES):
                mailbox.add(letter(number))
            for _ in range(kills):
                reached = get_source(store, source.id).position.uid
                poll_and_kill(place, mailbox, min(MESSAGES, reached + pick.randrange(1, 14)))
            asyncio.run(_finish(settings, store, source.id))
            titles = sorted(entry.title for entry in store.entries.find(EntryQuery(limit=500)).entries)
    assert titles == sorted(f"Letter {number}" for number in range(MESSAGES)), titles
    return len(titles)


async def _finish(settings: Settings, store: object, key: str) -> None:
    async with Retrieval(settings) as retrieval:
        await poll(get_source(store, key), store, retrieval)  # type: ignore[arg-type]


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(f"{wanted} kills: {check(wanted)} of {MESSAGES} messages, each once")
