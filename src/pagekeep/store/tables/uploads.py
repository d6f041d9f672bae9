"""Uploaded files that wait for a job, in parts: any process that runs the job can read them, and a restart loses none."""

from __future__ import annotations

from collections.abc import Collection

from pagekeep.store.engine import Transaction
from pagekeep.store.storable import clean_id
from pagekeep.store.table import Table, reads, writes


class UploadTable(Table):
    """A user's uploaded files."""

    @writes
    def put_part(self, tx: Transaction, upload_id: str, part: int, body: bytes, now: str) -> None:
        """Store one part of a file; parts are numbered from 0."""
        tx.run(
            "INSERT INTO uploads (user_id, id, part, created_at, body) VALUES (:user, :id, :part, :now, :body)",
            user=tx.user_id,
            id=clean_id(upload_id),
            part=part,
            now=now,
            body=body,
        )

    @reads
    def get_part(self, tx: Transaction, upload_id: str, part: int) -> bytes | None:
        """Return one part of a file; `None` after the last."""
        rows = tx.all(
            "SELECT body FROM uploads WHERE user_id = :user AND id = :id AND part = :part",
            user=tx.user_id,
            id=clean_id(upload_id),
            part=part,
        )
        return bytes(rows[0][0]) if rows else None

    @writes
    def drop_upload(self, tx: Transaction, upload_id: str) -> None:
        """Delete a file."""
        tx.run("DELETE FROM uploads WHERE user_id = :user AND id = :id", user=tx.user_id, id=clean_id(upload_id))

    @writes
    def drop_old_uploads(self, tx: Transaction, before: str, needed: Collection[str]) -> None:
        """Delete files that were uploaded before this time, except those that are still needed."""
        rows = tx.all(
            "SELECT DISTINCT id FROM uploads WHERE user_id = :user AND part = 0 AND created_at < :before",
            user=tx.user_id,
            before=before,
        )
        for (upload_id,) in rows:
            if upload_id not in needed:
                tx.run("DELETE FROM uploads WHERE user_id = :user AND id = :id", user=tx.user_id, id=upload_id)
