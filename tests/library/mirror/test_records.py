"""What the mirror knows of its files outlives crashes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pagekeep.errors import Conflict, ParseError
from pagekeep.library.mirror.records import MAX_BASES, Base, Record, Records, lock_folder

ONE = Record("id-1", "a.md", ("m1",), "v1", (Base("r1", "b1", ("x", "y"), pinned=True, notes={"n": "d"}),))


def test_records_come_back_as_they_were_noted(tmp_path: Path) -> None:
    records = Records(tmp_path, "keeper", "pagekeep")
    records.store(ONE)
    records.store(replace(ONE, id="id-2"))
    records.store(replace(ONE, path="b.md"))
    records.remove("id-2")
    assert Records(tmp_path, "keeper", "pagekeep").by_id == {"id-1": replace(ONE, path="b.md")}


def test_a_long_list_is_made_short_again(tmp_path: Path) -> None:
    records = Records(tmp_path, "keeper", "pagekeep")
    for number in range(500):
        records.store(replace(ONE, version=str(number)))
    records.compact()
    assert len((tmp_path / ".pagekeep" / "mirror.jsonl").read_text().splitlines()) == 2
    assert Records(tmp_path, "keeper", "pagekeep").by_id["id-1"].version == "499"


def test_another_profile_is_noticed_once(tmp_path: Path) -> None:
    Records(tmp_path, "keeper", "pagekeep")
    assert Records(tmp_path, "keeper", "obsidian").profile_changed
    assert not Records(tmp_path, "keeper", "obsidian").profile_changed


def test_a_list_of_others_is_refused(tmp_path: Path) -> None:
    Records(tmp_path, "keeper", "pagekeep")
    with pytest.raises(Conflict):
        Records(tmp_path, "stranger", "pagekeep")
    (tmp_path / ".pagekeep" / "mirror.jsonl").write_text("something else")
    with pytest.raises(ParseError):
        Records(tmp_path, "keeper", "pagekeep")


def test_a_folder_is_locked_while_it_is_used_and_free_after(tmp_path: Path) -> None:
    with lock_folder(tmp_path), pytest.raises(Conflict), lock_folder(tmp_path):
        pass
    with lock_folder(tmp_path):
        pass


def test_records_of_older_versions_are_read(tmp_path: Path) -> None:
    Records(tmp_path, "keeper", "pagekeep")
    with (tmp_path / ".pagekeep" / "mirror.jsonl").open("a") as file:
        file.write(
            '{"id": "id-1", "path": "a.md", "marks": ["m1"], "version": "v1", "body": "b1", "tags": ["x", "y"], '
            '"pinned": true, "archived": false, "edited": false, "size": 3, "mtime": 4}\n'
        )
    record = Records(tmp_path, "keeper", "pagekeep").by_id["id-1"]
    assert record == Record("id-1", "a.md", ("m1",), "v1", (Base("", "b1", ("x", "y"), pinned=True),), size=3, mtime=4)
    assert record.find_bases("") == record.bases
    assert record.find_bases("r1") == ()


def test_a_file_has_the_bases_of_its_last_revisions() -> None:
    record = ONE
    for number in range(2, 30):
        record = record.add_base(Base(f"r{number}", "b"), first=True)
    assert len(record.bases) == MAX_BASES
    assert record.find_bases("r29")[0].revision == record.find_bases("")[0].revision == "r29"
    assert record.find_bases("r1") == ()
    edit = Base("r20", "edited")
    crashed = replace(record, pending=(edit,))
    assert crashed.find_bases("r20")[1:] == (edit,)
    assert crashed.find_bases("r21")[1:] == ()
    assert record.add_base(edit, first=False).find_bases("r20") == (edit,)
    assert record.add_base(edit, first=False).bases[0].revision == "r29"
