"""Every command in the documentation exists with these options, and those that can are run."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from pagekeep.doors.cli.main import cli
from tests.capture.documents.samples import SAMPLES
from tests.docs.commands import NOT_RUN, ROOT, Command, in_blocks, in_sentences, reason_not_to_run
from tests.site.fixtures import Shore, article, open_shore

PLACEHOLDERS = {"N": "5", "QUERY": "harbour", "GLOB": "*", "COMMAND": "list", "SECONDS": "5"}
"""Words in sentences that are placeholders for a value which is checked."""


def parse(words: list[str]) -> None:
    """Read the arguments as the command line does, without running anything."""
    command: click.Command = cli
    name, parent = "pagekeep", None
    while True:
        context = command.make_context(name, list(words), parent=parent)
        if not isinstance(command, click.Group):
            return
        rest = [*context._protected_args, *context.args]
        if not rest:
            return
        found, sub, words = command.resolve_command(context, rest)
        assert sub is not None
        name, command, parent = str(found), sub, context


def usage_error(words: list[str]) -> click.UsageError | None:
    """What is wrong with the arguments."""
    try:
        parse(words)
    except click.exceptions.Exit:
        return None  # --help
    except click.UsageError as error:
        return error
    return None


def is_placeholder(error: click.UsageError) -> bool:
    """Whether a sentence only lacks what its reader fills in."""
    missing = isinstance(error, click.MissingParameter | click.exceptions.NoArgsIsHelpError)
    return missing or "does not exist" in error.message


@pytest.mark.parametrize("command", in_sentences(), ids=lambda one: f"{one.file}: {one.text[:60]}")
def test_a_command_that_a_sentence_names_exists(command: Command) -> None:
    words = [PLACEHOLDERS.get(word, word.strip("[]")) for word in command.words if word not in ("...", "[...]")]
    error = usage_error(words)
    assert error is None or is_placeholder(error), error.message


@pytest.mark.parametrize("command", in_blocks(), ids=lambda one: f"{one.file}: {one.text[:60]}")
def test_a_command_to_copy_has_valid_arguments(command: Command) -> None:
    if "a summary" in (reason_not_to_run(command) or ""):
        return
    error = usage_error(command.words)
    assert error is None or "does not exist" in error.message, error.message


def test_the_list_of_what_is_not_run_has_no_old_lines() -> None:
    texts = [command.text for command in in_blocks()]
    assert [pattern for pattern, _ in NOT_RUN if not any(re.match(pattern, text) for text in texts)] == []


FEED = """<rss version="2.0"><channel><title>Sea</title><link>{site}/page/post</link><description>x</description>
<item><title>Tides</title><link>{site}/page/entry</link><guid>1</guid><description>Words.</description></item></channel></rss>"""
BOOKMARKS = (
    '<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><A HREF="{site}/page/marked" ADD_DATE="1700000000">Marked</A></DL>'
)
OPML = '<opml version="2.0"><body><outline type="rss" text="Sea" xmlUrl="{site}/page/other.xml"/></body></opml>'
MAIL = "From: ann@example.com\nSubject: Tides\nMessage-ID: <1@example.com>\nDate: Wed, 19 Mar 2025 10:00:00 +0000\n\nThe tide.\n"
WARC = (
    "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/\r\nWARC-Date: 2025-03-19T10:00:00Z\r\n"
    "WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>\r\n"
    "Content-Type: application/http; msgtype=response\r\nContent-Length: {length}\r\n\r\n"
)


@dataclass(frozen=True)
class Workshop:
    """A folder with the files that the documentation names and a library, and a site for the addresses."""

    folder: Path
    shore: Shore

    def meanings(self, here: Path) -> dict[str, str]:
        """Return what the names in the commands mean, run in this folder."""
        site = self.shore.site.url("").rstrip("/")
        return {
            "https://example.com/post": f"{site}/page/post",
            "https://example.com/feed.xml": f"{site}/page/feed.xml",
            "example.com": f"{site}/page/index",
            "https://news.harbour.example/lamp": f"{site}/page/post",
            "2025-03-19": "2099-01-01",  # of a version that is there
            "/mnt/disk/pagekeep": str(here / "disk"),
            "/mnt/disk/pagekeep/": str(here / "disk") + "/",
        }


def use_folder(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Run the commands that follow in this folder, with the library in it."""
    patch.chdir(folder)
    for name, value in {
        "LIBRARY": str(folder / "library.db"),
        "ALLOW_HOSTS": "127.0.0.1",
        "PER_HOST_DELAY": "0",
        "RENDER": "never",
        "KEEP_PICTURES": "none",
        "RETRIES": "0",
    }.items():
        patch.setenv(f"PAGEKEEP_{name}", value)
    patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """The files, the site, and one page saved in two versions; each page of the documentation gets a copy."""
    folder = tmp_path_factory.mktemp("workshop")
    with open_shore() as shore, pytest.MonkeyPatch.context() as patch:
        write_files(folder, shore)
        use_folder(folder, patch)
        run("save", shore.url("post"))
        shore.bodies["post"] = article(500, "The post", "<p>There is a new bell in the old tower.</p>")
        run("save", shore.url("post"))
        yield Workshop(folder, shore)


def write_files(folder: Path, shore: Shore) -> None:
    """Write the files that the documentation names, and put the pages on the site."""
    site = shore.site.url("").rstrip("/")
    for name in ("post", "entry", "marked"):
        shore.bodies[name] = article(400, f"The {name}")
    shore.bodies["index"] = f'<link rel=alternate type="application/rss+xml" href="feed.xml">{article(200)}'
    for name in ("feed.xml", "other.xml"):
        shore.bodies[name] = FEED.format(site=site)
    (folder / "paper.pdf").write_bytes(SAMPLES["wall.pdf"])
    (folder / "mail.mbox").write_text(f"From ann Wed Mar 19 10:00:00 2025\n{MAIL}")
    (folder / "bookmarks.html").write_text(BOOKMARKS.format(site=site))
    (folder / "subscriptions.opml").write_text(OPML.format(site=site))
    page = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{article(300)}"
    (folder / "crawl.warc.gz").write_text(f"{WARC.format(length=len(page))}{page}\r\n\r\n")
    shutil.copytree(ROOT / "docs" / "examples", folder / "docs" / "examples")


def run(*words: str, given: str = "") -> str:
    result = CliRunner().invoke(cli, words, input=given, catch_exceptions=False)
    assert result.exit_code == 0, result.output[-800:]
    return result.stdout


RUN = [command for command in in_blocks() if not reason_not_to_run(command)]
PAGES = list(dict.fromkeys(command.file for command in RUN))


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run_in_its_order(
    page: str, workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(workshop.folder, tmp_path / "copy")
    use_folder(folder, monkeypatch)
    meanings, ids, failed = workshop.meanings(folder), {"item": _first_id("list", "items")}, []
    for command in RUN:
        if command.file != page:
            continue
        _prepare(command, ids)
        words = [meanings.get(word, word) for word in command.words]
        words = [ids[_kind(command)] if word == "3f2a" else word for word in words]
        result = CliRunner().invoke(cli, words, input="nine stoves and a kettle\n" * 2, catch_exceptions=False)
        if result.exit_code:
            failed.append(f"{command.text}\n{result.output[-400:]}")
    assert failed == []


def test_most_commands_are_run() -> None:
    assert len(RUN) > len(in_blocks()) / 2
    assert len(PAGES) > 10


def _kind(command: Command) -> str:
    return "entry" if command.text.startswith("feeds keep") else "published" if "--revoke" in command.text else "item"


def _prepare(command: Command, ids: dict[str, str]) -> None:
    """Find out the id of what an earlier command made."""
    if command.text.startswith("feeds keep"):
        ids["entry"] = _first_id("feeds", "inbox")
    elif "--revoke" in command.text:
        ids["published"] = _first_id("feeds", "publish")


def _first_id(*words: str) -> str:
    found = re.search(r'"id": ?"([0-9a-f-]{36})"', run(*(word for word in words if word != "items"), "--json"))
    assert found is not None
    return found.group(1)
