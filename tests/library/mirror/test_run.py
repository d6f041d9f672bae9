"""Folder and library brought together: changes on either side, on both, in between, and by a crash."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from pagekeep import clock
from pagekeep.errors import Conflict
from pagekeep.library.exports.markdown_files import MAX_NAME_BYTES
from pagekeep.library.mirror import run, writing
from pagekeep.library.mirror.records import Records
from pagekeep.library.mirror.run import MirrorReport, mirror, watch
from pagekeep.model import Item, ItemMetadata
from pagekeep.store import Store, open_store, parse_query
from tests.library.exports.making import fill, make_item
from tests.library.mirror.conftest import Vault

QUIET = MirrorReport()


def items(library: Store) -> list[Item]:
    return sorted((library.items.get(item_id) for item_id, _ in library.items.versions()), key=lambda item: item.url)


def test_every_item_has_a_file_and_a_second_pass_has_nothing_to_do(vault: Vault) -> None:
    assert len(vault.names) == 8
    assert vault.sync() == QUIET
    vault.age()
    assert vault.sync() == QUIET
    assert vault.sync() == QUIET


def test_only_what_changed_in_the_library_is_written(vault: Vault, library: Store) -> None:
    item = items(library)[2]
    library.items.set_metadata(item.id, clock.now(), tags=("tide",))
    new = library.items.save(make_item(40, library.user_id), None)
    done = vault.sync()
    assert sorted(done.written) == sorted(vault.file(one).name for one in (item.id, new.id))
    assert "tags: [tide]" in vault.file(item.id).read_text()


def test_what_is_deleted_in_the_library_leaves_the_folder_and_comes_back_with_it(vault: Vault, library: Store) -> None:
    item = items(library)[0]
    name = vault.file(item.id).name
    library.items.delete(item.id, clock.now())
    assert vault.sync().removed == [name]
    library.items.restore(item.id, clock.now())
    assert vault.sync().written == [name]


def test_tags_and_marks_flow_back(vault: Vault, library: Store) -> None:
    item = items(library)[3]
    vault.edit(item.id, lambda text: re.sub(r"tags: .*", "tags: [sea, new one]\npinned: true", text))
    assert len(vault.sync().taken) == 1
    stored = library.items.get(item.id)
    assert (list(stored.metadata.tags), stored.metadata.pinned) == (["sea", "new one"], True)
    assert [hit.item.id for hit in library.search.find(parse_query('tag:"new one"')).hits] == [item.id]
    vault.edit(item.id, lambda text: text.replace("pinned: true\n", "").replace("archived: true\n", ""))
    vault.sync()
    stored = library.items.get(item.id)
    assert not stored.metadata.pinned
    assert not stored.metadata.archived
    assert not stored.metadata.edited
    assert vault.sync() == QUIET


def test_a_text_that_was_changed_is_the_users_own_version_and_stays(vault: Vault, library: Store) -> None:
    item = items(library)[1]
    path = vault.edit(item.id, lambda text: text.replace("End.", "The end, as I see it."))
    vault.sync()
    stored = library.items.get(item.id)
    assert stored.metadata.edited is True
    assert "as I see it" in stored.content
    assert stored.content.startswith(item.content.partition("\n---\n")[0])
    assert [hit.item.id for hit in library.search.find(parse_query('"as I see it"')).hits] == [item.id]
    reading = {"title": "x", "author": None, "published_at": None, "now": clock.now()}
    library.items.replace_content(item.id, content="A new reading.\n", metadata=ItemMetadata(word_count=3), **reading)
    vault.sync()
    assert "as I see it" in path.read_text()
    assert "edited: true" in path.read_text()


def test_taking_the_mark_off_lets_go_of_the_own_version(vault: Vault, library: Store) -> None:
    item = items(library)[1]
    vault.edit(item.id, lambda text: text.replace("End.", "Mine."))
    vault.sync()
    vault.edit(item.id, lambda text: text.replace("edited: true\n", ""))
    vault.sync()
    assert not library.items.get(item.id).metadata.edited
    assert not library.items.get(item.id).metadata.parser_version


def test_changes_on_both_sides_are_put_together(vault: Vault, library: Store) -> None:
    item = items(library)[3]
    assert list(item.metadata.tags) == ["sea", "solar panels", "C#"]
    vault.edit(
        item.id, lambda text: re.sub(r"tags: .*", "tags: [sea, solar panels, by hand]", text).replace("End.", "Mine.")
    )
    library.items.set_metadata(item.id, clock.now(), tags=("solar panels", "C#", "by program"), pinned=True)
    vault.sync()
    stored = library.items.get(item.id)
    assert list(stored.metadata.tags) == ["solar panels", "by program", "by hand"]
    assert (stored.metadata.pinned, stored.metadata.edited) == (True, True)
    text = vault.file(item.id).read_text()
    assert "tags: [solar panels, by program, by hand]" in text
    assert "pinned: true" in text
    assert "Mine." in text


def test_two_own_versions_are_both_kept(vault: Vault, library: Store, tmp_path: Path) -> None:
    item = items(library)[1]
    other = Vault(library, tmp_path / "other")
    other.sync()
    vault.edit(item.id, lambda text: text.replace("End.", "First version."))
    other.edit(item.id, lambda text: text.replace("End.", "Second version."))
    vault.sync()
    done = other.sync()
    assert "First version." in library.items.get(item.id).content
    (aside,) = done.kept_aside
    assert "Second version." in (other.folder / aside).read_text()
    assert "First version." in other.file(item.id).read_text()
    assert other.sync() == QUIET


def test_files_may_be_renamed_and_moved(vault: Vault, library: Store) -> None:
    item, other = items(library)[1:3]
    path = vault.file(item.id)
    (vault.folder / "harbour").mkdir()
    path.rename(vault.folder / "harbour" / "My own name.md")
    assert vault.sync().renamed == ["harbour/My own name.md"]
    library.items.set_metadata(item.id, clock.now(), pinned=True)
    assert vault.sync().written == ["harbour/My own name.md"]
    moved = vault.file(other.id)
    moved.rename(vault.folder / "harbour" / moved.name)
    (vault.folder / "harbour" / moved.name).write_text(
        (vault.folder / "harbour" / moved.name).read_text().replace("End.", "Moved and changed.")
    )
    done = vault.sync()
    assert done.renamed == done.taken == [f"harbour/{moved.name}"]
    assert "Moved and changed." in library.items.get(other.id).content
    assert len(vault.names) == 8


def test_a_file_that_was_deleted_comes_back_and_the_item_stays(vault: Vault, library: Store) -> None:
    item = items(library)[1]
    path = vault.file(item.id)
    path.unlink()
    assert vault.sync().written == [path.name]
    shutil.rmtree(vault.folder)
    assert len(vault.sync().written) == 8
    assert len(library.items.versions()) == 8


def test_a_copy_is_the_users_own(vault: Vault, library: Store) -> None:
    item = items(library)[1]
    path = vault.file(item.id)
    copy = path.with_name("A copy.md")
    copy.write_text(path.read_text().replace("End.", "Only in the copy."))
    assert vault.sync() == QUIET
    assert "Only in the copy." in copy.read_text()
    assert not library.items.get(item.id).metadata.edited


def test_files_without_an_item_are_left_alone(vault: Vault) -> None:
    note = vault.folder / "Diary.md"
    note.write_text("My own words.")
    hidden = vault.folder / ".obsidian"
    hidden.mkdir()
    (hidden / "x.md").write_text("---\nid: x\n---\n")
    assert vault.sync() == QUIET
    assert note.read_text() == "My own words."


def test_fields_of_the_users_own_outlive_a_new_version(vault: Vault, library: Store) -> None:
    item = items(library)[1]
    vault.edit(item.id, lambda text: text.replace("\n---\n", "\naliases: [Watch]\ncssclasses: [wide]\n---\n", 1))
    vault.sync()
    library.items.set_metadata(item.id, clock.now(), tags=("tide",))
    vault.sync()
    text = vault.file(item.id).read_text()
    assert "aliases: [Watch]\ncssclasses: [wide]\n---" in text
    assert "tags: [tide]" in text


def test_a_file_that_cannot_be_read_is_reported_and_left_alone(vault: Vault, library: Store) -> None:
    item = items(library)[1]
    path = vault.edit(item.id, lambda text: text.replace("title: ", "title: [", 1))
    broken = path.read_text()
    library.items.set_metadata(item.id, clock.now(), tags=("tide",))
    done = vault.sync()
    assert [name for name, _ in done.problems] == [path.name]
    assert path.read_text() == broken
    library.items.delete(item.id, clock.now())
    vault.sync()
    assert path.read_text() == broken


def test_changes_to_an_item_that_is_deleted_meanwhile_stay_in_the_file(vault: Vault, library: Store) -> None:
    item = items(library)[1]
    path = vault.edit(item.id, lambda text: text.replace("End.", "My last words."))
    library.items.delete(item.id, clock.now())
    assert vault.sync().removed == []
    assert "My last words." in path.read_text()
    assert vault.sync() == QUIET


def test_an_emptied_file_is_a_crash_and_no_edit(vault: Vault, library: Store) -> None:
    item = items(library)[1]
    path = vault.file(item.id)
    path.write_text("")
    vault.sync()
    assert "End." in path.read_text()
    assert library.items.get(item.id).content == item.content
    assert len(vault.names) == 8


def test_notes_to_passages_may_be_changed_in_the_file(vault: Vault, library: Store) -> None:
    item = items(library)[0]
    assert len(library.annotations.of_item(item.id)) == 2
    vault.edit(item.id, lambda text: text.replace("A note on the whole page.", "A better note."))
    vault.sync()
    assert [one.note for one in library.annotations.of_item(item.id)][1] == "A better note."
    assert not library.items.get(item.id).metadata.edited
    library.annotations.delete(library.annotations.of_item(item.id)[1].id, clock.now())
    vault.sync()
    assert "A better note." not in vault.file(item.id).read_text()


def test_another_profile_writes_the_same_files_in_its_own_way(vault: Vault, library: Store) -> None:
    assert len(vault.sync("obsidian").written) == 8
    assert vault.sync("obsidian") == QUIET
    item = items(library)[3]
    vault.edit(item.id, lambda text: text.replace('  - "solar-panels"\n', '  - "by-hand"\n'))
    vault.sync("obsidian")
    assert list(library.items.get(item.id).metadata.tags) == ["sea", "C#", "by-hand"]


def test_a_list_that_was_lost_is_made_again_and_nothing_is_lost_with_it(vault: Vault, library: Store) -> None:
    item = items(library)[1]
    vault.edit(item.id, lambda text: text.replace("End.", "Not seen yet."))
    shutil.rmtree(vault.folder / ".pagekeep")
    done = vault.sync()
    assert len(done.kept_aside) == 1
    assert "Not seen yet." in (vault.folder / done.kept_aside[0]).read_text()
    assert not library.items.get(item.id).metadata.edited
    assert vault.sync() == QUIET


def test_a_crash_at_any_moment_of_writing_is_not_an_edit(
    vault: Vault, library: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    swap = writing.swap
    for before in (True, False):
        for item in items(library):
            library.items.set_metadata(item.id, clock.now(), tags=(f"before-{before}",))

        def killed(*arguments: Any, before: bool = before) -> None:
            if not before:
                swap(*arguments)
            raise KeyboardInterrupt

        with monkeypatch.context() as crash:
            crash.setattr(writing, "swap", killed)
            with pytest.raises(KeyboardInterrupt):
                vault.sync()
        done = vault.sync()
        assert (done.taken, done.kept_aside) == ([], [])
        assert all(f"tags: [before-{before}]" in vault.file(item.id).read_text() for item in items(library))
        assert vault.sync() == QUIET


def test_a_list_whose_last_line_was_cut_off_is_read(vault: Vault) -> None:
    with (vault.folder / ".pagekeep" / "mirror.jsonl").open("a") as file:
        file.write('{"id": "half')
    assert vault.sync() == QUIET
    assert len(Records(vault.folder, "keeper", "pagekeep").by_id) == 8


def test_killed_hard_in_the_middle_it_goes_on_where_it_was(tmp_path: Path, library: Store) -> None:
    fill(library, 300)
    script = (
        "import sys; from pathlib import Path\nfrom pagekeep.library.mirror import run as running, writing\n"
        "from pagekeep.store import open_store\n"
        "put, count = writing.create, [0]\n"
        "def slow(*arguments):\n"
        "    count[0] += 1\n"
        "    if count[0] == 120: import os; os.kill(os.getpid(), 9)\n"
        "    return put(*arguments)\n"
        "writing.create = slow\n"
        "running.mirror(open_store(sys.argv[1], 'keeper'), Path(sys.argv[2]))\n"
    )
    folder = tmp_path / "vault"
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "library.db"), str(folder)], check=False)
    assert done.returncode == -9
    rest = mirror(library, folder)
    assert (len(rest.written), rest.taken, rest.kept_aside) == (181, [], [])
    assert mirror(library, folder) == QUIET


def test_one_mirror_at_a_time_and_only_of_one_library(vault: Vault, tmp_path: Path) -> None:
    with run.lock_folder(vault.folder), pytest.raises(Conflict, match="Another mirror"):
        vault.sync()
    with (
        closing(open_store(tmp_path / "library.db", "stranger")) as store,
        pytest.raises(Conflict, match="another library"),
    ):
        mirror(store, vault.folder)


def test_watching_follows_both_sides_live(vault: Vault, library: Store, tmp_path: Path) -> None:
    item, other = items(library)[1:3]
    over, seen = threading.Event(), list[MirrorReport]()

    def follow() -> None:
        with closing(open_store(tmp_path / "library.db", "keeper")) as store:
            watch(store, vault.folder, "pagekeep", seen.append, seconds=0.05, wait=over.wait)

    thread = threading.Thread(target=follow)
    thread.start()
    try:
        library.items.set_metadata(item.id, clock.now(), tags=("live",))
        vault.edit(other.id, lambda text: text.replace("End.", "Typed just now."))
        for _ in range(400):
            both = (
                "Typed just now." in library.items.get(other.id).content,
                "tags: [live]" in vault.file(item.id).read_text(),
            )
            if all(both):
                break
            over.wait(0.05)
    finally:
        over.set()
        thread.join()
    assert "tags: [live]" in vault.file(item.id).read_text()
    assert "Typed just now." in library.items.get(other.id).content


@pytest.mark.parametrize(("profile", "count"), [("pagekeep", 100), ("obsidian", 1_000)])
def test_a_vault_of_a_thousand_pages_is_in_order(library: Store, tmp_path: Path, profile: str, count: int) -> None:
    """Names that no system refuses, frontmatter that parses, links that lead somewhere."""
    fill(library, count)
    folder = tmp_path / "vault"
    mirror(library, folder, profile)  # type: ignore[arg-type]
    names = [path.name for path in folder.glob("*.md")]
    assert len({name.casefold() for name in names}) == count
    for name in names:
        assert not set(name) & set('*"\\/<>:|?#^[]')
        assert len(name.encode()) <= MAX_NAME_BYTES
        assert not name.startswith(".")
        text = (folder / name).read_text("utf-8")
        fields = yaml.safe_load(text.split("---\n")[1])
        assert library.items.get(fields["id"]).url == fields["source"]
        for target in re.findall(r"(?<!\\)\]\(([^)]*)\)", text):
            assert target.startswith(("http://", "https://", "#")) or (folder / target).exists()
