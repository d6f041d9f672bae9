from __future__ import annotations

from pathlib import Path

import pytest

from pagekeep import extras
from pagekeep.errors import StoreError
from pagekeep.store import default_library, open_store


def test_the_default_library_is_in_the_platforms_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert default_library({"XDG_DATA_HOME": "/data"}, "linux") == Path("/data/pagekeep/library.db")
    assert default_library({"LOCALAPPDATA": "C:/Local"}, "win32") == Path("C:/Local/pagekeep/library.db")
    assert default_library({}, "darwin").parts[-4:] == ("Library", "Application Support", "pagekeep", "library.db")
    monkeypatch.setattr("pagekeep.store.user_store.default_library", lambda: tmp_path / "new" / "library.db")
    open_store(None).close()
    assert (tmp_path / "new" / "library.db").is_file()


@pytest.mark.parametrize("user", ["", "x" * 300, "a\x00b"])
def test_a_user_needs_a_proper_name(user: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="user"):
        open_store(tmp_path / "library.db", user)


def test_a_file_that_is_not_a_library_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("These are notes, and no library. " * 50)
    with pytest.raises(StoreError, match="not a Pagekeep library"):
        open_store(file)
    assert file.read_text().startswith("These are notes")


def test_a_folder_cannot_be_a_library(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        open_store(tmp_path)


def test_without_psycopg_postgres_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_missing", lambda name: ["psycopg"])
    monkeypatch.setattr(extras, "checkout", lambda: None)
    with pytest.raises(StoreError) as caught:
        open_store("postgresql://localhost/none")
    assert "pagekeep[postgres]" in caught.value.suggestions[0]
