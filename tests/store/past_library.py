"""Libraries of past schemas with something of everything in them, and what must be there after an upgrade.

The rows are written with plain SQL into the schema of that version, as its program wrote them; nothing of today's store has a
hand in it but the compression and the hashes, which have never changed.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pagekeep.model import ItemQuery, item_filters
from pagekeep.store import Store, parse_query
from pagekeep.store.blob_files import pack

SCHEMAS = Path(__file__).parent / "schemas"
USERS = ("ada", "grace")
ITEMS = 14
"""Items of each user."""
TIME = "2025-03-19T10:{:02}:00.000000Z"
PUBLISHED = (None, "2024", "2025-01-01T04:00:00Z", "2024-12-31T23:30:00-05:00", "2025-01-01T14:00:00+09:00")
"""Dates of pages, in the order of their instants."""
_WORDS = ("lighthouse", "ferry", "größe", "数学", "tide table", "driftwood", "Ångström", "harbour")


@dataclass
class Expected:
    """What one user's library must hold, by the address of the item."""

    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    raw: dict[str, bytes] = field(default_factory=dict)
    notes: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    versions: dict[str, list[bytes]] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    jobs: dict[str, str] = field(default_factory=dict)


class PastDatabase:
    """Writes rows into whatever columns and tables the schema has."""

    def __init__(
        self,
        version: int,
        run: Callable[[str, dict[str, Any]], Any],
        columns: dict[str, dict[str, str]],
        *,
        packs: bool,
    ) -> None:
        self.version = version
        self.run = run
        self.packs = packs
        """Whether it is SQLite, which compresses the words it has indexed, and has no row security."""
        self._columns = columns
        """Table to column to type."""

    def has(self, table: str) -> bool:
        return table in self._columns

    def put(self, table: str, **values: Any) -> None:
        known = self._columns.get(table)
        if known is None:
            return
        written = {
            name: bool(value) if known[name] == "boolean" else value for name, value in values.items() if name in known
        }
        marks = ", ".join(f":{name}" for name in written)
        given = "OVERRIDING SYSTEM VALUE " if table == "items" and not self.packs else ""  # the number of the item
        self.run(f"INSERT INTO {table} ({', '.join(written)}) {given}VALUES ({marks})", written)

    def act_for(self, user: str) -> None:
        """Write as this user, where the rows of others are hidden."""
        if not self.packs:
            self.run("SELECT set_config('app.user_id', :user, false)", {"user": user})


def make_sqlite(path: Path, version: int) -> dict[str, Expected]:
    """Make a file of this schema; return what each user has."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript((SCHEMAS / f"sqlite-v{version}.sql").read_text("utf-8"))
        columns = {
            name: {row[1]: row[2].lower() for row in connection.execute(f"PRAGMA table_info({name})")}
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        }
        connection.execute("BEGIN")
        database = PastDatabase(version, lambda sql, values: connection.execute(sql, values), columns, packs=True)
        expected = {user: fill(database, user, at * 100) for at, user in enumerate(USERS, start=1)}
        connection.execute("COMMIT")
    return expected


def make_postgres(owner: str, version: int) -> dict[str, Expected]:
    """Make the library in an empty database of this owner."""
    import psycopg

    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("SELECT set_config('app.user_id', 'local', false)")  # whose rows the schema's file has
        connection.execute((SCHEMAS / f"postgres-v{version}.sql").read_text("utf-8").encode())
        connection.execute("SET search_path = pagekeep")
        rows = connection.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'pagekeep'"
        ).fetchall()
        columns: dict[str, dict[str, str]] = {}
        for table, column, kind in rows:
            columns.setdefault(table, {})[column] = kind

        def run(sql: str, values: dict[str, Any]) -> Any:
            return connection.execute(re.sub(r":([a-z_]\w*)", r"%(\1)s", sql).encode(), values)

        database = PastDatabase(version, run, columns, packs=False)
        expected = {}
        for at, user in enumerate(USERS, start=1):
            with connection.transaction():
                expected[user] = fill(database, user, at * 100)
    return expected


def fill(database: PastDatabase, user: str, first: int) -> Expected:
    """Write the rows of one user; the numbers of the items begin with `first`."""
    database.act_for(user)
    expected = Expected()
    for number in range(ITEMS):
        _put_item(database, expected, user, number, first + number)
    for number, state in enumerate(("queued", "dead", "done")):
        url = f"https://waits.example/{user}/{number}"
        database.put(
            "jobs",
            user_id=user,
            id=_id(user, "job", number),
            url_hash=_hash(url),
            url=url,
            url_full=url,
            options='{"tags":["waits"]}',
            state=state,
            attempts=number,
            error='{"type":"FetchTimeout","message":"Too slow."}' if state == "dead" else None,
            run_after=TIME.format(1),
            due_at=TIME.format(1) if state == "queued" else None,
            created_at=TIME.format(1),
        )
        # Before schema 22 a save could fail without an item; it runs again.
        expected.jobs[url] = "queued" if state == "dead" and database.version < 22 else state
    if database.has("lists"):
        _put_lists(database, expected, user)
    return expected


def _put_item(database: PastDatabase, expected: Expected, user: str, number: int, seq: int) -> None:
    item_id, url = _id(user, "item", number), f"https://site{number % 3}.example/{user}/{number}"
    word, title = _WORDS[number % len(_WORDS)], f"Page {number} of {user}"
    own = ["tides", f"own {number}"] if number % 3 == 0 else []
    """Tags of the page itself, which versions before schema 5 added to those of the user."""
    mine = ["mine", f"shelf {number % 4}"] if number % 2 == 0 else []
    before = database.version < 5
    head = f"title: {title}\ntags: {json.dumps(own)}\n" if own else f"title: {title}\n"
    content = f"---\n{head}---\n\nAbout the {word}, unique{user}{number}.\n"
    metadata: dict[str, Any] = {"tags": [*mine, *own] if before else mine, "parser_version": 1, "language": "en"}
    if own and not before:
        metadata["suggested_tags"] = own
    if number % 4 == 1:
        metadata["pinned"] = True
    if number % 5 == 2:
        metadata["archived"] = True
    deleted = TIME.format(50) if number == 7 else None
    metadata["text_hash"] = _hash(content)
    stored = metadata["tags"]
    database.put(
        "items",
        seq=seq,
        user_id=user,
        id=item_id,
        url_hash=_hash(url),
        domain_key=f"example.site{number % 3}.",
        title_key=title.lower(),
        saved_at=TIME.format(number),
        published_at=PUBLISHED[number * 3 % 5],
        created_at=TIME.format(number),
        updated_at=TIME.format(number + 1),
        deleted_at=deleted,
        metadata=json.dumps(metadata),
        source="web",
        domain=f"site{number % 3}.example",
        url=url,
        url_full=f"{url}?utm_source=mail",
        title=title,
        author="Ada Lovelace" if number % 2 else None,
        content=content,
    )
    for tag in stored:
        database.put("item_tags", user_id=user, tag=tag, item_id=item_id)
    # As old versions indexed it; the words are plain so that today's splitting gives the same.
    head_words = f"page {number} of {user} ¶ {'ada lovelace' if number % 2 else ''} ¶ " + " ¶ ".join(stored)
    body_words = f"about the unique{user}{number}"
    body: Any = pack(body_words.encode()) if database.packs else body_words
    database.put("item_words", seq=seq, user_id=user, words=4, head=" ".join(head_words.split()), body=body)
    if database.packs:
        database.run(
            "INSERT INTO item_search (rowid, head, body) VALUES (:seq, :head, :body)",
            {"seq": seq, "head": " ".join(head_words.split()), "body": body_words},
        )
    if database.has("item_numbers"):
        database.put("item_numbers", user_id=user, item_id=item_id, number=number + 1)
    _put_pages(database, expected, user, number, item_id, url)
    _put_notes(database, expected, user, number, item_id, url)
    expected.items[url] = {
        "id": item_id,
        "title": title,
        "content": content,
        "author": "Ada Lovelace" if number % 2 else None,
        "published_at": PUBLISHED[number * 3 % 5],
        "saved_at": TIME.format(number),
        "updated_at": TIME.format(number + 1),
        "deleted_at": deleted,
        "pinned": True if number % 4 == 1 else None,
        "archived": True if number % 5 == 2 else None,
        "tags": tuple(mine),
        "suggested_tags": tuple(own),
    }


def _put_pages(database: PastDatabase, expected: Expected, user: str, number: int, item_id: str, url: str) -> None:
    bodies = [f"<p>{user} {number} version {version}</p>".encode() for version in (1, 2)]
    facts = {
        "encoding": "utf-8",
        "content_type": "text/html",
        "final_url": url,
        "status": 200,
        "rendered": 0,
        "fetched_at": TIME.format(number),
    }
    several = number % 4 == 0 and database.has("snapshots")
    for body in bodies if several else bodies[-1:]:
        packed = pack(body)
        digest = hashlib.sha256(body).hexdigest()
        database.put("raw_bodies", user_id=user, hash=digest, size=len(body), packed=len(packed), body=packed)
    database.put("raw_pages", user_id=user, item_id=item_id, hash=hashlib.sha256(bodies[-1]).hexdigest(), **facts)
    expected.raw[url] = bodies[-1]
    if several:
        for version, body in enumerate(bodies, start=1):
            digest = hashlib.sha256(body).hexdigest()
            database.put(
                "snapshots", user_id=user, item_id=item_id, number=version, hash=digest, source="web", pinned=0, **facts
            )
        expected.versions[url] = bodies


def _put_notes(database: PastDatabase, expected: Expected, user: str, number: int, item_id: str, url: str) -> None:
    if number % 2 or not database.has("annotations"):
        return
    for place in range(2):
        quote, note = f"About the passage{number}x{place}", f"note{user}{number}x{place}"
        database.put(
            "annotations",
            user_id=user,
            id=_id(user, "note", number * 10 + place),
            item_id=item_id,
            quote=quote,
            before="",
            after="",
            note=note,
            colour="yellow",
            created_at=TIME.format(place),
            updated_at=TIME.format(place),
        )
        expected.notes.setdefault(url, []).append((quote, note))
        for word in (*quote.lower().split(), note):
            database.put(
                "annotation_words",
                user_id=user,
                word=word,
                created_at=TIME.format(place),
                annotation_id=_id(user, "note", number * 10 + place),
            )


def _put_lists(database: PastDatabase, expected: Expected, user: str) -> None:
    for at, name in enumerate(("Later", "Talks")):
        list_id = _id(user, "list", at)
        database.put(
            "lists",
            user_id=user,
            id=list_id,
            name_key=name.lower(),
            kind="manual",
            created_at=TIME.format(1),
            updated_at=TIME.format(1),
            name=name,
            query="",
        )
        for position, number in enumerate((5, 3, 4) if at else (0, 8, 2)):
            database.put(
                "list_items",
                user_id=user,
                list_id=list_id,
                item_id=_id(user, "item", number),
                position=(position + 1) * 1024,
                added_at=TIME.format(position),
            )
            expected.lists.setdefault(name, []).append(_id(user, "item", number))


def faults_of(library: Store, expected: Expected) -> list[str]:
    """Return what the upgraded library of one user lacks, has too much of, or cannot find."""
    found = [f"the library itself reports: {fault}" for fault in library.check()]
    for url, wanted in expected.items.items():
        item = library.items.by_url(url)
        if item is None:
            found.append(f"{url} is lost")
            continue
        about = item.metadata
        got = {
            **{name: getattr(item, name) for name in wanted if hasattr(item, name)},
            **{name: getattr(about, name) for name in ("pinned", "archived", "tags", "suggested_tags")},
        }
        found += [
            f"{url}: {name} is {got[name]!r}, not {value!r}" for name, value in wanted.items() if got[name] != value
        ]
        raw = library.items.raw(item.id)
        if raw is None or raw.body != expected.raw[url]:
            found.append(f"{url} has lost its page")
        notes = [(note.quote, note.note) for note in library.annotations.of_item(item.id)]
        if notes != expected.notes.get(url, []):
            found.append(f"{url} has the notes {notes}")
        versions = [
            library.snapshots.raw(item.id, version.number).body
            for version in sorted(library.snapshots.list(item.id), key=lambda version: version.number)
        ]
        if versions != expected.versions.get(url, [expected.raw[url]]):
            found.append(f"{url} has the versions {versions}")
    found += list(_search_faults(library, expected))
    dated = library.search.find(ItemQuery(order="published", descending=False, limit=500)).items
    if tuple(dict.fromkeys(item.published_at for item in dated)) != PUBLISHED:
        found.append(f"by publication the pages are {[item.published_at for item in dated]}")
    jobs = {job.url_full: job.state for job in library.jobs.list()}
    found += [f"job {url} is {jobs.get(url)}" for url, state in expected.jobs.items() if jobs.get(url) != state]
    lists = {
        each.name: [item.id for item in library.lists.page(each.id).items]
        for each in library.lists.list()
        if expected.lists
    }
    if lists != expected.lists:
        found.append(f"the lists are {lists}")
    numbers = library.items.numbers([wanted["id"] for wanted in expected.items.values()])
    if len(set(numbers.values())) != len(expected.items):
        found.append(f"the numbers are {numbers}")
    return found


def _search_faults(library: Store, expected: Expected) -> Iterator[str]:
    """Look every item up by a word that only it has, by its tags, and every note by its words."""
    for number, (url, wanted) in enumerate(expected.items.items()):
        if wanted["deleted_at"]:
            continue
        hits = [hit.item.url for hit in library.search.find(parse_query(f"unique{library.user_id}{number}")).hits]
        if hits != [url]:
            yield f"{url} is found as {hits}"
        for tag in {*wanted["tags"], *wanted["suggested_tags"]}:
            tagged = {
                item.id for item in library.search.find(ItemQuery(filters=item_filters(tags=(tag,)), limit=500)).items
            }
            if (wanted["id"] in tagged) != (tag in wanted["tags"]):
                yield f"{url} is{'' if wanted['id'] in tagged else ' not'} under the tag {tag}"
        for _, note in expected.notes.get(url, []):
            ids = {each.item_id for each in library.annotations.find(note).annotations}
            if ids != {wanted["id"]}:
                yield f"the note {note} is found in {ids}"


def _id(user: str, kind: str, number: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{user}/{kind}/{number}"))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
