"""The columns of the tables of crawls, and values made of their rows."""

from __future__ import annotations

from typing import Any, Final

from pagekeep.model.crawl import Crawl
from pagekeep.store.engine import Row, Transaction
from pagekeep.store.storable import clean_id, parse_json

CRAWL: Final = (
    *("user_id", "id", "url", "state", "reason", "run", "admitted", "settled", "kept", "size", "created_at"),
    *("started_at", "finished_at", "options", "counts"),
)
FRONTIER: Final = (
    *("position", "url", "kind", "via", "depth", "parent", "hops", "chain", "host", "attempts", "lastmod"),
)
RESULT: Final = (
    *("body_hash", "status", "size", "rendered", "fetched_at", "encoding", "content_type", "etag", "last_modified"),
    *("made_by", "headers", "facts", "links", "page"),
)
SELECT_CRAWL: Final = f"SELECT {', '.join(CRAWL)} FROM crawls"
IN_RUN: Final = "user_id = :user AND crawl_id = :crawl AND run = :run"


def read_crawl(row: Row) -> Crawl:
    """Return a crawl from its row."""
    values = dict(zip(CRAWL, row, strict=True))
    return Crawl(**values | {"options": parse_json(values["options"]), "counts": parse_json(values["counts"])})


def find_crawl(tx: Transaction, crawl_id: str, lock: str = "") -> Crawl | None:
    """Return the user's crawl with this id, if there is one, locked as `lock` says."""
    rows = tx.all(f"{SELECT_CRAWL} WHERE user_id = :user AND id = :id {lock}", user=tx.user_id, id=clean_id(crawl_id))
    return read_crawl(rows[0]) if rows else None


def in_run(tx: Transaction, crawl: Crawl) -> dict[str, Any]:
    """Return the values of `IN_RUN`."""
    return {"user": tx.user_id, "crawl": crawl.id, "run": crawl.run}
