"""The index of a WACZ: one line per record in the order of keys, in compressed blocks, and a list of the blocks."""

from __future__ import annotations

import gzip
import hashlib
import json
import sqlite3
from collections.abc import Iterator
from itertools import islice
from typing import Final

from pagekeep.library.exports.web_archive.records import Place
from pagekeep.library.exports.web_archive.surt import surt

DATA_NAME: Final = "index.cdx.gz"
_BLOCK_LINES: Final = 3_000
"""Lines that are compressed together: as many as other programs write."""
_LEVEL: Final = 6


class CdxIndex:
    """Collects the lines of an index in a temporary file, so that a large one needs little memory."""

    def __init__(self, file_name: str) -> None:
        self._file_name = file_name
        self._lines = sqlite3.connect("", isolation_level=None)  # a temporary database, on disk when it is large
        self._lines.execute("CREATE TABLE lines (line TEXT NOT NULL)")
        self._lines.execute("BEGIN")

    def add(self, place: Place) -> None:
        """Add a record, if it is of a page or a picture."""
        record = place.record
        if record.kind not in ("response", "resource") or not record.uri.startswith(("http://", "https://")):
            return
        fields = {
            "url": record.uri,
            "mime": record.media_type.partition(";")[0].strip(),
            "status": record.http.status[:3] if record.http else "200",
            "digest": place.digest,
            "length": str(place.length),
            "offset": str(place.offset),
            "filename": self._file_name,
        }
        stamp = "".join(char for char in record.at[:19] if char.isdigit())
        self._lines.execute("INSERT INTO lines VALUES (?)", (f"{surt(record.uri)} {stamp} {json.dumps(fields)}\n",))

    def blocks(self) -> Iterator[tuple[str, bytes]]:
        """Yield the compressed blocks, each with its line for the list of blocks."""
        rows = (line for (line,) in self._lines.execute("SELECT line FROM lines ORDER BY line"))
        offset = 0
        while block := list(islice(rows, _BLOCK_LINES)):
            data = gzip.compress("".join(block).encode(), _LEVEL, mtime=0)
            digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
            key = " ".join(block[0].split(" ", 2)[:2])
            yield f"{key} {json.dumps({'offset': offset, 'length': len(data), 'digest': digest})}\n", data
            offset += len(data)

    def close(self) -> None:
        """Remove the temporary file."""
        self._lines.close()
