"""Backups of a library on PostgreSQL in one file: damage to either is found, mended from the other, or left out and listed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from pagekeep.errors import StoreError
from pagekeep.store import Store, open_store, postgres
from tests.store.backup.test_backup_folder import contents, fill
from tests.store.making import Server


@pytest.fixture
def library(server: Server, tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(server.app, f"owner of {tmp_path}")) as store:
        fill(store, 30)
        yield store


def change(library: Store, statement: str, **values: object) -> None:
    library._engine.write(lambda tx: tx.run(f"{statement} AND user_id = :user", user=library.user_id, **values))


@contextmanager
def restored(server: Server, file: Path, user: str, *, what_can_be: bool = False) -> Iterator[tuple[Store, list[str]]]:
    done = postgres.restore(server.app, str(file), user, what_can_be=what_can_be)
    with closing(open_store(server.app, user)) as library:
        yield library, done.left_out


def test_damage_to_the_library_is_mended_from_the_earlier_file(server: Server, library: Store, tmp_path: Path) -> None:
    file, before = tmp_path / "a.dump", contents(library)
    library.backup(str(file))
    name = next(entry[2][0].hash for entry in before if entry[2])
    item = before[1][0]
    change(library, "UPDATE blobs SET body = :body WHERE hash = :hash", body=b"x", hash=name)
    change(library, "UPDATE items SET content = 'x' WHERE id = :id", id=item.id)
    report = library.backup(str(file))
    assert (report.recovered, report.recovered_texts, report.complete) == ([name], [item.id], True)
    with restored(server, file, f"heir of {tmp_path}") as (copy, left_out):
        assert (contents(copy), left_out) == (before, [])
    other = library.backup(str(tmp_path / "b.dump"))
    assert (other.damaged, other.damaged_texts) == ([name], [item.id])
    with pytest.raises(StoreError, match=item.id):
        postgres.restore(server.app, str(tmp_path / "b.dump"), f"other of {tmp_path}")
    with restored(server, tmp_path / "b.dump", f"other of {tmp_path}", what_can_be=True) as (copy, left_out):
        assert any(item.id in text for text in left_out)
        assert any(str(name) in text for text in left_out)
        assert len(list(copy.items.all_ids())) == len(before)


def test_a_damaged_text_does_not_replace_an_older_one_that_is_good(library: Store, tmp_path: Path) -> None:
    file = tmp_path / "a.dump"
    library.backup(str(file))
    good, item = file.read_bytes(), library.items.get(min(library.items.all_ids()))
    change(
        library,
        "UPDATE items SET content = 'x', updated_at = '2030-01-01T00:00:00Z', "
        "metadata = jsonb_set(metadata, '{text_hash}', '\"0\"') WHERE id = :id",
        id=item.id,
    )
    with pytest.raises(StoreError, match="was not replaced"):
        library.backup(str(file))
    assert file.read_bytes() == good
    assert [path.name for path in tmp_path.glob("a.dump*")] == ["a.dump"]


def test_a_flipped_bit_is_found_and_loses_one_part_of_the_file(server: Server, library: Store, tmp_path: Path) -> None:
    for number in range(5):  # enough for several parts
        library.blobs.put(random.Random(number).randbytes(80_000), "2025-03-19T10:30:00.000000Z")
    file, known = tmp_path / "a.dump", {entry[0].id: entry for entry in contents(library)}
    library.backup(str(file))
    whole, dice = file.read_bytes(), random.Random(1)
    restored_items = 0
    for number in range(8):
        data = bytearray(whole)
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        file.write_bytes(data)
        with pytest.raises(StoreError, match="not a complete backup"):
            postgres.restore(server.app, str(file), f"{number} of {tmp_path}")
        with restored(server, file, f"{number} of {tmp_path}", what_can_be=True) as (copy, left_out):
            assert left_out
            restored_items += sum(1 for entry in contents(copy) if entry == known[entry[0].id])
            assert copy.check() == []
    assert restored_items > 4 * len(known)
