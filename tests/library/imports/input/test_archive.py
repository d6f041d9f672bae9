from __future__ import annotations

import io
import stat
import struct
import zipfile
from collections.abc import Callable

import pytest

from pagekeep.errors import NotFound, ParseError, TooLarge
from pagekeep.library.imports.input import source as module
from pagekeep.library.imports.input.source import Archive, is_archive
from tests.hostile.quines import make_quine


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


def test_files_without_a_name_are_not_there() -> None:
    nameless = zipped(("~", b"x"), ("good.txt", b"y")).getvalue().replace(b"~", b"\0")
    assert Archive(io.BytesIO(nameless), "x.zip").names() == ["good.txt"]


def test_an_archive_that_contains_itself_is_one_more_file() -> None:
    data = make_quine({"good.txt": b"y"}, "self.zip")
    archive = Archive(io.BytesIO(data), "x.zip")
    assert archive.names() == ["good.txt", "self.zip"]
    with archive.source("self.zip").open() as stream:
        assert stream.read() == data


def test_a_bomb_is_noticed_by_what_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_UNPACKED_BYTES", 5_000_000)
    archive = Archive(zipped(("a", b"0" * 20_000_000)), "x.zip")
    with archive.source("a").text() as stream, pytest.raises(TooLarge):
        stream.read()


def test_a_list_of_files_that_is_too_long_is_never_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_INDEX_BYTES", 10_000)
    with pytest.raises(TooLarge, match="too many files"):
        Archive(zipped(*((f"file {number}", b"") for number in range(500))), "x.zip")


def test_a_list_of_too_many_files_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FILES", 100, raising=False)
    with pytest.raises(TooLarge, match="too many files"):
        Archive(zipped(*((f"{number}", b"") for number in range(101))), "x.zip")
    assert len(Archive(zipped(*((f"{number}", b"") for number in range(100))), "x.zip").names()) == 100


def hide_end_record(data: bytes) -> bytes:
    """Put the signature of the last record into its own offset field: Python reads the record at the end of the file."""
    pad = b"PK\x05\x06"
    return data[:-6] + pad + data[-2:]


def with_far_zip64_record(data: bytes) -> bytes:
    """Give the size of the file list in a ZIP64 record that is further from the end than the longest comment."""
    end = data[-22:]
    size, offset = int.from_bytes(end[12:16], "little"), int.from_bytes(end[16:20], "little")
    count = int.from_bytes(end[8:10], "little")
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, offset)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(data) - 22, 1)
    small = end[:12] + bytes(4) + end[16:20] + (65_535).to_bytes(2, "little")
    return data[:-22] + record + locator + small + b" " * 65_535


@pytest.mark.parametrize("change", [hide_end_record, with_far_zip64_record])
def test_the_size_of_the_list_is_the_one_that_python_reads(
    change: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = change(zipped(*((f"file {number}", b"") for number in range(500))).getvalue())
    read: list[int] = []

    class CountedFile(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            found = super().read(size)
            read.append(len(found))
            return found

    monkeypatch.setattr(module, "MAX_INDEX_BYTES", 70_000 if change is with_far_zip64_record else 10_000)
    monkeypatch.setattr(module, "MAX_FILES", 400, raising=False)
    with pytest.raises((TooLarge, ParseError)):
        Archive(CountedFile(data), "x.zip")
    assert max(read) <= module.MAX_INDEX_BYTES


def test_damage_is_reported_in_our_own_words() -> None:
    data = zipped(("a", b"words that are long enough to be packed " * 50)).getvalue()
    with pytest.raises(ParseError, match="damaged"):
        Archive(io.BytesIO(data[: len(data) // 2]), "x.zip")
    broken = data[:45] + b"\xff\xff\xff\xff" + data[49:]
    with pytest.raises(ParseError, match="damaged"), Archive(io.BytesIO(broken), "x.zip").source("a").text() as stream:
        stream.read()


def test_archives_are_known_by_their_beginning() -> None:
    assert is_archive(zipped(("a", b"")))
    assert not is_archive(io.BytesIO(b"url,title"))
