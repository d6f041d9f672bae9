"""Kept files: each stored once per content, linked to the items that use it, removed some time after the last link.

The bytes are stored first, then the row of the blob, then the link of the item: whenever a process dies, no item lacks its
file, and at most one file is unused.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Final

from pagekeep import clock
from pagekeep.errors import NotFound, StoreError
from pagekeep.model import BlobRole, BlobUse, Collected, ItemBlob, Storage
from pagekeep.store.blob_files import BlobFile, BlobFolder, pack, unpack
from pagekeep.store.engine import Part, Transaction, reads, writes
from pagekeep.store.storable import clean_id, clean_text, clean_time, url_hash

COLUMNS: Final = (
    *("item_id", "role", "source_hash", "variant", "position", "state", "reason", "hash", "size", "width", "height"),
    *("created_at", "media_type", "source"),
)
_FIELDS: Final = tuple(name for name in COLUMNS if name not in ("item_id", "source_hash"))
_SELECT: Final = f"SELECT l.item_id, {', '.join(f'l.{name}' for name in _FIELDS)} FROM item_blobs l"
_KEY: Final = ("item_id", "role", "source_hash", "variant")
_PUT: Final = (
    f"INSERT INTO item_blobs (user_id, {', '.join(COLUMNS)}) VALUES (:user, {', '.join(f':{name}' for name in COLUMNS)}) "
    f"ON CONFLICT (user_id, {', '.join(_KEY)}) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in COLUMNS if name not in _KEY)
)
USES: Final = ("SELECT 1 FROM item_blobs l WHERE l.user_id = b.user_id AND l.hash = b.hash",)
"""Queries that find a use of the blob `b`. A table that refers to blobs adds its own here, and triggers that count it."""
_USED: Final = " OR ".join(f"EXISTS ({query})" for query in USES)
MAX_BLOB_BYTES: Final = 500_000_000
"""PostgreSQL stores values up to 1 GB, and needs them in memory."""
_LOCK: Final = "blobs"
_ABANDONED_SECONDS: Final = 3600.0
"""Age of a file without a row, or of a row without a link, at which it is certain that no process is about to add it."""
_BATCH: Final = 200
"""Files that are checked and removed in one transaction, so that no writer waits long."""
_LONG_AGO: Final = "0001-01-01T00:00:00.000000Z"
_SAVE_AGAIN: Final = "Save the page again."
_MAX_ATTEMPTS: Final = 5
_MAX_SITES: Final = 50
_ROLE: Final = "role "
"""How the keys of counts by role begin."""


class Blobs(Part):
    """A user's kept files."""

    def put(self, body: bytes, now: str, *, compress: bool = False) -> str:
        """Store a file unless it is stored already, and return its hash; link it to an item soon after."""
        if len(body) > MAX_BLOB_BYTES:
            raise StoreError(f"A file of {len(body):,} bytes is too large to keep.")
        name = hashlib.sha256(body).hexdigest()
        encoding = self._encoding(name, "zstd" if compress else None)
        data = pack(body) if encoding else body
        for _ in range(_MAX_ATTEMPTS):
            if self._engine.blobs is not None:
                self._engine.blobs.write(name, encoding, data)
            if self._put_blob(name, len(body), encoding, data, now):
                return name
        raise StoreError("A kept file is removed again and again by another program.")

    @reads
    def _encoding(self, tx: Transaction, name: str, wanted: str | None) -> str | None:
        rows = tx.all("SELECT encoding FROM blobs WHERE user_id = :user AND hash = :hash", hash=name)
        return rows[0][0] if rows else wanted

    @writes
    def _put_blob(self, tx: Transaction, name: str, size: int, encoding: str | None, data: bytes, now: str) -> bool:
        """Add the row of a stored file; return False when the file has been removed in the meantime."""
        tx.lock(_LOCK)
        # Until it is linked to an item, it counts as unused from a later time, so that no collection removes it.
        soon = clock.add_seconds(clean_time(now), _ABANDONED_SECONDS)
        values = {"hash": name, "soon": soon}
        rows = tx.all("SELECT encoding FROM blobs WHERE user_id = :user AND hash = :hash", hash=name)
        folder = self._engine.blobs
        if folder is not None and not folder.path(name, rows[0][0] if rows else encoding).is_file():
            return False
        if rows:
            tx.run(
                "UPDATE blobs SET unused_at = :soon WHERE user_id = :user AND hash = :hash AND unused_at IS NOT NULL",
                **values,
            )
            return True
        column, value = (", body", ", :body") if folder is None else ("", "")
        tx.run(
            f"INSERT INTO blobs (user_id, hash, size, stored, encoding, unused_at{column}) "
            f"VALUES (:user, :hash, :size, :stored, :encoding, :soon{value})",
            **values,
            size=size,
            stored=len(data),
            encoding=encoding,
            **({"body": data} if folder is None else {}),
        )
        return True

    def get(self, name: str) -> bytes:
        """Return the bytes of a kept file; `NotFound` when there is none, `StoreError` when it is missing or damaged."""
        encoding, data = self._read_blob(name)
        if data is None:
            if self._engine.blobs is None:
                raise NotFound(f"There is no kept file {name:.64}.")
            data = self._engine.blobs.read(name, encoding)
        body = unpack(data) if encoding else data
        if hashlib.sha256(body).hexdigest() != name:
            raise StoreError(
                f"The kept file {name:.12} is damaged.", suggestions=("Restore a backup, or save the page again.",)
            )
        return body

    @reads
    def _read_blob(self, tx: Transaction, name: str) -> tuple[str | None, bytes | None]:
        column = "NULL" if self._engine.blobs is not None else "body"
        rows = tx.all(
            f"SELECT encoding, {column} FROM blobs WHERE user_id = :user AND hash = :hash", hash=clean_text(name)
        )
        if not rows:
            raise NotFound(f"There is no kept file {name:.64}.")
        return rows[0][0], None if rows[0][1] is None else bytes(rows[0][1])

    @writes
    def link(self, tx: Transaction, item_id: str, links: Sequence[ItemBlob]) -> None:
        """Note files that are kept with an item or were left out, in place of those with the same role, source and variant.

        `NotFound` when the item does not exist; their blobs must have been stored by `put`.
        """
        _require_item(tx, item_id)
        _put_links(tx, item_id, links)

    @writes
    def replace_links(
        self, tx: Transaction, item_id: str, roles: Sequence[BlobRole], links: Sequence[ItemBlob]
    ) -> None:
        """Note the files of an item, in place of all that it has in these roles."""
        _require_item(tx, item_id)
        _drop_links(tx, item_id, roles)
        _put_links(tx, item_id, links)

    @reads
    def of_item(self, tx: Transaction, item_id: str, roles: Sequence[BlobRole] = ()) -> tuple[ItemBlob, ...]:
        """Return the files of an item, kept and left out, by role and position; without `roles`, of all roles."""
        chosen, values = _among("role", roles)
        rows = tx.all(
            f"{_SELECT} WHERE l.user_id = :user AND l.item_id = :item{chosen} "
            "ORDER BY l.role, l.position, l.created_at, l.variant, l.source_hash",
            item=clean_id(item_id),
            **values,
        )
        return tuple(_link(row) for row in rows)

    @reads
    def find_source(self, tx: Transaction, source: str, roles: Sequence[BlobRole]) -> ItemBlob | None:
        """Return the newest kept file from this address in one of these roles, of any item."""
        chosen, values = _among("role", roles)
        rows = tx.all(
            f"{_SELECT} WHERE l.user_id = :user AND l.source_hash = :source AND l.hash IS NOT NULL{chosen} "
            "ORDER BY l.created_at DESC LIMIT 1",
            source=url_hash(source),
            **values,
        )
        return _link(rows[0]) if rows else None

    @reads
    def total_bytes(self, tx: Transaction) -> int:
        """Return the bytes of all kept files on the disk."""
        rows = tx.all("SELECT count FROM item_counts WHERE user_id = :user AND kind = 'bytes' AND key = 'blobs'")
        return int(rows[0][0]) if rows else 0

    def collect(self, now: str, unused_before: str, *, at_once: bool = False, sweep: bool = True) -> Collected:
        """Remove files that were found unused before a time; note those that are found unused now.

        With `at_once`, these are removed too, except files that were stored in the last hour and not linked yet. With
        `sweep`, which reads the whole folder, also files there whose row is missing, once they are an hour old.
        """
        removed = self._collect_rows(now, unused_before, at_once)
        folder = self._engine.blobs
        if folder is not None:
            gone = (BlobFile(folder.path(name, encoding), name, encoding, size, 0) for name, encoding, size in removed)
            self._remove_in_batches(chain(gone, self._find_abandoned(folder) if sweep else ()))
        return Collected(len(removed), sum(size for *_, size in removed), self._count_unused())

    def _find_abandoned(self, folder: BlobFolder) -> Iterator[BlobFile]:
        """Yield old files that have no row, of any user, as far as it is known without a lock."""
        known = self._all_names()
        oldest = time.time() - _ABANDONED_SECONDS
        return (file for file in folder.files() if file.changed < oldest and (file.hash, file.encoding) not in known)

    @reads
    def _all_names(self, tx: Transaction) -> set[tuple[str, str | None]]:
        return {(name, encoding) for name, encoding in tx.all("SELECT hash, encoding FROM blobs")}

    def _remove_in_batches(self, files: Iterator[BlobFile]) -> None:
        while batch := list(islice(files, _BATCH)):
            self._remove_files(batch)

    @writes
    def _collect_rows(
        self, tx: Transaction, now: str, unused_before: str, at_once: bool
    ) -> list[tuple[str, str | None, int]]:
        tx.lock(_LOCK)
        tx.run(
            f"UPDATE blobs AS b SET unused_at = :now WHERE b.user_id = :user AND b.unused_at IS NULL AND NOT ({_USED})",
            now=_LONG_AGO if at_once else clean_time(now),
        )
        tx.run(
            f"UPDATE blobs AS b SET unused_at = NULL WHERE b.user_id = :user AND b.unused_at IS NOT NULL AND ({_USED})"
        )
        rows = tx.all(
            "DELETE FROM blobs WHERE user_id = :user AND unused_at < :before RETURNING hash, encoding, stored",
            before=clean_time(unused_before),
        )
        return [(name, encoding, int(size)) for name, encoding, size in rows]

    @writes
    def _remove_files(self, tx: Transaction, files: Sequence[BlobFile]) -> None:
        """Remove files that have no row, of any user; within the transaction, so that none gets a row meanwhile."""
        tx.lock(_LOCK)
        names = [file.hash for file in files if file.hash is not None]
        chosen, values = _among("hash", names)
        rows = tx.all(f"SELECT l.hash, l.encoding FROM blobs l WHERE TRUE{chosen}", **values) if names else []
        used = {(name, encoding) for name, encoding in rows}
        for file in files:
            if (file.hash, file.encoding) not in used:
                file.path.unlink(missing_ok=True)

    @reads
    def _count_unused(self, tx: Transaction) -> int:
        sql = "SELECT COUNT(*) FROM blobs WHERE user_id = :user AND unused_at IS NOT NULL"
        return int(tx.all(sql)[0][0])

    @reads
    def storage(self, tx: Transaction) -> Storage:
        """Return what the library takes on the disk, from numbers that triggers of the database keep."""
        uses: dict[str, dict[str, int]] = {"files": {}, "bytes": {}}
        for kind, key, count in tx.all(
            "SELECT kind, key, count FROM item_counts WHERE user_id = :user AND kind IN ('files', 'bytes') ORDER BY key"
        ):
            uses[kind][key] = int(count)
        sites = tx.all(
            "SELECT key, count FROM item_counts WHERE user_id = :user AND kind = 'site_bytes' "
            f"ORDER BY count DESC, key LIMIT {_MAX_SITES}"
        )

        def use(key: str) -> BlobUse:
            return BlobUse(uses["files"].get(key, 0), uses["bytes"].get(key, 0))

        raw, current, blobs, used = map(use, ("raw", "current", "blobs", "used"))
        return Storage(
            text=uses["bytes"].get("text", 0),
            raw_pages=raw,
            snapshots=BlobUse(raw.count - current.count, raw.bytes - current.bytes),
            blobs=blobs,
            roles={key.removeprefix(_ROLE): use(key) for key in uses["files"] if key.startswith(_ROLE)},
            unused=BlobUse(blobs.count - used.count, blobs.bytes - used.bytes),
            left_out=uses["files"].get("left_out", 0),
            sites=tuple((site, int(size)) for site, size in sites),
        )

    def faults(self) -> list[str]:
        """Return kept files that are missing or damaged."""
        return list(self._find_faults())

    def _find_faults(self) -> Iterator[str]:
        for name in self._blob_names():
            try:
                self.get(name)
            except NotFound:
                continue  # removed meanwhile
            except StoreError as error:
                yield error.message

    @reads
    def _blob_names(self, tx: Transaction) -> list[str]:
        return [row[0] for row in tx.all("SELECT hash FROM blobs WHERE user_id = :user ORDER BY hash")]


def _require_item(tx: Transaction, item_id: str) -> None:
    if not tx.all("SELECT 1 FROM items WHERE user_id = :user AND id = :id", id=clean_id(item_id)):
        raise NotFound(f"There is no item {item_id:.200} to keep files with.")


def _put_links(tx: Transaction, item_id: str, links: Iterable[ItemBlob]) -> None:
    for link in links:
        values: dict[str, Any] = {name: getattr(link, name) for name in _FIELDS}
        values = {name: clean_text(value) if isinstance(value, str) else value for name, value in values.items()}
        values |= {"created_at": clean_time(link.created_at), "item_id": clean_id(item_id)}
        if link.hash is not None and not tx.run(
            "UPDATE blobs SET unused_at = NULL WHERE user_id = :user AND hash = :hash", hash=link.hash
        ):
            # Another item had the same file, lost it, and unused files were removed at once: all since `put`.
            raise StoreError(
                f"The file {link.hash} was removed while it was added to an item.", suggestions=(_SAVE_AGAIN,)
            )
        tx.run(_PUT, source_hash=url_hash(link.source), **values)


def _drop_links(tx: Transaction, item_id: str, roles: Sequence[str]) -> None:
    for role in roles:
        tx.run(
            "DELETE FROM item_blobs WHERE user_id = :user AND item_id = :item AND role = :role",
            item=clean_id(item_id),
            role=role,
        )


def _among(column: str, values: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return the condition that a column has one of the values, and its parameters; no condition without values."""
    if not values:
        return "", {}
    names = {f"v{number}": value for number, value in enumerate(values)}
    return f" AND l.{column} IN ({', '.join(f':{name}' for name in names)})", names


def _link(row: Sequence[Any]) -> ItemBlob:
    return ItemBlob(**dict(zip(_FIELDS, row[1:], strict=True)))
