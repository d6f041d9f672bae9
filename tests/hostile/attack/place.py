"""A library with accounts for the attacks: readers with their own items, and one attacker with hostile items."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pagekeep.identity import accounts
from pagekeep.store import Store, open_accounts, open_store
from tests.store.making import make_item, make_raw

PASSWORD: Final = "nine stoves and a kettle"
ITEMS_PER_READER: Final = 30
LONG_EVERY: Final = 3
"""Every third item of a reader is so long that the server renders it in a worker process."""
CODE_ITEMS: Final = 100
"""Hostile items with code, so that few of them are in the server's cache of rendered pages."""
CODE_CHARS: Final = 21_000
OBSCURE: Final = ("androidbp", "amdgpu", "agda", "actionscript3")
LIST_ITEMS: Final = 3_000
HEADINGS: Final = 4_000

_WORDS: Final = "keeper ship lamp harbour kettle breakfast number window storm ledger rope anchor gull tide".split()


@dataclass(frozen=True)
class Reader:
    """One user who reads and saves pages."""

    name: str
    token: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """Who and what is in the library."""

    readers: tuple[Reader, ...]
    read_token: str
    """The attacker's token that may only read."""
    write_token: str
    session: str = ""
    """The key of a session of the attacker."""
    job: str = ""
    """A job of the attacker, whose progress can be followed."""
    items: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The attacker's hostile items: `lists`, `headings` and `code`."""


def prepare(library: Path, readers: int) -> Place:
    """Fill a new library."""
    with closing(open_accounts(str(library))) as known:
        users = [accounts.add_user(known, f"reader{number}", PASSWORD) for number in range(readers)]
        tokens = [accounts.add_token(known, user.id, "phone", ("read", "write")).secret for user in users]
        mallory = accounts.add_user(known, "mallory", PASSWORD)
        read = accounts.add_token(known, mallory.id, "read", ("read",)).secret
        write = accounts.add_token(known, mallory.id, "write", ("read", "write")).secret
        session = accounts.open_session(known, mallory.id)
    keys = [_fill(library, user.id, number) for number, user in enumerate(users)]
    with closing(open_store(str(library), mallory.id)) as store:
        kinds = {"lists": _lists, "headings": _headings, "code": _code}
        hostile = {name: tuple(add(store, mallory.id)) for name, add in kinds.items()}
        job = store.jobs.add("https://later.example/", "https://later.example/", {}, "2099-01-01T00:00:00.000000Z").id
    people = zip(users, tokens, keys, strict=True)
    known_readers = tuple(Reader(user.name, token, items) for user, token, items in people)
    return Place(known_readers, read, write, session, job, hostile)


def prose(chance: random.Random, words: int) -> str:
    """Return paragraphs of this many words."""
    text = [chance.choice(_WORDS) for _ in range(words)]
    return "\n\n".join(" ".join(text[at : at + 70]).capitalize() + "." for at in range(0, words, 70))


def _fill(library: Path, user: str, number: int) -> tuple[str, ...]:
    chance = random.Random(number)
    keys = []
    with closing(open_store(str(library), user)) as store:
        for page in range(ITEMS_PER_READER):
            content = prose(chance, 400 if page % LONG_EVERY else 6_000)
            title = f"The {chance.choice(_WORDS)} and the {chance.choice(_WORDS)}"
            keys.append(store.items.save(make_item(page, title=title, content=content, user_id=user), None).id)
    return tuple(keys)


def _lists(store: Store, user: str) -> Iterator[str]:
    """A page of many list items, whose comparison by lines is slow."""
    items = "".join(f"<li>{number % 7} {number % 11}</li>" for number in range(LIST_ITEMS))
    page = f"<title>Lists</title><article><h1>Lists</h1><p>{prose(random.Random(1), 300)}</p><ul>{items}</ul></article>"
    content = "# Lists\n\n" + "".join(f"- {number % 11} {number % 7}\n" for number in range(LIST_ITEMS))
    item = make_item(1, title="Lists", content=content, user_id=user, url="https://lists.example/page")
    yield store.items.save(item, make_raw(page.encode())).id


def _headings(store: Store, user: str) -> Iterator[str]:
    content = "".join(
        f"{'#' * (1 + number % 4)} Heading {number} {'x' * 400}\n\nText.\n\n" for number in range(HEADINGS)
    )
    yield store.items.save(make_item(2, title="Headings", content=content, user_id=user), None).id


def _code(store: Store, user: str) -> Iterator[str]:
    shapes = ("{" * CODE_CHARS, "a=[" * (CODE_CHARS // 3), "\n" * CODE_CHARS, "{-" * (CODE_CHARS // 2), "v0[" * 7_000)
    for number in range(CODE_ITEMS):
        language, code = OBSCURE[number % len(OBSCURE)], shapes[number % len(shapes)][: CODE_CHARS - number]
        content = f"# Code {number}\n\n```{language}\n{code}\n```\n\n```c\n{code[:19_000]}\n```\n"
        yield store.items.save(make_item(10 + number, title="Code", content=content, user_id=user), None).id
