"""ZIP archives of office files and books: checked before anything is unpacked, every read bounded."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

import pagekeep
from pagekeep.capture.documents import zip_xml
from pagekeep.capture.documents.parsed import DamagedFile, EncryptedFile
from pagekeep.capture.documents.zip_xml import Archive
from pagekeep.errors import TooLarge
from tests.capture.documents.tiny_office import unpack
from tests.hostile.documents import docx, epub, odt
from tests.hostile.documents.archives import self_containing
from tests.hostile.documents.kind import Kind
from tests.hostile.quines import make_quine, nest, swallow


def packed(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in files.items():
            file.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def test_files_are_found_whatever_the_case_of_their_names() -> None:
    found = Archive(packed({"Word/Document.xml": b"text", "b": b""}))
    assert (found.names, found.read("/word/document.xml")) == (("Word/Document.xml", "b"), b"text")
    assert "word/document.xml" in found
    assert found.read_if_there("c") is None
    with pytest.raises(DamagedFile, match="c is missing"):
        found.read("c")


def test_a_file_without_a_name_is_left_out() -> None:
    assert Archive(packed({"~": b"x", "b": b"y"}).replace(b"~", b"\0")).names == ("b",)


def test_a_file_that_unpacks_to_far_more_than_its_size_is_refused_before_it_is_unpacked() -> None:
    with pytest.raises(TooLarge, match="200 times"):
        Archive(packed({"bomb": bytes(5_000_000)}))


def test_sizes_that_lie_are_found_while_reading() -> None:
    data = bytearray(packed({"bomb": bytes(range(256)) * 9_000}))
    place = data.index(b"PK\x01\x02")
    data[place + 24 : place + 28] = struct.pack("<L", 10)
    with pytest.raises((TooLarge, DamagedFile)):
        Archive(bytes(data)).read("bomb")


def test_totals_and_counts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_xml, "MAX_UNPACKED_BYTES", 100)
    with pytest.raises(TooLarge, match="more than"):
        Archive(packed({"a": b"x" * 60, "b": b"y" * 60}))
    monkeypatch.setattr(zip_xml, "MAX_FILES", 2)
    with pytest.raises(TooLarge, match="more than 2 files"):
        Archive(packed({"a": b"", "b": b"", "c": b""}))


def test_files_that_share_bytes_are_refused() -> None:
    data = packed({"a": b"first" * 50, "b": b"second" * 50})
    second = data.rindex(b"PK\x01\x02")
    with pytest.raises(DamagedFile, match="overlap"):
        Archive(data[: second + 42] + struct.pack("<L", 0) + data[second + 46 :])


def test_a_quine_is_read_once_and_gives_itself() -> None:
    data = make_quine({"a": b"text", "mimetype": b"x"}, "self.zip")
    found = Archive(data)
    assert (found.names, found.read("a"), found.read("self.zip")) == (("a", "mimetype", "self.zip"), b"text", data)


def test_a_file_that_contains_the_list_of_files_is_refused() -> None:
    data = swallow(packed({"a": b"text"}), "self.zip")
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        assert data.endswith(file.read("self.zip"))
    with pytest.raises(DamagedFile, match="overlap"):
        Archive(data)


def test_an_archive_in_an_archive_is_not_opened() -> None:
    data = nest(packed({"a": b"text"}), 1_000)
    assert Archive(data).names == ("a.zip",)


@pytest.mark.parametrize(
    ("kind", "main"),
    [(odt.KIND, "content.xml"), (epub.KIND, "OEBPS/book.opf"), (docx.KIND, "word/document.xml")],
    ids=["odt", "epub", "docx"],
)
def test_documents_that_contain_themselves_are_read_or_refused(kind: Kind, main: str) -> None:
    files = unpack(kind.originals()[0])
    outcomes = {}
    for name, data in self_containing(files, main):
        try:
            outcomes[name] = pagekeep.extract(data).quality.level in ("article", "simplified")
        except DamagedFile:
            outcomes[name] = False
    assert outcomes == {
        "a quine beside the parts": True,
        "a quine as the main part": False,
        "1,000 archives in each other": True,
        "1,000 archives as the main part": False,
        "a part that has the list of parts": False,
        "a main part that has the list of parts": False,
    }


def test_damaged_and_encrypted_files_are_refused() -> None:
    data = packed({"a": b"text"})
    with pytest.raises(DamagedFile):
        Archive(data[:40])
    place = data.index(b"PK\x01\x02")
    with pytest.raises(EncryptedFile):
        Archive(data[: place + 8] + b"\x01" + data[place + 9 :]).read("a")
