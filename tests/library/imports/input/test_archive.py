from __future__ import annotations

import io
import stat
import zipfile

import pytest

from pagekeep.errors import NotFound, ParseError, TooLarge
from pagekeep.library.imports.input import archive as module
from pagekeep.library.imports.input.archive import Archive, is_archive


def zipped(*files: tuple[str | zipfile.ZipInfo, bytes]) -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in files:
            file.writestr(name, data)
    out.seek(0)
    return out


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def test_files_are_read_and_read_again() -> None:
    archive = Archive(zipped(("a/b.txt", b"words"), ("c.txt", b"x" * 100_000)), "x.zip")
    assert archive.names() == ["a/b.txt", "c.txt"]
    for _ in range(2):
        with archive.source("c.txt").text() as stream:
            assert len(stream.read()) == 100_000


@pytest.mark.parametrize("name", ["../a", "/etc/passwd", "a/../../b", "..\\a", "C:\\a"])
def test_names_that_lead_outside_are_not_there(name: str) -> None:
    archive = Archive(zipped((name, b"x"), ("good.txt", b"y")), "x.zip")
    assert archive.names() == ["good.txt"]
    with pytest.raises(NotFound):
        archive.source(name)


def test_links_and_folders_are_not_there() -> None:
    archive = Archive(zipped((link("l"), b"/etc/passwd"), ("d/", b""), ("good.txt", b"y")), "x.zip")
    assert archive.names() == ["good.txt"]


def test_a_bomb_is_noticed_by_what_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_UNPACKED_BYTES", 5_000_000)
    archive = Archive(zipped(("a", b"0" * 20_000_000)), "x.zip")
    with archive.source("a").text() as stream, pytest.raises(TooLarge):
        stream.read()


def test_a_list_of_files_that_is_too_long_is_never_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_INDEX_BYTES", 10_000)
    with pytest.raises(TooLarge, match="too many files"):
        Archive(zipped(*((f"file {number}", b"") for number in range(500))), "x.zip")


def test_damage_is_told_in_our_own_words() -> None:
    data = zipped(("a", b"words that are long enough to be packed " * 50)).getvalue()
    with pytest.raises(ParseError, match="damaged"):
        Archive(io.BytesIO(data[: len(data) // 2]), "x.zip")
    broken = data[:45] + b"\xff\xff\xff\xff" + data[49:]
    with pytest.raises(ParseError, match="damaged"), Archive(io.BytesIO(broken), "x.zip").source("a").text() as stream:
        stream.read()


def test_archives_are_known_by_their_beginning() -> None:
    assert is_archive(zipped(("a", b"")))
    assert not is_archive(io.BytesIO(b"url,title"))
