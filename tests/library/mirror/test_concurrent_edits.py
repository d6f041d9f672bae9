"""Programs that write, move and save files while the mirror is at work, and editors whose buffer is old."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pagekeep import clock
from pagekeep.library.mirror import folder as files
from pagekeep.library.mirror import folder as renaming
from pagekeep.library.mirror import writing
from pagekeep.library.mirror.folder import FileStat
from pagekeep.library.mirror.records import MAX_BASES
from pagekeep.library.mirror.run import MirrorReport, mirror, run_pass
from pagekeep.model import Item
from pagekeep.store import Store
from tests.library.mirror.conftest import Vault
from tests.library.mirror.editors import KINDS, SYSTEMS, Editor, in_every_gap
from tests.library.mirror.test_run import QUIET, items

Patch = pytest.MonkeyPatch
SECOND = 1_000_000_000


def texts_of(vault: Vault, item: Item) -> list[str]:
    return [path.read_text() for path in vault.folder.rglob("*.md") if item.id in path.read_text()]


def pass_after(vault: Vault, path: Path, seconds: float) -> MirrorReport:
    """Run a pass at a time after the last change of a file."""
    return run_pass(vault.store, vault.folder, now=lambda: path.stat().st_mtime_ns + int(seconds * SECOND))


def during_swap(patch: Patch, before: Callable[[Path], None]) -> None:
    """Act in the moment between the last check of a file and its replacement."""
    swap = writing.swap

    def swap_with_company(draft: Path, target: Path, *more: Any) -> bool:
        before(target)
        return swap(draft, target, *more)

    patch.setattr(writing, "swap", swap_with_company)


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest) -> Iterator[str]:
    """What the file system can do."""
    with SYSTEMS[request.param]():
        yield request.param


# Programs that empty a file and then write it


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.95])
def test_a_file_that_is_being_written_is_left_alone(vault: Vault, library: Store, share: float) -> None:
    item = items(library)[1]
    path = vault.file(item.id)
    edit = path.read_text().replace("End.", "Written slowly.")
    path.write_text(edit[: int(len(edit) * share)])
    library.items.set_metadata(item.id, clock.now(), tags=("meanwhile",))
    report = pass_after(vault, path, 0.3)
    assert report == MirrorReport(waiting=[path.name])
    assert path.read_text() == edit[: int(len(edit) * share)]
    path.write_text(edit)
    pass_after(vault, path, 2.5)
    stored = library.items.get(item.id)
    assert "Written slowly." in stored.content
    assert stored.metadata.tags == ("meanwhile",)
    assert vault.sync().kept_aside == []


def test_an_edit_of_a_deleted_item_that_is_being_written_stays(vault: Vault, library: Store) -> None:
    item = items(library)[1]
    path = vault.file(item.id)
    path.write_text("")
    library.items.delete(item.id, clock.now())
    assert pass_after(vault, path, 0.3).removed == []
    assert path.exists()


def test_one_run_waits_for_files_that_are_being_written(vault: Vault, library: Store) -> None:
    item = items(library)[1]
    path = vault.edit(item.id, lambda text: text.replace("End.", "Just now."))
    time, waits = [path.stat().st_mtime_ns], list[float]()

    def wait(seconds: float) -> None:
        waits.append(seconds)
        time[0] += int(seconds * SECOND)

    report = mirror(library, vault.folder, now=lambda: time[0], wait=wait)
    assert (report.taken, report.waiting, report.problems, len(waits)) == ([path.name], [], [], 1)
    path.write_text("")
    time[0] = path.stat().st_mtime_ns
    report = mirror(library, vault.folder, now=lambda: time[0], wait=lambda _: None)
    assert [name for name, _ in report.problems] == [path.name]


def test_a_file_changed_without_a_new_time_is_not_replaced(vault: Vault, library: Store, monkeypatch: Patch) -> None:
    item = items(library)[1]
    vault.age()
    vault.sync()
    path = vault.file(item.id)
    library.items.set_metadata(item.id, clock.now(), tags=("meanwhile",))
    annotations = library.annotations.of_item

    def annotations_and_edit(item_id: str) -> Any:
        path.write_text(path.read_text().replace("End.", "Ende"))
        os.utime(path, (1_000_000_000, 1_000_000_000))
        return annotations(item_id)

    with monkeypatch.context() as patch:
        patch.setattr(type(library.annotations), "of_item", lambda _self, item_id: annotations_and_edit(item_id))
        vault.sync()
    assert "Ende" in path.read_text()
    vault.sync()
    assert "Ende" in library.items.get(item.id).content


@pytest.mark.usefixtures("system")
def test_what_a_program_writes_into_a_replaced_file_is_found(vault: Vault, library: Store, monkeypatch: Patch) -> None:
    item = items(library)[1]
    edit = vault.file(item.id).read_text().replace("End.", "Written into the old file.")
    library.items.set_metadata(item.id, clock.now(), tags=("meanwhile",))
    opened: list[Any] = []
    with monkeypatch.context() as patch:
        during_swap(patch, lambda target: opened.append(target.open("w")))
        vault.sync()
    vault.sync()
    with opened[0] as file:
        file.write(edit)
    assert vault.sync().kept_aside == []
    stored = library.items.get(item.id)
    assert "Written into the old file." in stored.content
    assert stored.metadata.tags == ("meanwhile",)
    assert "Written into the old file." in vault.file(item.id).read_text()


@pytest.mark.usefixtures("system")
def test_an_edit_in_a_file_whose_replacement_crashed_once_is_found(
    vault: Vault, library: Store, monkeypatch: Patch
) -> None:
    item = items(library)[1]
    edit = vault.file(item.id).read_text().replace("End.", "Written into the old file.")
    library.items.set_metadata(item.id, clock.now(), tags=("meanwhile",))

    def crash(_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        during_swap(patch, crash)
        with pytest.raises(KeyboardInterrupt):
            vault.sync()
    opened: list[Any] = []
    with monkeypatch.context() as patch:
        during_swap(patch, lambda target: opened.append(target.open("w")))
        vault.sync()
    with opened[0] as file:
        file.write(edit)
    vault.sync()
    assert "Written into the old file." in library.items.get(item.id).content
    assert len(texts_of(vault, item)) == 1


def test_replaced_files_are_kept_for_a_minute(vault: Vault, library: Store) -> None:
    item = items(library)[1]
    library.items.set_metadata(item.id, clock.now(), tags=("tide",))
    vault.sync()
    old = vault.folder / ".pagekeep" / "replaced"
    assert len(list(old.iterdir())) == 1
    run_pass(library, vault.folder, now=lambda: vault.now() + 60 * SECOND)
    assert list(old.iterdir()) == []


# Editors that save in the moment in which their file is replaced or removed

GAPS = 8
"""More than one replacement has, so that the last save is after it."""


@pytest.mark.usefixtures("system")
@pytest.mark.parametrize("kind", KINDS)
def test_what_an_editor_saves_in_the_last_moment_is_kept(vault: Vault, library: Store, kind: str) -> None:
    for gap, item in enumerate(items(library)):
        editor = save_in_gap(vault, library, item, kind, gap)
        while vault.sync().changed:
            pass
        stored = library.items.get(item.id)
        assert editor.line in stored.content
        assert stored.metadata.tags == ("meanwhile",)
        text = vault.file(item.id).read_text()
        assert editor.line in text
        assert "tags: [meanwhile]" in text
        assert not list(vault.folder.glob("*conflict*"))
        assert len(vault.names) == GAPS


@pytest.mark.usefixtures("system")
@pytest.mark.parametrize("kind", KINDS)
def test_what_an_editor_saves_when_its_item_is_removed_stays(vault: Vault, library: Store, kind: str) -> None:
    for gap, item in enumerate(items(library)[:4]):
        editor = save_in_gap(vault, library, item, kind, gap, delete=True)
        vault.sync()
        texts = [path.read_text() for path in vault.folder.rglob("*.md") if ".pagekeep" not in path.parts]
        assert [editor.line in text for text in texts].count(True) == 1


def save_in_gap(vault: Vault, library: Store, item: Item, kind: str, gap: int, *, delete: bool = False) -> Editor:
    """Change or delete an item, and save its file before this step in which the mirror changes the folder."""
    editor = Editor(vault.file(item.id), f"gap {gap}", kind)
    if delete:
        library.items.delete(item.id, clock.now())
    else:
        library.items.set_metadata(item.id, clock.now(), tags=("meanwhile",))
    steps = iter(range(100))
    with in_every_gap(lambda _: editor.save() if next(steps) == gap else None):
        vault.sync()
    if not editor.saves:
        editor.save()  # this way of replacing has fewer steps
    editor.finish()
    return editor


@pytest.mark.usefixtures("system")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("every", [1, 2])
def test_of_several_saves_during_one_replacement_the_last_is_kept(
    vault: Vault, library: Store, kind: str, every: int
) -> None:
    for last, item in enumerate(items(library), 1):
        editor = Editor(vault.file(item.id), "again", kind)
        library.items.set_metadata(item.id, clock.now(), tags=("meanwhile",))
        steps = iter(range(1000))

        def save(_: str, editor: Editor = editor, last: int = last, steps: Iterator[int] = steps) -> None:
            if next(steps) % every == 0 and editor.saves < last:
                editor.save()

        with in_every_gap(save):
            vault.sync()
        editor.finish()
        while vault.sync().changed:
            pass
        copies = [path.read_text() for path in vault.folder.glob("*(conflict *).md")]
        if kind in ("at once", "slow") and any(editor.line in copy for copy in copies):
            continue  # two files were written at once, and their times do not say which text is the last
        assert editor.line in library.items.get(item.id).content
        assert editor.line in vault.file(item.id).read_text()
        assert kind in ("at once", "slow") or not copies


@pytest.mark.parametrize("later", ["in place", "replaced"])
def test_of_two_texts_the_one_in_the_replaced_file_counts_only_if_it_is_not_the_later_one(
    vault: Vault, library: Store, later: str
) -> None:
    item = items(library)[1]
    path = vault.file(item.id)
    text = path.read_text()
    library.items.set_metadata(item.id, clock.now(), tags=("meanwhile",))
    with path.open("r+") as file:
        vault.sync()
        path.write_text(text.replace("End.", "Written in place."))
        file.write(text.replace("End.", "Written into the replaced file."))
    if later == "in place":
        os.utime(path, ns=(vault.now() - SECOND, vault.now() - SECOND))
        run_pass(library, vault.folder, now=lambda: vault.now() + 5 * SECOND)
        assert not list(vault.folder.glob("*conflict*"))
    else:
        os.utime(path, (1_000_000_000, 1_000_000_000))
        (copy,) = vault.sync().kept_aside
        assert "Written into the replaced file." in (vault.folder / copy).read_text()
    assert "Written in place." in library.items.get(item.id).content
    assert "Written in place." in path.read_text()


@pytest.mark.parametrize("bytes_", [b"caf\xe9 " * 100, b"x" * (files.MAX_FILE_BYTES + 1)], ids=["latin-1", "too large"])
def test_what_cannot_be_read_in_a_replaced_file_becomes_a_copy_as_it_is(
    vault: Vault, library: Store, bytes_: bytes
) -> None:
    item = items(library)[1]
    library.items.set_metadata(item.id, clock.now(), tags=("meanwhile",))
    with vault.file(item.id).open("r+b") as file:
        vault.sync()
        file.write(bytes_)
    (copy,) = vault.sync().kept_aside
    assert (vault.folder / copy).read_bytes().startswith(bytes_)
    run_pass(library, vault.folder, now=lambda: vault.now() + 60 * SECOND)
    assert (vault.folder / copy).exists()


@pytest.mark.usefixtures("system")
def test_a_folder_on_another_disk_has_its_own_place_for_replaced_files(
    vault: Vault, library: Store, monkeypatch: Patch
) -> None:
    item = items(library)[1]
    path = vault.folder / "mounted" / "moved.md"
    path.parent.mkdir()
    vault.file(item.id).rename(path)
    vault.sync()
    other_disk(monkeypatch, path.parent)
    edit = path.read_text().replace("End.", "Written into the old file.")
    library.items.set_metadata(item.id, clock.now(), tags=("meanwhile",))
    opened: list[Any] = []
    with monkeypatch.context() as patch:
        during_swap(patch, lambda target: None if opened else opened.append(target.open("r+")))
        vault.sync()
    assert "tags: [meanwhile]" in path.read_text()
    with opened[0] as file:
        file.write(edit)
    vault.sync()
    assert "Written into the old file." in library.items.get(item.id).content
    assert "Written into the old file." in path.read_text()
    library.items.delete(item.id, clock.now())
    vault.sync()
    assert not path.exists()


def other_disk(patch: Patch, folder: Path) -> None:
    """Let no rename and no link cross the border of a folder."""

    def guard(where: Any, name: str) -> None:
        act = getattr(where, name)

        def run(*arguments: Any) -> Any:
            paths = [Path(one) for one in arguments if isinstance(one, Path)]
            if len({folder in path.parents for path in paths}) > 1:
                raise OSError(errno.EXDEV, "Invalid cross-device link")
            return act(*arguments)

        patch.setattr(where, name, run)

    for name in ("rename", "link", "replace"):
        guard(os, name)
    guard(renaming, "_rename_with")


# Files that move


def hide_and_move(patch: Patch, path: Path, to: Path, *, calls: int = 1) -> None:
    """Move a file while the folder is listed, so that the list misses it."""
    to.parent.mkdir(exist_ok=True)
    list_files, count = files.list_files, [0]

    def list_while_moving(folder: Path) -> Iterator[FileStat]:
        count[0] += 1
        if count[0] == 1:
            path.rename(to)
        yield from (one for one in list_files(folder) if count[0] > calls or (folder / one.path) != to)

    patch.setattr(files, "list_files", list_while_moving)


def test_a_file_moved_during_a_pass_gets_no_twin(vault: Vault, library: Store, monkeypatch: Patch) -> None:
    item = items(library)[1]
    path, to = vault.file(item.id), vault.folder / "a" / "moved.md"
    path.write_text(path.read_text().replace("End.", "Moved and edited."))
    hide_and_move(monkeypatch, path, to)
    report = vault.sync()
    assert report.renamed == ["a/moved.md"]
    assert len(texts_of(vault, item)) == 1
    assert "Moved and edited." in library.items.get(item.id).content
    assert "edited: true" in to.read_text()


def test_a_twin_is_removed_when_the_moved_file_shows_up(vault: Vault, library: Store, monkeypatch: Patch) -> None:
    item = items(library)[1]
    vault.age()
    vault.sync()
    path, to = vault.file(item.id), vault.folder / "a" / "moved.md"
    with monkeypatch.context() as patch:
        hide_and_move(patch, path, to, calls=2)
        assert vault.sync().written == [path.name]
    to.write_text(to.read_text().replace("End.", "Edited in the new place."))
    assert vault.sync().removed == [path.name]
    assert len(texts_of(vault, item)) == 1
    assert "Edited in the new place." in library.items.get(item.id).content


@pytest.mark.usefixtures("system")
def test_a_file_moved_right_before_it_is_replaced_gets_no_twin(
    vault: Vault, library: Store, monkeypatch: Patch
) -> None:
    item = items(library)[1]
    library.items.set_metadata(item.id, clock.now(), tags=("tide",))
    to = vault.folder / "moved.md"
    with monkeypatch.context() as patch:
        during_swap(patch, lambda target: void(target.rename(to)))
        vault.sync()
    assert len(texts_of(vault, item)) == 1
    assert vault.sync().renamed == ["moved.md"]
    assert "tags: [tide]" in to.read_text()


def test_a_moved_file_that_is_being_written_gets_no_twin(vault: Vault, library: Store) -> None:
    item = items(library)[1]
    path, to = vault.file(item.id), vault.folder / "moved.md"
    edit = path.read_text().replace("End.", "Moved and written.")
    path.rename(to)
    to.write_text("")
    report = pass_after(vault, to, 0.3)
    assert (report.written, report.waiting) == ([], [path.name])
    to.write_text(edit)
    vault.sync()
    assert len(texts_of(vault, item)) == 1
    assert "Moved and written." in library.items.get(item.id).content


def void(_: object) -> None:
    """Ignore a result."""


# Conflicts that are none


@pytest.mark.parametrize("crash", [False, True])
@pytest.mark.parametrize("second", ["Second.", "End."])
def test_saving_again_during_a_pass_is_not_a_conflict(
    vault: Vault, library: Store, monkeypatch: Patch, crash: bool, second: str
) -> None:
    item = items(library)[3]
    tags = item.metadata.tags
    path = vault.edit(item.id, lambda text: text.replace("End.", "First.").replace("tags: [", "tags: [one, "))
    replace_content = type(library.items).replace_content

    def save_again(self: Store, *arguments: Any, **values: Any) -> Item:
        stored = replace_content(self, *arguments, **values)
        path.write_text(path.read_text().replace("First.", second).replace("tags: [one, ", "tags: ["))
        if crash:
            raise KeyboardInterrupt
        return stored

    with monkeypatch.context() as patch:
        patch.setattr(type(library.items), "replace_content", save_again)
        try:
            vault.sync()
        except KeyboardInterrupt:
            assert crash
    assert "one" in library.items.get(item.id).metadata.tags
    report = vault.sync()
    assert report.kept_aside == []
    stored = library.items.get(item.id)
    assert second in stored.content
    assert stored.metadata.tags == tags
    assert second in path.read_text()
    assert vault.sync().kept_aside == []


def test_the_same_edit_in_two_folders_makes_no_copy(vault: Vault, library: Store, tmp_path: Path) -> None:
    item = items(library)[1]
    other = Vault(library, tmp_path / "other")
    other.sync()
    for one in (vault, other):
        one.edit(item.id, lambda text: text.replace("End.", "The same words."))
    assert (vault.sync().kept_aside, other.sync().kept_aside) == ([], [])


# Editors with an old buffer


@pytest.mark.parametrize("profile", ["pagekeep", "obsidian"])
def test_an_old_buffer_takes_nothing_off(vault: Vault, library: Store, profile: str) -> None:
    vault.sync(profile)
    item = items(library)[4]
    note = library.annotations.of_item(item.id)[1]
    path = vault.file(item.id)
    buffer = path.read_text()
    library.items.set_metadata(item.id, clock.now(), tags=("by program",), pinned=True, archived=True)
    library.annotations.put(replace(note, note="Changed in the library.", updated_at=clock.now()))
    vault.sync(profile)
    assert "Changed in the library." in path.read_text()
    for words in ("First draft.", "Second draft.", "End."):
        path.write_text(buffer.replace("End.", words))
        assert vault.sync(profile).kept_aside == []
        stored = library.items.get(item.id)
        assert words in stored.content
        known = stored.metadata
        assert (known.tags, known.pinned, known.archived, known.edited) == (("by program",), True, True, True)
        assert library.annotations.of_item(item.id)[1].note == "Changed in the library."
        assert "archived: true" in path.read_text()
    path.write_text(re.sub(r"(pinned|archived): true\n", "", path.read_text()))
    vault.sync(profile)
    assert not library.items.get(item.id).metadata.pinned
    assert not library.items.get(item.id).metadata.archived


def test_an_old_buffer_brings_no_old_text_back(vault: Vault, library: Store, tmp_path: Path) -> None:
    item = items(library)[1]
    other = Vault(library, tmp_path / "other")
    other.sync()
    path = vault.file(item.id)
    buffer = path.read_text()
    other.edit(item.id, lambda text: text.replace("End.", "Edited elsewhere."))
    other.sync()
    vault.sync()
    path.write_text(buffer.replace("\n---\n", "\naliases: [x]\n---\n", 1))
    assert vault.sync().kept_aside == []
    assert "Edited elsewhere." in library.items.get(item.id).content
    assert "aliases: [x]" in path.read_text()
    path.write_text(buffer.replace("End.", "Edited here."))
    (copy,) = vault.sync().kept_aside
    assert "Edited here." in (vault.folder / copy).read_text()
    assert item.id not in (vault.folder / copy).read_text()
    assert "Edited elsewhere." in path.read_text()


def test_a_note_changed_on_both_sides_has_both_texts(vault: Vault, library: Store) -> None:
    item = items(library)[0]
    note = library.annotations.of_item(item.id)[1]
    vault.edit(item.id, lambda text: text.replace(note.note, "From the file."))
    library.annotations.put(replace(note, note="From the library.", updated_at=clock.now()))
    vault.sync()
    assert library.annotations.of_item(item.id)[1].note == "From the library.\n\nFrom the file."


def test_a_file_of_an_unknown_revision_adds_but_takes_nothing_off(vault: Vault, library: Store) -> None:
    item = items(library)[3]
    library.items.set_metadata(item.id, clock.now(), pinned=True)
    vault.sync()
    path = vault.file(item.id)
    text = re.sub(r"mirror_revision: .*", "mirror_revision: r0", path.read_text())
    text = re.sub(r"pinned: true\n", "", re.sub(r"tags: .*", "tags: [new]", text))
    path.write_text(text.replace("End.", "Of long ago."))
    (copy,) = vault.sync().kept_aside
    assert "Of long ago." in (vault.folder / copy).read_text()
    stored = library.items.get(item.id)
    assert (stored.metadata.tags, stored.metadata.pinned) == ((*item.metadata.tags, "new"), True)
    assert vault.sync() == QUIET


def test_an_edit_is_not_a_conflict_however_often_tags_changed_since_the_file_was_opened(
    vault: Vault, library: Store
) -> None:
    item = items(library)[1]
    path = vault.file(item.id)
    opened = path.read_text()
    for number in range(3 * MAX_BASES):
        library.items.set_metadata(item.id, clock.now(), tags=(f"t{number}",))
        vault.sync()
    for line in ("First save.", "Second save of the same buffer."):
        path.write_text(opened.replace("End.", line))
        os.utime(path)
        assert vault.sync().kept_aside == []
        assert line in library.items.get(item.id).content
    assert library.items.get(item.id).metadata.tags[0] == f"t{3 * MAX_BASES - 1}"


def test_an_edit_of_a_forgotten_revision_is_a_conflict_if_the_library_has_another_edit(
    vault: Vault, library: Store
) -> None:
    item = items(library)[1]
    path = vault.file(item.id)
    opened = path.read_text()
    vault.edit(item.id, lambda text: text.replace("End.", "The edit of another editor."))
    vault.sync()
    for number in range(3 * MAX_BASES):
        library.items.set_metadata(item.id, clock.now(), tags=(f"t{number}",))
        vault.sync()
    path.write_text(opened.replace("End.", "An edit of the old text."))
    os.utime(path)
    (copy,) = vault.sync().kept_aside
    assert "An edit of the old text." in (vault.folder / copy).read_text()
    assert "The edit of another editor." in library.items.get(item.id).content


def test_an_editor_that_never_reads_the_file_again_makes_no_conflict(vault: Vault, library: Store) -> None:
    item = items(library)[1]
    path = vault.file(item.id)
    text = path.read_text()
    for number in range(3 * MAX_BASES):
        text += f"\nLine {number}.\n"
        path.write_text(text)
        os.utime(path)
        library.items.set_metadata(item.id, clock.now(), tags=(f"t{number}",))
        assert vault.sync().kept_aside == []
        assert f"Line {number}." in library.items.get(item.id).content
