"""Putting the rows of a backup into an empty library, and rebuilding what is derived from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NoReturn

from pagekeep.errors import StoreError
from pagekeep.model.tags import unique_tags
from pagekeep.store.blob_files import BlobFolder, is_intact
from pagekeep.store.engine import Transaction
from pagekeep.store.storable import is_row_sound
from pagekeep.store.tables import item_rows
from pagekeep.store.tables.item_rows import give_missing_numbers
from pagekeep.store.tables.reading import index_all_words

MAX_LISTED: Final = 20
"""Faults that an error message lists."""
_KEYS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("items", "lists", "feeds", "feed_entries", "crawls", "sinks"), ("id",)),
    **dict.fromkeys(("raw_bodies", "blobs"), ("hash",)),
    "crawl_pages": ("crawl_id", "run", "position"),
}
"""Tables that rows of other tables belong to, and the columns that name a row."""
_OF_ITEM: Final = (("items", ("item_id",)),)
_OF_CRAWL: Final = (("crawls", ("crawl_id",)),)
_OF_SINK: Final = (("sinks", ("sink_id",)),)
_PARENTS: Final[dict[str, tuple[tuple[str, tuple[str, ...]], ...]]] = {
    **dict.fromkeys(("annotations", "reading_states", "changes", "page_checks"), _OF_ITEM),
    **dict.fromkeys(("raw_pages", "snapshots"), (*_OF_ITEM, ("raw_bodies", ("hash",)))),
    "item_blobs": (*_OF_ITEM, ("blobs", ("hash",))),
    "feed_entries": (("feeds", ("feed_id",)),),
    "entry_pages": (("feed_entries", ("entry_id",)),),
    "list_items": (*_OF_ITEM, ("lists", ("list_id",))),
    **dict.fromkeys(("crawl_pages", "crawl_counts"), _OF_CRAWL),
    "crawl_results": (("crawl_pages", ("crawl_id", "run", "position")),),
    **dict.fromkeys(("outbox", "sent_items"), _OF_SINK),
}
"""What a row belongs to: a table, and the columns that name its row. Without it, the row cannot be stored."""


class Restoring:
    """Rows of a backup on their way into a library."""

    def __init__(self, tx: Transaction, blobs: BlobFolder | None, *, what_can_be: bool) -> None:
        """With `what_can_be`, everything sound is restored; otherwise `finish` raises an error when anything is not."""
        _require_empty(tx)
        self._tx = tx
        self._blobs = blobs
        self._what_can_be = what_can_be
        self._stored: dict[str, set[tuple[Any, ...]]] = {table: set() for table in _KEYS}
        self._lost_items: dict[str, str | None] = {}
        self._lost_rows = Counter[str]()
        self.items = 0
        self.left_out: list[str] = []
        """What was not restored, or not as it was."""

    def put(self, table: str, values: dict[str, Any]) -> None:
        """Store a row, if it is sound and what it belongs to is there. `body` is `None` when it is missing."""
        if table in ("raw_bodies", "blobs") and not self._take_body(table, values):
            return
        if (
            table == "items" and values.get("tags") is None
        ):  # of an earlier version, which had them in the metadata only
            values["tags"] = values["metadata"].get("tags", [])
        if table == "items" and not is_row_sound(values):
            self.leave_out(describe_text(values["id"], values["title"]))
        if self.left_out and not self._what_can_be:
            return  # nothing is restored: what follows is only checked
        if self._what_can_be and not self._has_parents(table, values):
            return
        if table == "crawl_results" and self._what_can_be and not self._is_stored("raw_bodies", (values["body_hash"],)):
            values["body_hash"] = None
        _put(self._tx, table, values)
        if self._what_can_be and table in _KEYS:
            self._stored[table].add(tuple(values[name] for name in _KEYS[table]))
        self.items += table == "items"

    def _take_body(self, table: str, values: dict[str, Any]) -> bool:
        """Return whether a raw page or kept file is sound; a kept file goes into the folder, if there is one."""
        name, encoding = values["hash"], "zstd" if table == "raw_bodies" else values["encoding"]
        body = values["body"]
        if body is None or not is_intact(name, encoding, body):
            self.leave_out(describe_body(table, name))
            return False
        if table == "blobs" and self._blobs is not None:
            del values["body"]
            if self._what_can_be or not self.left_out:
                self._blobs.write(name, encoding, body)
        return True

    def _has_parents(self, table: str, values: Mapping[str, Any]) -> bool:
        for parent, columns in _PARENTS.get(table, ()):
            if not self._is_stored(parent, tuple(values[name] for name in columns)):
                self._lost_rows[table] += 1
                if parent == "items":
                    url = values.get("final_url") or self._lost_items.get(values["item_id"])
                    self._lost_items[values["item_id"]] = url
                return False
        return True

    def _is_stored(self, table: str, key: tuple[Any, ...]) -> bool:
        return None in key or key in self._stored[table]

    def leave_out(self, what: str) -> None:
        """Note something that is not restored."""
        self.left_out.append(what)

    def finish(self) -> None:
        """Rebuild what is derived from the rows; `StoreError` when the backup is damaged and all of it was wanted."""
        if self.left_out and not self._what_can_be:
            refuse_damaged(self.left_out)
        self.left_out += [
            f"The item {item_id}{f' ({url})' if url else ''} is lost." for item_id, url in self._lost_items.items()
        ]
        self.left_out += [
            f"{count:,} rows of `{table}`, as what they belong to is missing."
            for table, count in sorted(self._lost_rows.items())
        ]
        if self.left_out:
            drop_unused_bodies(self._tx)
            self.left_out += end_incomplete_crawls(self._tx)
        reindex(self._tx)


def describe_body(table: str, name: str) -> str:
    """Return the sentence about a raw page or kept file that is missing or damaged."""
    return f"The {'raw page' if table == 'raw_bodies' else 'kept file'} {name} is missing or damaged."


def describe_text(item_id: str, title: str = "") -> str:
    """Return the sentence about an item whose text is damaged."""
    return f"The text of the item {item_id}{f' ({title:.60})' if title else ''} is damaged."


def refuse_damaged(faults: Sequence[str]) -> NoReturn:
    """Raise a `StoreError` that lists what is missing or damaged in a backup."""
    more = [f"... and {len(faults) - MAX_LISTED:,} more."] if len(faults) > MAX_LISTED else []
    listed = "\n  ".join([*faults[:MAX_LISTED], *more])
    raise StoreError(
        f"The backup is damaged, so nothing was restored. What is missing or damaged ({len(faults):,}):\n  {listed}",
        suggestions=(
            "Use another copy of the backup, or another state of a backup folder (`--state`).",
            "Use `--what-can-be` to restore everything else.",
        ),
    )


def drop_unused_bodies(tx: Transaction) -> int:
    """Delete raw pages of lost items, and return how many there were."""
    return tx.run(
        "DELETE FROM raw_bodies WHERE user_id = :user AND NOT EXISTS (SELECT 1 FROM raw_pages p WHERE p.user_id = :user "
        "AND p.hash = raw_bodies.hash) AND NOT EXISTS (SELECT 1 FROM snapshots s WHERE s.user_id = :user "
        "AND s.hash = raw_bodies.hash) AND NOT EXISTS (SELECT 1 FROM crawl_results r WHERE r.user_id = :user "
        "AND r.body_hash = raw_bodies.hash)"
    )


def end_incomplete_crawls(tx: Transaction) -> list[str]:
    """End the crawls that lack addresses or were running: they cannot go on, but their next run finds their pages."""
    tx.run(
        "UPDATE crawl_pages SET outcome = 'failed' WHERE user_id = :user AND outcome = 'kept' AND NOT EXISTS (SELECT 1 FROM "
        "crawl_results r WHERE (r.user_id, r.crawl_id, r.run, r.position) = (crawl_pages.user_id, crawl_pages.crawl_id, "
        "crawl_pages.run, crawl_pages.position))"
    )
    in_run = "FROM crawl_pages p WHERE p.user_id = c.user_id AND p.crawl_id = c.id AND p.run = c.run"
    notes = []
    for crawl, url, admitted, addresses, kept, pages, state in tx.all(
        f"SELECT c.id, c.url, c.admitted, (SELECT COUNT(*) {in_run}), c.kept, (SELECT COUNT(*) {in_run} AND p.kind = 'page' "
        "AND p.state = 'settled' AND p.outcome = 'kept'), c.state FROM crawls c WHERE c.user_id = :user"
    ):
        if (admitted, kept, state == "running") != (addresses, pages, False):
            tx.run(
                "UPDATE crawls SET state = 'done', reason = 'cancelled', settled = admitted, kept = :kept, "
                "finished_at = COALESCE(finished_at, started_at) WHERE user_id = :user AND id = :id",
                kept=pages,
                id=crawl,
            )
            lost = f", {kept - pages} of its pages are lost" if kept > pages else ""
            notes.append(f"The crawl of {url:.200} was ended{lost}. Start it again to update it.")
    return notes


def _require_empty(tx: Transaction) -> None:
    """Raise `StoreError` when the user's library has items."""
    if tx.all("SELECT 1 FROM items WHERE user_id = :user LIMIT 1"):
        raise StoreError("The library is not empty.", suggestions=("Restore into a new library.",))


def _put(tx: Transaction, table: str, row: Mapping[str, Any]) -> None:
    """Insert a row as the user's own."""
    values = {name: tx.json(value) if isinstance(value, (dict, list)) else value for name, value in row.items()}
    values["user_id"] = tx.user_id
    marks = ", ".join(f":{name}" for name in values)
    tx.run(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", **values)


_BATCH: Final = 100
"""Items that are read at a time: each may have several megabytes."""


def reindex(tx: Transaction) -> None:
    """Rebuild the derived tables of the user: search words, tags, vocabulary, words of annotations, missing numbers.

    It runs after migrations, and after a restore, whose rows come without them. Counts follow by the triggers that keep them.
    """
    give_missing_numbers(tx)
    index_all_words(tx)
    last = -1
    while batch := tx.all(
        f"{item_rows.SELECT} WHERE i.user_id = :user AND i.seq > :last ORDER BY i.seq LIMIT {_BATCH}", last=last
    ):
        for row in batch:
            try:
                item = item_rows.item_of(row)
            except ValueError:  # a damaged row, which `check` reports, must not keep the others from being upgraded
                continue
            tags = unique_tags(item.metadata.tags)
            if tags != item.metadata.tags:  # earlier versions kept spellings of one tag as several
                merged = replace(item, metadata=replace(item.metadata, tags=tags))
                item_rows.put_metadata(tx, item, merged, row[-1])
                item = merged
            item_rows.index_item(tx, item, row[-1])
        last = batch[-1][-1]


def refuse_upgrade(old: int, new: int, error: Exception) -> NoReturn:
    """Raise a `StoreError` that says that the upgrade from schema `old` to `new` failed and changed nothing, and why."""
    if isinstance(error, StoreError):
        why, next_steps = error.message, error.suggestions
    else:
        why, next_steps = f"{type(error).__name__}: {error!s:.300}", ("Report this message.",)
    raise StoreError(
        f"The library could not be upgraded from schema {old} to {new}, and was not changed. {why}",
        suggestions=(*next_steps, "The version of Pagekeep that you used before still opens it."),
    ) from error
