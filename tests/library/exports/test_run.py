"""The library into files and back, byte for byte."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pagekeep.config import Settings
from pagekeep.errors import Conflict, StoreError
from pagekeep.library.exports.run import write_file
from pagekeep.store import Store
from tests.library.exports.making import fill, make_item, mark, send, take, tree
from tests.site.server import Reply, Request, Site

New = Callable[[str], Store]
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


@pytest.mark.parametrize("profile", ["pagekeep", "obsidian"])
def test_markdown_comes_back_byte_for_byte(library: Store, new_library: New, tmp_path: Path, profile: str) -> None:
    fill(library, 60)
    first, second = tmp_path / "first", tmp_path / "second"
    assert send(library, first, profile=profile).items == 60
    other = new_library("new")
    report = take(other, first)
    assert (report.added, report.failed, report.annotations) == (60, 0, 30)
    send(other, second, profile=profile)
    assert len(tree(first)) == 60
    assert tree(first) == tree(second)


def test_lines_of_json_come_back_byte_for_byte(library: Store, new_library: New, tmp_path: Path) -> None:
    fill(library, 60)
    send(library, tmp_path / "a.jsonl", format="jsonl")
    other = new_library("new")
    report = take(other, tmp_path / "a.jsonl")
    assert (report.added, report.failed, report.annotations) == (60, 0, 30)
    send(other, tmp_path / "b.jsonl", format="jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert take(other, tmp_path / "a.jsonl").unchanged == 60


def test_an_import_into_the_same_library_changes_nothing(library: Store, tmp_path: Path) -> None:
    fill(library, 20)
    send(library, tmp_path / "notes")
    before = [library.items.get(item_id) for item_id, _ in library.items.versions()]
    report = take(library, tmp_path / "notes")
    assert (report.unchanged, report.added) == (20, 0)
    assert [library.items.get(item_id) for item_id, _ in library.items.versions()] == before


def test_a_second_export_writes_only_what_changed(library: Store, tmp_path: Path) -> None:
    items = fill(library, 12)
    send(library, tmp_path)
    library.items.set_metadata(items[3].id, "2025-04-01T00:00:00.000000Z", tags=("new",))
    done = send(library, tmp_path)
    assert (done.written, done.unchanged) == (1, 11)


def test_files_of_others_in_the_folder_stay(library: Store, tmp_path: Path) -> None:
    fill(library, 3)
    (tmp_path / "mine.md").write_text("My own note.")
    send(library, tmp_path)
    assert (tmp_path / "mine.md").read_text() == "My own note."


def test_a_query_chooses_and_deleted_pages_stay_behind(library: Store, tmp_path: Path) -> None:
    items = fill(library, 12)
    library.items.delete(items[5].id, "2025-04-01T00:00:00.000000Z")
    assert send(library, tmp_path / "all").items == 11
    assert send(library, tmp_path / "pinned", query="is:pinned").items == 2
    names = "".join(tree(tmp_path / "pinned"))
    assert (items[0].id[:8] in names, items[5].id[:8] in names, items[10].id[:8] in names) == (True, False, True)


def test_bookmarks_are_read_by_our_own_import(library: Store, new_library: New, tmp_path: Path) -> None:
    fill(library, 30)
    send(library, tmp_path / "b.html", format="netscape")
    other = new_library("new")
    assert take(other, tmp_path / "b.html").added == 30
    old, new = library.items.by_url("https://example.com/page/7"), other.items.by_url("https://example.com/page/7")
    assert old is not None
    assert new is not None
    assert (new.title, new.saved_at) == (old.title.replace("\n", " "), old.saved_at)
    assert list(new.metadata.tags) == list(old.metadata.tags)


async def _picture(_request: Request, reply: Reply) -> None:
    await reply.send(PNG, content_type="text/html")


async def _no_picture(_request: Request, reply: Reply) -> None:
    await reply.send("<script>", content_type="image/png")


def test_pictures_come_through_the_guard_once_and_links_lead_to_them(
    library: Store, new_library: New, tmp_path: Path
) -> None:
    with Site({"a": _picture, "b": _picture, "bad": _no_picture}) as site:
        one, same, bad = site.url("/a/1.png"), site.url("/b/copy_(2).png"), site.url("/bad/x.png")
        body = f"[![Ships]({one})]({one}) ![]({same}) ![x]({bad})\n\n```\n![code]({one})\n```\n"
        for number in (0, 1):
            library.items.save(make_item(number, library.user_id, body=body), None)
        settings = Settings(allow_hosts=("127.0.0.1",), per_host_delay=0)
        done = send(library, tmp_path / "with", settings, images=True)
        blocked = send(library, tmp_path / "blocked", Settings(), images=True)
        assert site.asked("/a/1.png") == 1
        assert (done.pictures, list(done.failed_pictures)) == (1, [bad])
        assert (blocked.pictures, len(blocked.failed_pictures)) == (0, 3)
        files = tree(tmp_path / "with")
        (picture,) = [name for name in files if name.endswith(".png")]
        assert files[picture] == PNG
        text = next(data.decode() for name, data in files.items() if name.endswith(".md"))
        assert f"[![Ships]({picture})]({one}) ![]({picture}) ![x]({bad})" in text
        assert f"![code]({one})" in text
        assert json.loads(files["images/sources.json"]) == {picture: one}
        other = new_library("new")
        take(other, tmp_path / "with")
        send(other, tmp_path / "again", settings, images=True)
        assert tree(tmp_path / "again") == files


def test_a_file_is_there_whole_or_not_at_all(library: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(library, 3)
    out = tmp_path / "library.jsonl"
    out.write_text("what was there before")

    def broken(_item_ids: list[str]) -> None:
        raise StoreError("The disk is gone.")

    monkeypatch.setattr(library.annotations, "of_items", broken)
    with pytest.raises(StoreError):
        send(library, out, format="jsonl")
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".db" and "db-" not in path.name] == [
        "library.jsonl"
    ]
    assert out.read_text() == "what was there before"


def test_a_folder_that_cannot_be_written_is_reported(library: Store, tmp_path: Path) -> None:
    fill(library, 1)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        send(library, tmp_path / "file" / "folder")
    with pytest.raises(Conflict):
        send(library, io.BytesIO())  # type: ignore[arg-type]


def test_a_link_in_the_folder_is_replaced_and_not_followed(library: Store, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("untouched")
    link = tmp_path / "link.md"
    link.symlink_to(outside)
    assert write_file(link, b"new")
    assert (outside.read_text(), link.read_text(), link.is_symlink()) == ("untouched", "new", False)


def test_marked_passages_are_at_the_end(library: Store, tmp_path: Path) -> None:
    item = library.items.save(replace(make_item(1, library.user_id)), None)
    mark(library, item, "Ships were counted,\n1 of them", "So few?")
    send(library, tmp_path / "notes")
    (text,) = (data.decode() for data in tree(tmp_path / "notes").values())
    assert "## Highlights\n\n> Ships were counted,\n> 1 of them\n\nSo few?\n\n^" in text
    assert "highlights: 1\n" in text
