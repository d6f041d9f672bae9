"""The output: numbered parts, each there wholly or not at all, and beside each what it accounts for.

A part is done when its account is there, which is written last. So a run that was killed goes on where it was, and the
result is the same, byte for byte.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from pagekeep.bulk.duplicates import Signature, packed, unpacked
from pagekeep.bulk.reading import needed_pyarrow
from pagekeep.bulk.row import BY_NAME, Row
from pagekeep.errors import StoreError

OutputFormat = Literal["parquet", "jsonl"]
_ACCOUNTS: Final = "_accounts"
_MANIFEST: Final = "_run.json"


@dataclass(slots=True)
class Account:
    """What became of the records of one part."""

    records: int = 0
    rows: int = 0
    words: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    """By type."""
    left_out: Counter[str] = field(default_factory=Counter)
    """By filter."""
    kinds: Counter[str] = field(default_factory=Counter)
    levels: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)

    def add(self, other: Account) -> None:
        """Sum up."""
        for name in self.__dataclass_fields__:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, Counter):
                mine.update(theirs)
            else:
                setattr(self, name, mine + theirs)

    def to_json(self) -> dict[str, Any]:
        """As plain JSON types, the most frequent first."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: _by_count(value) if isinstance(value, Counter) else value for name, value in values.items()}


def _by_count(counts: Counter[str]) -> dict[str, int]:
    """Ties by name: the bytes must not depend on which page came first."""
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


class Parts:
    """The folder a run writes to."""

    def __init__(self, folder: Path, columns: Sequence[str], format: OutputFormat) -> None:
        self.folder = folder
        self._columns = tuple(columns)
        self._format = format

    def begin(self, manifest: dict[str, Any], *, resume: bool) -> None:
        """Make the folder, or take up the run that was begun there. What a killed run left half written goes."""
        place = self.folder / _MANIFEST
        if place.is_file():
            if not resume:
                raise StoreError(
                    "A run was begun in that folder.", suggestions=("Go on with --resume, or name another folder.",)
                )
            self._same_run(json.loads(place.read_text("utf-8")), manifest)
        elif self.folder.is_dir() and any(self.folder.iterdir()):
            raise StoreError("The folder is not empty.", suggestions=("Name a new folder.",))
        (self.folder / _ACCOUNTS).mkdir(parents=True, exist_ok=True)
        for draft in self.folder.rglob("*.draft"):
            draft.unlink()
        _write(place, lambda draft: draft.write_text(json.dumps(manifest, indent=1, sort_keys=True), "utf-8"))

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

    def write(self, number: int, rows: Sequence[Row], account: Account, new: Sequence[Signature]) -> None:
        """One part, then what it accounts for. `new` are the pages in it that later ones may repeat."""
        path = self.folder / f"part-{number:06}.{self._format}"
        _write(path, lambda draft: self._write_rows(draft, rows))
        if new:
            _write(self._account(number).with_suffix(".seen"), lambda draft: draft.write_bytes(packed(new)))
        _write(self._account(number), lambda draft: draft.write_text(json.dumps(account.to_json()), "utf-8"))

    def _write_rows(self, draft: Path, rows: Sequence[Row]) -> None:
        if self._format == "jsonl":
            with draft.open("w", encoding="utf-8", errors="replace") as file:
                for row in rows:
                    kept = {name: row.get(name) for name in self._columns}
                    file.write(json.dumps(kept, ensure_ascii=False) + "\n")
            return
        pyarrow = needed_pyarrow()
        table = pyarrow.Table.from_pydict(
            {name: [storable(row.get(name)) for row in rows] for name in self._columns}, schema=schema(self._columns)
        )
        pyarrow.parquet.write_table(table, draft, compression="zstd", row_group_size=1_000)

    def accounts(self) -> Iterator[Account]:
        """Of all parts that are done, in their order."""
        for file in sorted((self.folder / _ACCOUNTS).glob("*.json")):
            account = Account()
            for name, value in json.loads(file.read_text("utf-8")).items():
                setattr(account, name, Counter(value) if isinstance(value, dict) else value)
            yield account

    def seen(self) -> Iterator[Signature]:
        """Pages of all parts that are done, for those that repeat them."""
        for file in sorted((self.folder / _ACCOUNTS).glob("*.seen")):
            yield from unpacked(file.read_bytes())


def schema(columns: Sequence[str]) -> Any:
    """The Parquet schema of these columns."""
    pyarrow = needed_pyarrow()
    types = {"text": pyarrow.string(), "whole": pyarrow.int32(), "number": pyarrow.float32()}
    return pyarrow.schema([(name, types[BY_NAME[name].type]) for name in columns])


def storable(value: Any) -> Any:
    """Lone surrogates, which UTF-8 cannot carry, become question marks."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "replace").decode()
    return value


def _write(path: Path, fill: Callable[[Path], Any]) -> None:
    """There under its name only when it is whole and on the disk."""
    draft = path.with_name(f"{path.name}.draft")
    try:
        fill(draft)
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise StoreError("The output could not be written.", suggestions=("Check the folder and the disk.",)) from error
