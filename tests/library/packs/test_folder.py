"""Packs as folders, and their differences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pagekeep.errors import Conflict, NotFound, ParseError
from pagekeep.library.packs.folder import MANIFEST, compare_packs, read_manifest, write_folder
from pagekeep.library.packs.pack import SitePage, arrange
from pagekeep.present.diff import difference

ROOT = "https://docs.example/v1/"


def write(folder: Path, texts: dict[str, str], root: str = ROOT) -> int:
    pages = [
        SitePage(root + path, path.title() or "Start", text, metadata={"language": "en"})
        for path, text in texts.items()
    ]
    return write_folder("Manual", root, "", arrange(pages, []), folder)


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_each_page_is_a_file_with_frontmatter_and_links_to_files(tmp_path: Path) -> None:
    assert write(tmp_path / "pack", {"": f"[Ropes]({ROOT}ropes/knots)", "ropes/knots": "Tie."}) == 2
    found = files(tmp_path / "pack")
    assert list(found) == ["index.md", "llms.txt", "pack.json", "ropes/knots.md"]
    assert found["index.md"] == f"---\nsource: {ROOT}\ntitle: Start\nlanguage: en\n---\n\n[Ropes](ropes/knots.md)\n"
    assert "(ropes/knots.md)" in found["llms.txt"]


def test_a_newer_pack_replaces_the_older_one_but_not_what_was_edited(tmp_path: Path) -> None:
    folder = tmp_path / "pack"
    write(folder, {"": "One.", "old/a": "A.", "old/b": "B."})
    (folder / "old/b.md").write_text("My notes.")
    (folder / "mine.txt").write_text("Mine.")
    write(folder, {"": "Two."})
    assert list(files(folder)) == ["index.md", "llms.txt", "mine.txt", "old/b.md", "pack.json"]
    assert "Two." in files(folder)["index.md"]


def test_writing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / name, {"": "One.", "x": "Two."})
    write(tmp_path / "a", {"": "One.", "x": "Two."})
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear")
    with pytest.raises(Conflict):
        write(tmp_path, {"": "One."})
    assert list(files(tmp_path)) == ["letter.txt"]


@pytest.mark.parametrize("path", ["../x.md", "/etc/passwd", ""])
def test_a_manifest_that_leads_outside_is_damaged(tmp_path: Path, path: str) -> None:
    write(tmp_path / "pack", {"": "One."})
    manifest = json.loads((tmp_path / "pack" / MANIFEST).read_text())
    manifest["pages"][0]["path"] = path
    (tmp_path / "pack" / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(ParseError):
        read_manifest(tmp_path / "pack")


def test_a_folder_without_a_manifest_is_not_a_pack(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_manifest(tmp_path)


def test_two_releases_are_compared_page_by_page(tmp_path: Path) -> None:
    write(tmp_path / "1", {"": "Same.", "changed": "Old line.\n", "gone": "Gone.", "here": "Moved text."})
    write(
        tmp_path / "2",
        {"": "Same.", "changed": "New line.\n", "new": "New.", "there/now": "Moved text."},
        "https://docs.example/v2/",
    )
    changes = list(compare_packs(tmp_path / "1", tmp_path / "2", lambda old, new: tuple(difference(old, new))))
    assert [(one.change, one.path) for one in changes] == [
        ("changed", "changed.md"), ("added", "new.md"), ("moved", "there/now.md"), ("removed", "gone.md"),
    ]  # fmt: skip
    assert "+New line." in changes[0].lines
