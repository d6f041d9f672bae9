"""Files as the folder shows them."""

from __future__ import annotations

from pathlib import Path

from pagekeep.library.mirror.folder import MAX_FILE_BYTES, FileStat, list_files, read_file, stat_file


def test_markdown_files_are_seen_wherever_they_are_but_hidden_ones_and_links(tmp_path: Path) -> None:
    for name in ("a.md", "sub/B.MD", "sub/c.txt", ".hidden/d.md", ".e.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "link.md").symlink_to(tmp_path / "a.md")
    (tmp_path / "folder.md").mkdir()
    assert [seen.path for seen in list_files(tmp_path)] == ["a.md", "sub/B.MD"]
    assert stat_file(tmp_path, "link.md") is None
    assert stat_file(tmp_path, "none.md") is None


def test_what_cannot_be_understood_says_why(tmp_path: Path) -> None:
    (tmp_path / "bytes.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "yaml.md").write_text("---\na: [\n---\n")
    for name, fault in (("bytes.md", "UTF-8"), ("yaml.md", "YAML")):
        file = read_file(tmp_path, FileStat(name, 3, 1))
        assert file is not None
        assert file.document is None
        assert fault in file.fault
    large = read_file(tmp_path, FileStat("yaml.md", MAX_FILE_BYTES + 1, 1))
    assert large is not None
    assert "too large" in large.fault
    assert read_file(tmp_path, FileStat("gone.md", 1, 1)) is None
