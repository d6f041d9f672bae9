"""Saved pages with receipts, and ways to damage what is stored."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pagekeep.capture.extract import extract_page
from pagekeep.library.items import build_item
from pagekeep.model import Fetched, Item, Options
from pagekeep.model.archive import ItemBlob
from pagekeep.rules import Rulebook
from pagekeep.store import Store
from tests.site.fixtures import SENTENCE
from tests.store.making import NOW

RULES = Rulebook(())
Part = Literal["raw", "text", "blob", "version"]


def page(number: int) -> bytes:
    """A page with its own words."""
    words = random.Random(number)
    names = " ".join(words.choice(("tide", "gull", "pier", "rope", "lamp", "salt", "ledger")) for _ in range(40))
    paragraphs = f"<p>{SENTENCE * 3} {names}.</p>" * 4
    return (
        f"<html lang=en><title>Harbour log {number}</title><meta name=author content='Ada Reed'>"
        f"<article><h1>Harbour log {number}</h1>{paragraphs}</article>"
    ).encode()


def keep(store: Store, number: int, body: bytes | None = None, **changes: Any) -> Item:
    """Save a page as `save` does, without a network."""
    from pagekeep.capture.active_rules import fingerprint

    url = f"https://harbour.example/log/{number}"
    fetched = Fetched(url, url, 200, {}, body or page(number), encoding="utf-8")
    options = Options()
    item = build_item.new_item(
        extract_page(fetched, options, RULES),
        fetched,
        url=url,
        url_full=url,
        user_id=store.user_id,
        now=NOW,
        tags=("harbour",),
        rules_hash=changes.pop("rules_hash", fingerprint(RULES)),
        options=options,
    )
    return store.items.save(item, build_item.to_raw_page(fetched, NOW))


@contextmanager
def database(where: str, user: str) -> Iterator[Any]:
    """The database itself, past the library."""
    if not where.startswith("postgres"):
        connection = sqlite3.connect(where)
        try:
            yield connection
            connection.commit()
        finally:
            connection.close()
        return
    import psycopg

    with psycopg.connect(where) as postgres:
        postgres.execute("SET search_path = pagekeep")
        postgres.execute("SELECT set_config('app.user_id', %s, false)", (user,))
        yield postgres


def flip(where: str, user: str, item_id: str, part: Part, dice: random.Random) -> None:
    """Change one byte of an item's text, packed raw page, kept file or earlier version, as a bad disk does."""
    if part == "blob" and not where.startswith("postgres"):
        _flip_file(where, user, item_id, dice)
        return
    mark = "%s" if where.startswith("postgres") else "?"
    if part == "text":
        key = f"user_id = {mark} AND id = {mark}"
        select, update, values = (
            f"SELECT content FROM items WHERE {key}",
            f"UPDATE items SET content = {mark} WHERE {key}",
            (user, item_id),
        )
    elif part == "blob":
        key = f"user_id = {mark} AND hash = (SELECT MIN(hash) FROM item_blobs WHERE user_id = {mark} AND item_id = {mark})"
        select, update = f"SELECT body FROM blobs WHERE {key}", f"UPDATE blobs SET body = {mark} WHERE {key}"
        values = (user, user, item_id)  # type: ignore[assignment]
    elif part == "version":
        current = f"SELECT hash FROM raw_pages WHERE user_id = {mark} AND item_id = {mark}"
        versions = (
            f"SELECT MIN(hash) FROM snapshots WHERE user_id = {mark} AND item_id = {mark} AND hash NOT IN ({current})"
        )
        key = f"user_id = {mark} AND hash = ({versions})"
        select, update = f"SELECT body FROM raw_bodies WHERE {key}", f"UPDATE raw_bodies SET body = {mark} WHERE {key}"
        values = (user, user, item_id, user, item_id)  # type: ignore[assignment]
    else:
        key = f"user_id = {mark} AND hash = (SELECT hash FROM raw_pages WHERE user_id = {mark} AND item_id = {mark})"
        select, update = f"SELECT body FROM raw_bodies WHERE {key}", f"UPDATE raw_bodies SET body = {mark} WHERE {key}"
        values = (user, user, item_id)  # type: ignore[assignment]
    with database(where, user) as connection:
        old = connection.execute(select, values).fetchone()[0]
        if isinstance(old, str):  # the database accepts valid texts only
            at = dice.randrange(len(old))
            changed: Any = old[:at] + chr((ord(old[at]) ^ 1) or 1) + old[at + 1 :]
        else:
            at, data = dice.randrange(len(old)), bytearray(old)
            data[at] ^= 0xFF
            changed = bytes(data)
        connection.execute(update, (changed, *values))


def _flip_file(where: str, user: str, item_id: str, dice: random.Random) -> None:
    with database(where, user) as connection:
        sql = "SELECT hash FROM item_blobs WHERE user_id = ? AND item_id = ?"
        (name,) = connection.execute(sql, (user, item_id)).fetchone()
    (file,) = Path(f"{where}.blobs").rglob(f"{name}*")
    data = bytearray(file.read_bytes())
    data[dice.randrange(len(data))] ^= 0xFF
    file.write_bytes(data)


def keep_file(store: Store, item: Item) -> None:
    """Keep a file with an item that no other has."""
    link = ItemBlob("picture", "https://harbour.example/a.png", "kept", NOW, "image/png")
    store.blobs.link(item.id, [replace(link, hash=store.blobs.put(item.id.encode() * 9, NOW))])
