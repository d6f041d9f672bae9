"""What arguments name: addresses, files, folders, standard input; with a real server and a real library."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pagekeep.doors.cli.main import cli
from pagekeep.doors.cli.options import complete_url, find_source
from tests.site.fixtures import article


@pytest.mark.parametrize("name", ["page.html", "docs/page.html", "./page.html", "a file.txt", "notes", "1.2", "x.pdf"])
def test_a_name_of_a_file_is_not_taken_for_an_address(name: str) -> None:
    assert complete_url(name) is None


@pytest.mark.parametrize("name", ["example.com", "example.com/a.pdf", "example.com:8080/x", "www.example.co.uk/a?b=c"])
def test_a_bare_address_is_completed(name: str) -> None:
    assert find_source(name) == ("url", f"https://{name}")


def test_a_file_of_that_name_comes_before_the_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "example.com").write_text("<p>x")
    assert find_source("example.com").kind == "file"


class Library:
    """Runs commands on one library."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {"PAGEKEEP_LIBRARY": str(folder / "library.db"), "XDG_CONFIG_HOME": str(folder)}

    def run(self, *arguments: str, given: bytes = b"") -> Result:
        return CliRunner(env=self.env).invoke(cli, arguments, input=given, catch_exceptions=False)

    def json(self, *arguments: str, given: bytes = b"", code: int = 0) -> Any:
        done = self.run(*arguments, "--json", given=given)
        assert done.exit_code == code, done.output
        return json.loads(done.stdout)

    def urls(self) -> set[str]:
        return {item["url"] for item in self.json("list")["items"]}


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


def test_a_page_on_stdin_is_saved_under_its_address(library: Library) -> None:
    page = article(300).encode()
    item = library.json("save", "-", "--url", "harbour.example/lamp", given=page)["items"][0]
    assert (item["url"], item["quality"]) == ("https://harbour.example/lamp", "article")
    named = b'<link rel="canonical" href="https://harbour.example/wall">' + page
    assert library.json("save", "-", given=named)["items"][0]["url"] == "https://harbour.example/wall"
    nameless = library.json("save", "-", given=page, code=2)["error"]
    assert (nameless["type"], nameless["message"]) == ("InvalidUrl", "The page does not name its address.")
    assert library.json("save", "-", "--url", "notaurl", given=page, code=2)["error"]["type"] == "InvalidUrl"
    assert len(library.urls()) == 2


def test_a_folder_is_saved_page_by_page(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    (folder / "more" / ".git").mkdir(parents=True)
    (folder / "index.html").write_text('<link rel="canonical" href="https://harbour.example/lamp">' + article(300))
    (folder / "more" / "index.html").write_text(article(300))
    (folder / "more" / "notes.md").write_text("# Notes\n\n" + "word " * 50)
    (folder / "more" / "picture.png").write_bytes(b"\x89PNG")
    (folder / "more" / ".git" / "x.html").write_text(article(300))
    (folder / "broken.html").write_bytes(os.urandom(5_000))
    saved = library.json("save", str(folder), code=2)
    assert library.urls() == {item["url"] for item in saved["items"]}
    names = sorted(url.rpartition("/")[2] for url in library.urls())
    assert names == ["index.html", "lamp", "notes.md"]
    assert "https://harbour.example/lamp" in library.urls()
    assert len(library.json("save", str(folder), code=2)["items"]) == len(library.urls()) == 3
    assert [Path(error["url"]).name for error in saved["errors"]] == ["broken.html"]
    (tmp_path / "empty").mkdir()
    assert "There is no page or document in" in library.run("save", str(tmp_path / "empty")).stderr


def test_what_is_neither_a_file_nor_an_address_is_said_to_be_missing(library: Library) -> None:
    for name in ("nofile.html", "site/doc.pdf"):
        done = library.run("save", name)
        assert (done.exit_code, f"There is no file {name!r}." in done.stderr) == (2, True)


@pytest.mark.parametrize("name", ["noise.png", "noise.html", "noise"])
def test_noise_is_not_a_page_whatever_its_name(library: Library, tmp_path: Path, name: str) -> None:
    for size in (300, 5_000, 60_000):
        noise = os.urandom(size)
        (tmp_path / name).write_bytes(noise[:100] + b"<p>" + noise[100:])
        for command in ("save", "extract"):
            done = library.run(command, str(tmp_path / name))
            assert done.exit_code == 2
            assert "not a web page" in done.stderr
    assert library.urls() == set()


def test_an_item_is_found_by_its_bare_address(library: Library) -> None:
    library.run("save", "-", "--url", "https://harbour.example/lamp", given=article(300).encode())
    assert "puts the kettle on" in library.run("read", "harbour.example/lamp").stdout
    assert "harbour.example/other is not in the library" in library.run("read", "harbour.example/other").stderr
    assert "use `list` or `search`" in library.run("read", "zzz").stderr


def test_a_stored_page_is_explained_by_its_address_and_a_file_with_one(library: Library, tmp_path: Path) -> None:
    library.run("save", "-", "--url", "https://harbour.example/lamp", given=article(300).encode())
    for source in (("harbour.example/lamp",), ("--url", "https://harbour.example/lamp")):
        assert library.json("explain", *source)["url"] == "https://harbour.example/lamp"
    file = tmp_path / "page.html"
    file.write_text(article(300))
    shown = library.json("explain", str(file), "--url", "https://harbour.example/file")
    assert shown["url"] == "https://harbour.example/file"
    assert library.run("explain").exit_code == 2
