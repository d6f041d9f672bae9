"""The output: numbered parts, each there wholly or not at all, and beside each what it accounts for.

A part is done when its account is there, which is written last. So a run that was killed goes on where it was, and the
result is the same, byte for byte.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from pagekeep.bulk.duplicates import Signature, packed, unpacked
from pagekeep.bulk.input.read import needed_pyarrow
from pagekeep.bulk.output.arrow import schema, table_of
from pagekeep.bulk.row import LONG, Cells, OutputFormat
from pagekeep.bulk.tally import Account
from pagekeep.errors import StoreError

_ACCOUNTS: Final = "_accounts"
_MANIFEST: Final = "_run.json"
REPORT: Final = "report.json"
"""What a run ends with."""


class Parts:
    """The folder a run writes to."""

    def __init__(self, folder: Path, columns: Sequence[str], format: OutputFormat) -> None:
        self.folder = folder
        self._columns = tuple(columns)
        self._format = format

    def begin(self, manifest: dict[str, Any], *, resume: bool) -> None:
        """Make the folder, or take up the run that was begun there. What a killed run left half written goes."""
        with _told():
            self._check(manifest, resume=resume)
            (self.folder / _ACCOUNTS).mkdir(parents=True, exist_ok=True)
            for draft in self.folder.rglob("*.draft"):
                draft.unlink()
        _write(self.folder / _MANIFEST, json.dumps(manifest, indent=1, sort_keys=True).encode())

    def _check(self, manifest: dict[str, Any], *, resume: bool) -> None:
        """`StoreError` unless this run may write to the folder."""
        place = self.folder / _MANIFEST
        if self.folder.exists() and not self.folder.is_dir():
            raise StoreError("The output would go to a file that is there.", suggestions=("Name a folder.",))
        if place.is_file():
            if not resume:
                raise self._taken()
            self._same_run(json.loads(place.read_text("utf-8")), manifest)
        elif self.folder.is_dir() and not self._is_bare():
            raise StoreError("The folder is not empty.", suggestions=("Name a new folder.",))

    def _taken(self) -> StoreError:
        if (self.folder / REPORT).is_file():  # written last
            return StoreError("The run in that folder is finished.", suggestions=("Name another folder.",))
        return StoreError(
            "A run was begun in that folder.", suggestions=("Go on with --resume, or name another folder.",)
        )

    def _is_bare(self) -> bool:
        """Nothing is there, but for what a run leaves that was killed before it had said what it is."""
        accounts, draft = self.folder / _ACCOUNTS, _draft_of(self.folder / _MANIFEST)
        if any(entry not in (accounts, draft) for entry in self.folder.iterdir()):
            return False
        return not accounts.is_dir() or not any(accounts.iterdir())

    def _same_run(self, begun: dict[str, Any], manifest: dict[str, Any]) -> None:
        others = sorted(name for name in {*begun, *manifest} if begun.get(name) != manifest.get(name))
        if others:
            raise StoreError(
                f"The run that was begun there is another one: {', '.join(others)} differ.",
                suggestions=("Give the same input and options, or name another folder.",),
            )

    def is_done(self, number: int) -> bool:
        """Whether the part and its account are there."""
        return self._account(number).is_file()

    def _account(self, number: int) -> Path:
        return self.folder / _ACCOUNTS / f"{number:06}.json"

    def open(self, number: int) -> Part:
        """A part to be filled. It is there once it is closed."""
        return Part(self.folder / f"part-{number:06}.{self._format}", self._account(number), self._columns)

    def accounts(self) -> Iterator[Account]:
        """Of all parts that are done, in their order."""
        for file in sorted((self.folder / _ACCOUNTS).glob("*.json")):
            yield Account.from_json(json.loads(file.read_text("utf-8")))

    def seen(self) -> Iterator[Signature]:
        """Pages of all parts that are done, for those that repeat them."""
        for account in sorted((self.folder / _ACCOUNTS).glob("*.json")):
            # Not by itself: one whose part was not finished when the run was killed would make its pages repeat themselves.
            if (file := account.with_suffix(".seen")).is_file():
                yield from unpacked(file.read_bytes())


class Part:
    """A part that is being written, a group of rows at a time, under a name that does not count."""

    def __init__(self, path: Path, account: Path, columns: tuple[str, ...]) -> None:
        self._path = path
        self._draft = _draft_of(path)
        self._account = account
        self._columns = columns
        self._file: IO[bytes] | None = None
        self._table: Any = None

    def add(self, rows: Sequence[Cells]) -> None:
        """Rows behind those that are there."""
        with _told():
            if self._file is None:
                self._file = self._draft.open("wb")
            if self._path.suffix == ".jsonl":
                self._file.writelines(map(_line, rows))
                return
            if self._table is None:
                self._table = _writer(self._file, self._columns)
            self._table.write_table(table_of(rows, self._columns))

    def close(self, account: Account, new: Sequence[Signature]) -> None:
        """The part takes its name, then what it accounts for is told. `new` are its pages that later ones may repeat."""
        if self._file is None or (self._table is None and self._path.suffix == ".parquet"):
            self.add([])
        with _told():
            self.abandon()
            _settle(self._draft, self._path)
        if new:
            _write(self._account.with_suffix(".seen"), packed(new))
        _write(self._account, json.dumps(account.to_json()).encode())

    def abandon(self) -> None:
        """Let go of the file. What was written is a draft, and counts for nothing."""
        if self._table is not None:
            self._table.close()
        if self._file is not None:
            self._file.close()


def _line(cells: Cells) -> bytes:
    assert isinstance(cells, bytes)  # asked for with the format
    return cells


def _writer(file: IO[bytes], columns: tuple[str, ...]) -> Any:
    """Long texts never repeat: a dictionary of them, or the least and the greatest, would be work and bytes for nothing."""
    short = [name for name in columns if name not in LONG]
    return needed_pyarrow().parquet.ParquetWriter(
        file, schema(columns), compression="zstd", use_dictionary=short, write_statistics=short
    )


def _draft_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.draft")


def _write(path: Path, content: bytes) -> None:
    """There under its name only when it is whole and on the disk."""
    with _told():
        draft = _draft_of(path)
        draft.write_bytes(content)
        _settle(draft, path)


def _settle(draft: Path, path: Path) -> None:
    with draft.open("rb+") as file:
        os.fsync(file.fileno())
    draft.replace(path)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError("The output could not be written.", suggestions=("Check the folder and the disk.",)) from error
