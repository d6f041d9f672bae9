"""Load the rules that come with Pagekeep, from a prebuilt copy of their YAML files where there is one.

Reading the files and checking every selector takes longer than extracting a page. The copy has the rules and their indexes as
plain data, and a rule is made from it only when a page needs it. It is in the folder of the files, so a user who can change it
can change the program too. It counts only if it was made from exactly these files by exactly this code; otherwise
the files are read and, where the folder can be written, copied again.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from zlib import crc32

from pagekeep.errors import RuleError
from pagekeep.rules import rule
from pagekeep.rules.rulebook import Rulebook
from pagekeep.version import __version__

SITES: Final = Path(__file__).with_name("sites")  # importlib.resources takes 8 ms to import
PREBUILT: Final = "prebuilt.bin"
_FORMAT: Final = 4
"""Version of `marshal` that every Python from 3.4 on reads."""
_CHECKSUM_BYTES: Final = 4


@lru_cache(maxsize=1)
def shipped() -> Rulebook:
    """Return the rules that come with Pagekeep; a fault in one is a bug of ours and raises `RuleError`."""
    return load_shipped(SITES)


def load(folder: Path) -> Rulebook:
    """Load the shipped rules and those in the folder's `*.yaml` files, which replace shipped rules with the same id.

    A missing folder is an empty one. Rules with faults are left out; `Rulebook.faults` lists what is wrong.
    """
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        return shipped()
    from pagekeep.rules.loading import read_files

    own = read_files(paths)
    if not own.rules and not own.faults:
        return shipped()
    replaced = {one.id for one in own.rules}
    others = tuple(one for one in shipped().rules if one.id not in replaced)
    return Rulebook((*own.rules, *others), own.faults)


def load_shipped(folder: Path) -> Rulebook:
    """Return the rules of a folder from its prebuilt copy; without a valid one, from its files, and make the copy."""
    paths = sorted(folder.glob("*.yaml"))
    checksum = _checksum_of(paths)
    return _read_copy(folder / PREBUILT, checksum) or _build(paths, folder / PREBUILT, checksum)


def _checksum_of(paths: Iterable[Path]) -> bytes:
    """Return the checksum of rule files and of the code that reads them.

    The fields of rules are those of the code that runs: its files may be newer, if Pagekeep was updated meanwhile.
    """
    known = [(name, *getattr(one, "__dataclass_fields__", ())) for name, one in sorted(vars(rule).items())]
    checksum = crc32(repr(known).encode(), crc32(__version__.encode()))
    for path in (*paths, *sorted(Path(__file__).parent.glob("*.py"))):
        checksum = crc32(path.read_bytes(), crc32(path.name.encode(), checksum))
    return _bytes(checksum)


def _bytes(checksum: int) -> bytes:
    return checksum.to_bytes(_CHECKSUM_BYTES, "big")


def _read_copy(path: Path, checksum: bytes) -> Rulebook | None:
    """Return the rules of a prebuilt copy; `None` when it is missing, stale or damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    content = memoryview(data)[2 * _CHECKSUM_BYTES :]
    if data[: 2 * _CHECKSUM_BYTES] != checksum + _bytes(crc32(content)):
        return None
    rows, tables = marshal.loads(content)
    return Rulebook.from_tables(_Rules(rows), tables)


def _build(paths: Iterable[Path], copy: Path, checksum: bytes) -> Rulebook:
    from pagekeep.rules.loading import read_files

    loaded = read_files(paths, shipped=True)
    if loaded.faults:
        raise RuleError.of(loaded.faults)
    book = Rulebook(loaded.rules)
    content = marshal.dumps(([_plain(one) for one in book.rules], book.tables()), _FORMAT)
    part = copy.with_name(f"{copy.name}.{os.getpid()}.part")
    with suppress(OSError):  # an installation that this user cannot change
        try:
            part.write_bytes(checksum + _bytes(crc32(content)) + content)
            part.replace(copy)
        finally:
            part.unlink(missing_ok=True)
    return book


class _Rules(dict[int, rule.Rule]):
    """Rules by number, each made from its plain data when it is first used."""

    def __init__(self, rows: list[Any]) -> None:
        super().__init__()
        self._rows = rows

    def __missing__(self, number: int) -> rule.Rule:
        made: rule.Rule = _make(self._rows[number])
        self[number] = made
        return made


def _plain(value: Any) -> Any:
    """Return a part of a rule as plain data: a typed value is a list of its class's name and its fields."""
    if hasattr(value, "__dataclass_fields__"):
        return [type(value).__name__, *(_plain(getattr(value, name)) for name in value.__dataclass_fields__)]
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return {name: _plain(item) for name, item in value.items()} if isinstance(value, MappingProxyType) else value


def _make(plain: Any) -> Any:
    """Return what `_plain` was called with."""
    if isinstance(plain, list):
        return getattr(rule, plain[0])(*map(_make, plain[1:]))
    if isinstance(plain, tuple):
        return tuple(map(_make, plain))
    return MappingProxyType({name: _make(item) for name, item in plain.items()}) if isinstance(plain, dict) else plain
