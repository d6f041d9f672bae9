from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

from pagekeep.library.imports.formats.omnivore import parse_highlights_file, read_tree
from pagekeep.library.imports.input.row import Fault, Row, RowAnnotation
from pagekeep.library.imports.input.source import Archive, Folder


def test_passages_are_quotations_with_what_was_said_below_them() -> None:
    written = "A word on all.\n\n> First line\n> second line\n>\n> third\n\nMy note\n\nmore of it\n\n> Another\nsaid at once\n\n> Last"
    assert parse_highlights_file(written) == [
        RowAnnotation("", "A word on all."),
        RowAnnotation("First line\nsecond line\n\nthird", "My note\n\nmore of it"),
        RowAnnotation("Another", "said at once"),
        RowAnnotation("Last"),
    ]
    assert parse_highlights_file("") == []


def export(folder: Path, *slugs: str) -> Folder:
    entries = [{"slug": slug, "url": "https://example.com/a", "title": "A", "savedAt": "2020-01-01"} for slug in slugs]
    (folder / "metadata_0_to_20.json").write_text(json.dumps(entries))
    return Folder(folder)


def test_an_unpacked_export_is_read_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "content").mkdir()
    (tmp_path / "content" / "day.html").write_text("<p>Words</p>")
    (row,) = read_tree(export(tmp_path, "day"))
    assert isinstance(row, Row)
    assert row.content == "<p>Words</p>"


def test_a_slug_cannot_reach_other_files(tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_text("secret")
    inside = tmp_path / "export"
    (inside / "content").mkdir(parents=True)
    (inside / "content" / "link.html").symlink_to(tmp_path / "secret.html")
    rows = list(read_tree(export(inside, "../../secret", str(tmp_path / "secret"), "link")))
    assert [row.content for row in rows if isinstance(row, Row)] == ["", "", ""]


def test_a_broken_list_does_not_keep_the_others_out(tmp_path: Path) -> None:
    (tmp_path / "metadata_20_to_40.json").write_text("[{")
    found = list(read_tree(export(tmp_path, "day")))
    assert [type(entry) for entry in found] == [Row, Fault]


def test_a_damaged_page_leaves_its_bookmark_and_the_others(tmp_path: Path) -> None:
    export(tmp_path, "bad", "good")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.write(tmp_path / "metadata_0_to_20.json", "metadata_0_to_20.json")
        archive.writestr("content/bad.html", "<p>harmed</p>")
        archive.writestr("content/good.html", "<p>whole</p>")
    data = out.getvalue().replace(b"<p>harmed</p>", b"<p>HARMED</p>")
    bad, good = read_tree(Archive(io.BytesIO(data), "x.zip"))
    assert isinstance(bad, Row)
    assert isinstance(good, Row)
    assert (bad.content, good.content) == ("", "<p>whole</p>")
    assert "damaged" in bad.remarks[0]
