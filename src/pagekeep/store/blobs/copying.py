"""Copy the kept files of a library beside a copy of its database, so that the copy is a complete library."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

from pagekeep.errors import StoreError
from pagekeep.store.blobs.folder import BlobFolder
from pagekeep.store.packing import unpack


def copy_blobs(source: BlobFolder, database: Path, root: Path) -> None:
    """Copy the files that a copied database names to the folder `root`, without those that are there; remove all others.

    Raises `StoreError` when files are missing or damaged, after all others were copied.
    """
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        named = dict(connection.execute("SELECT DISTINCT hash, encoding FROM blobs"))
    if not named and not root.exists():
        return
    target, damaged = BlobFolder(root), 0
    for name, encoding in named.items():
        if not target.path(name, encoding).is_file():
            try:
                data = source.read(name, encoding)
                if hashlib.sha256(unpack(data) if encoding else data).hexdigest() != name:
                    raise StoreError("The file is damaged.")
            except StoreError:
                damaged += 1
                continue
            target.write(name, encoding, data)
    for file in target.files():
        if file.hash is not None and file.hash not in named:
            file.path.unlink(missing_ok=True)
    if damaged:
        raise StoreError(
            f"{damaged:,} kept files are missing or damaged in the library; everything else was copied to {database}.",
            suggestions=("Verify the library: that lists the pages they belong to.",),
        )
