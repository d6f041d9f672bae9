"""Files as the folder shows them."""

from __future__ import annotations

from pathlib import Path

from pagekeep.library.mirror.folder import LARGEST, Seen, look, read, stat


def test_markdown_files_are_seen_wherever_they_are_but_hidden_ones_and_links(tmp_path: Path) -> None:
    for name in ("a.md", "sub/B.MD", "sub/c.txt", ".hidden/d.md", ".e.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "link.md").symlink_to(tmp_path / "a.md")
    (tmp_path / "folder.md").mkdir()
    assert [seen.path for seen in look(tmp_path)] == ["a.md", "sub/B.MD"]
    assert stat(tmp_path, "link.md") is None
    assert stat(tmp_path, "none.md") is None


def test_what_cannot_be_understood_says_why(tmp_path: Path) -> None:
    (tmp_path / "bytes.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "yaml.md").write_text("---\na: [\n---\n")
    for name, fault in (("bytes.md", "UTF-8"), ("yaml.md", "YAML")):
        file = read(tmp_path, Seen(name, 3, 1))
        assert file is not None
        assert file.document is None
        assert fault in file.fault
    large = read(tmp_path, Seen("yaml.md", LARGEST + 1, 1))
    assert large is not None
    assert "too large" in large.fault
    assert read(tmp_path, Seen("gone.md", 1, 1)) is None
