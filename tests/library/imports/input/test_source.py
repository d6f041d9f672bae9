from __future__ import annotations

import io
from pathlib import Path

import pytest

from pagekeep.errors import NotFound
from pagekeep.library.imports.input.source import Folder, source_from_stream


def test_a_stream_can_be_read_again_and_stays_open() -> None:
    file = io.BytesIO(b"words")
    source = source_from_stream(file, "a.txt")
    for _ in range(2):
        with source.text() as stream:
            assert stream.read() == "words"
    assert not file.closed


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_encoding_is_seen_by_its_mark(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("Flüsse".encode(encoding))
    assert source_from_stream(io.BytesIO((tmp_path / "a.txt").read_bytes()), "a.txt").head == "Flüsse"


def test_bytes_that_are_not_text_are_replaced() -> None:
    assert source_from_stream(io.BytesIO(b"a\xff\xfeb"), "a").head == "a\ufffd\ufffdb"


def test_a_folder_shows_its_files_and_no_links(tmp_path: Path) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text("secret")
    inside = tmp_path / "export"
    (inside / "content").mkdir(parents=True)
    (inside / "content" / "b.html").write_text("page")
    (inside / "a.json").write_text("[]")
    (inside / ".DS_Store").write_text("")
    (inside / "link.html").symlink_to(outside)
    (inside / "folder").symlink_to(tmp_path)
    folder = Folder(inside)
    assert folder.names() == ["a.json", "content/b.html"]
    assert folder.source("content/b.html").head == "page"
    for name in ("link.html", "folder/secret.txt", "../secret.txt", str(outside), "content", "", "missing"):
        with pytest.raises(NotFound):
            folder.source(name)
