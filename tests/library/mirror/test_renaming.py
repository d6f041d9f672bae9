"""Renames that replace nothing, and systems and file systems that do not have them."""

from __future__ import annotations

import ctypes
import errno
import platform
import sys
from pathlib import Path
from typing import Any

import pytest

from pagekeep.library.mirror import folder

EXCHANGES = pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="the system cannot exchange files")
Pair = tuple[Path, Path]


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    one, other = tmp_path / "one ä", tmp_path / "other"
    one.write_text("1")
    other.write_text("2")
    return one, other


@EXCHANGES
def test_two_files_change_places(pair: Pair) -> None:
    one, other = pair
    assert folder.exchange(one, other)
    assert (one.read_text(), other.read_text()) == ("2", "1")


@EXCHANGES
@pytest.mark.parametrize("missing", [0, 1])
def test_a_file_is_not_exchanged_with_nothing(pair: Pair, missing: int) -> None:
    pair[missing].unlink()
    with pytest.raises(FileNotFoundError) as caught:
        folder.exchange(*pair)
    assert caught.value.filename == str(pair[0])
    assert pair[1 - missing].exists()


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM])
def test_a_file_system_that_cannot_is_not_an_error(pair: Pair, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def refuse(*_: Any) -> int:
        ctypes.set_errno(code)
        return -1

    monkeypatch.setattr(folder, "_RENAME", refuse)
    one, other = pair
    assert not folder.exchange(one, other)
    assert folder.move_to_free_name(one, other.with_name("free"))  # by a link
    assert not one.exists()


@pytest.mark.skipif(platform.machine() not in folder._SYSCALLS or sys.platform != "linux", reason="needs the number")
def test_a_c_library_without_the_function_uses_the_system_call(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    class OldLibrary:
        syscall = ctypes.CDLL(None, use_errno=True).syscall

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: OldLibrary)
    rename = folder._find_rename()
    assert rename is not None
    monkeypatch.setattr(folder, "_RENAME", rename)
    one, other = pair
    assert folder.exchange(one, other)
    assert (one.read_text(), other.read_text()) == ("2", "1")
    with pytest.raises(FileExistsError):
        folder.move_to_free_name(one, other)


@pytest.mark.parametrize("flags", [True, False], ids=["rename", "link"])
def test_a_name_that_is_taken_is_not_replaced(pair: Pair, monkeypatch: pytest.MonkeyPatch, flags: bool) -> None:
    if not flags:
        monkeypatch.setattr(folder, "_RENAME", None)
    one, other = pair
    with pytest.raises(FileExistsError):
        folder.move_to_free_name(one, other)
    assert (one.read_text(), other.read_text()) == ("1", "2")
    assert folder.move_to_free_name(one, other.with_name("free"))
    assert not one.exists()
    assert other.with_name("free").read_text() == "1"
