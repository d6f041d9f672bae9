"""The commands on the library, against a real server and a real SQLite file."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pagekeep import clock
from pagekeep.config import Settings
from pagekeep.doors.cli.main import COMMANDS, cli
from pagekeep.doors.cli.open_library import library_location
from pagekeep.doors.cli.queue import _Reporter
from pagekeep.store import open_store
from tests.site.fixtures import WALL, article
from tests.site.server import Reply, Request, Site
from tests.store.damage import flip_pages, make_library, pages_of

NOT_ON_ITEMS = (
    "crawl",
    "map",
    "pack",
    "feeds",
    "mail",
    "sinks",
    "extract",
    "rules",
    "evaluate",
    "bulk",
    "library",
    "user",
    "token",
    "serve",
    "repair",
    "mcp",
    "compare",
    "compared",
    "completion",
)
ON_LIBRARY = [name for section in COMMANDS.values() for name in section if name not in NOT_ON_ITEMS]


class Shell:
    """Runs commands on one library; pages of the site can be changed meanwhile."""

    def __init__(self, site: Site, bodies: dict[str, str], folder: Path) -> None:
        self.site = site
        self.bodies = bodies
        self.folder = folder
        self.env = {
            "PAGEKEEP_ALLOW_HOSTS": "127.0.0.1",
            "PAGEKEEP_PER_HOST_DELAY": "0",
            "PAGEKEEP_RENDER": "never",
            "PAGEKEEP_RETRIES": "0",
            "PAGEKEEP_LIBRARY": str(folder / "library.db"),
            "XDG_CONFIG_HOME": str(folder),
        }

    def url(self, name: str) -> str:
        return self.site.url(f"/page/{name}")

    def run(self, *arguments: str, given: str | None = None) -> Result:
        return CliRunner(env=self.env).invoke(cli, arguments, input=given, catch_exceptions=False)

    def json(self, *arguments: str, code: int = 0) -> Any:
        done = self.run(*arguments, "--json")
        assert done.exit_code == code, done.output
        return json.loads(done.stdout)

    def save(self, name: str, *arguments: str) -> dict[str, Any]:
        item: dict[str, Any] = self.json("save", self.url(name), *arguments)["items"][0]
        return item

    def save_file(self, file: Path) -> str:
        """Save a file, and return the id of its item."""
        return str(self.json("save", str(file))["items"][0]["id"])

    def start(self, *arguments: str, **how: Any) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "pagekeep", *arguments]
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **how}
        return subprocess.Popen(command, env={**os.environ, **self.env}, **how)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    bodies: dict[str, str] = {}

    async def page(request: Request, reply: Reply) -> None:
        name = request.path.rpartition("/")[2]
        await reply.send(bodies.get(name, ""), status=200 if name in bodies else 404)

    async def slow(_request: Request, _reply: Reply) -> None:
        await asyncio.sleep(60)

    with Site({"page": page, "slow": slow}) as site:
        yield Shell(site, bodies, tmp_path)


@pytest.mark.parametrize("command", ON_LIBRARY)
def test_every_command_has_examples_exit_codes_and_the_common_options(command: str) -> None:
    reported = CliRunner().invoke(cli, [command, "--help"]).stdout
    assert f"pagekeep {command}" in reported.partition("Examples:")[2]
    assert "Exit codes: 0 done" in reported
    for option in ("--json", "--user", "--library"):
        assert option in reported


def test_starting_loads_no_command() -> None:
    script = "import sys, pagekeep.doors.cli.main; print([n for n in sys.modules if n.startswith('pagekeep.')])"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    for room in (
        "pagekeep.library",
        "pagekeep.store",
        "pagekeep.fetch",
        "pagekeep.config",
        "pagekeep.doors.cli.save",
    ):
        assert room not in loaded


def test_a_page_is_saved_and_list_search_and_read_find_it(shell: Shell) -> None:
    shell.bodies["a"] = article(1300)
    done = shell.run("save", shell.url("a"), "--tag", "harbour")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("Article captured (1,2")
    assert done.stdout.rstrip().endswith("The keeper")
    (item,) = shell.json("list")["items"]
    assert (item["title"], item["url"], item["quality"]) == ("The keeper", shell.url("a"), "article")
    assert "harbour" in item["tags"]
    (hit,) = shell.json("search", "kettle")["items"]
    assert hit["id"] == item["id"]
    assert "[[kettle]]" in hit["snippet"]
    for key in (item["id"], item["id"][:8], shell.url("a")):
        assert "puts the kettle on" in shell.run("read", key).stdout


def test_the_shape_of_a_list_is_the_documented_one(shell: Shell) -> None:
    for name in "abc":
        shell.bodies[name] = article(100, title=f"Page {name}")
        shell.save(name)
    page = shell.json("list", "--limit", "2")
    assert set(page) == {"success", "items", "next"}
    assert [item["title"] for item in page["items"]] == ["Page c", "Page b"]
    rest = shell.json("list", "--limit", "2", "--after", page["next"])
    assert ([item["title"] for item in rest["items"]], rest["next"]) == (["Page a"], None)
    documented = {"id", "url", "url_full", "title", "domain", "pinned", "archived", "tags", "quality", "saved_at"}
    assert documented <= set(page["items"][0])


def test_lists_in_a_pipe_are_tab_separated_with_whole_ids(shell: Shell) -> None:
    shell.bodies["a"] = article(100, title="A [red]title[/red] with\x1b[31m colour")
    item = shell.save("a")
    cells = shell.run("list").stdout.rstrip("\n").split("\t")
    assert cells[0] == item["id"]
    assert "[red]" in cells[3]
    assert "\x1b" not in cells[3]


@pytest.mark.parametrize(
    ("flags", "titles"),
    [
        ((), ["c", "a"]),
        (("--order", "title"), ["a", "c"]),
        (("--reverse",), ["a", "c"]),
        (("--archived",), ["b"]),
        (("--all",), ["c", "b", "a"]),
        (("--pinned",), ["a"]),
        (("--tag", "Harbour"), ["c"]),
        (("--quality", "bookmark"), []),
        (("--domain", "example.com"), []),
        (("--deleted",), ["d"]),
        (("--saved-before", "2001-01-01"), []),
        (("--saved-after", "2001-01-01"), ["c", "a"]),
    ],
)
def test_lists_are_filtered_and_sorted(shell: Shell, flags: tuple[str, ...], titles: list[str]) -> None:
    for name in "abcd":
        shell.bodies[name] = article(100, title=name)
        shell.save(name, *(("--tag", "harbour") if name == "c" else ()))
    shell.run("pin", shell.url("a"))
    shell.run("archive", shell.url("b"))
    shell.run("delete", shell.url("d"))
    assert [item["title"] for item in shell.json("list", *flags)["items"]] == titles


@pytest.mark.parametrize("option", ["--saved-after", "--published-before"])
def test_a_date_that_is_none_is_bad_input(shell: Shell, option: str) -> None:
    for date in ("yesterday", "2025-02-30", "20250319"):
        done = shell.run("list", option, date)
        assert (done.exit_code, "2025-03-19" in done.stderr) == (2, True)


def test_a_worker_that_waits_reports_what_others_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)

    def idle() -> str:
        _Reporter(library, as_json=False).report_idle()
        return capsys.readouterr().err.partition(" Waiting for more")[0]

    with closing(open_store(tmp_path / "library.db")) as library:
        assert idle() == "The queue is empty."
        now = clock.now()
        for name in "ab":
            library.jobs.add(f"https://example.com/{name}", f"https://example.com/{name}", {}, now)
        assert idle() == "2 pages will be retried later."
        library.jobs.lease("another", now, clock.add_seconds(now, 60))
        assert idle() == "Another worker runs 1 job, 1 page will be retried later."
        library.jobs.lease("another", now, clock.add_seconds(now, 60))
        assert idle() == "Another worker runs 2 jobs."


def test_pages_are_listed_by_when_they_were_published(shell: Shell) -> None:
    for name, date in (("a", "2025-03-19T23:00:00-05:00"), ("b", "2025-03-20T02:00:00Z"), ("c", "2024")):
        shell.bodies[name] = article(100, title=name)
        shell.save(name)
        assert shell.run("edit", shell.url(name), "--date", date).exit_code == 0

    def titles(*flags: str) -> str:
        return "".join(item["title"] for item in shell.json("list", *flags)["items"])

    assert titles("--order", "published") == "abc"
    assert titles("--published-after", "2025", "--order", "published", "--reverse") == "ba"
    assert titles("--published-before", "2025-03-20T03:00:00") == "cb"
    assert titles("--published-before", "2025-03-19T22:30:00-05:00") == "cb"  # the same time elsewhere
    found = shell.json("search", "published:2025-03-20")["items"]
    assert {item["title"]: item["published_at"] for item in found} == {
        "a": "2025-03-19T23:00:00-05:00",  # shown as the page wrote it
        "b": "2025-03-20T02:00:00Z",
    }


def test_a_bookmark_names_the_reason_and_offers_the_retry(shell: Shell) -> None:
    """Seed 001, AC-7."""
    shell.bodies["a"] = WALL
    done = shell.run("save", shell.url("a"))
    item = shell.json("list")["items"][0]
    assert done.exit_code == 0
    assert done.stdout.startswith("Saved as bookmark - extraction failed")
    assert item["reason"] in done.stdout
    assert f"Retry extraction: pagekeep retry {item['id'][:8]}" in done.stdout


def test_an_article_offers_no_retry(shell: Shell) -> None:
    shell.bodies["a"] = article(300)
    assert "retry" not in shell.run("save", shell.url("a")).stdout.lower()


def test_retry_is_refused_after_the_third_failure_with_a_typed_error(shell: Shell) -> None:
    """Seed 001, AC-8: each retry fetches the page and runs the chain again."""
    shell.bodies["a"] = WALL
    item = shell.save("a")
    for count in (1, 2, 3):
        assert shell.json("retry", item["id"])["items"][0]["retry_count"] == count
    assert shell.json("retry", item["id"], code=2)["error"]["type"] == "RetryLimit"
    assert "pagekeep retry" not in shell.run("save", shell.url("a"), "--force").stdout
    assert shell.site.asked("/page/a") == 5
    shell.bodies["a"] = article(300)
    assert shell.save("a")["retry_count"] == 0
    assert shell.json("retry", item["id"])["items"][0]["quality"] == "article"


def test_what_the_user_sets_survives_a_second_save_and_a_reparse(shell: Shell) -> None:
    shell.bodies["a"] = article(300)
    item = shell.save("a")
    shell.run("pin", item["id"])
    shell.run("archive", item["id"][:8])
    shell.run("tag", item["id"], "harbour", "#history")
    shell.bodies["a"] = article(320, title="Revised")
    shell.save("a")
    shell.run("reparse", item["id"])
    after = shell.json("read", item["id"])["items"][0]
    assert (after["title"], after["pinned"], after["archived"]) == ("Revised", True, True)
    assert after["saved_at"] == item["saved_at"]
    assert {"harbour", "history"} <= set(after["tags"])


def test_suggested_tags_are_shown_and_added_like_others(shell: Shell) -> None:
    shell.bodies["a"] = article(300)
    item = shell.save("a", "--tag", "harbour")
    assert item["tags"] == ["harbour"]
    assert item["suggested_tags"]
    first = item["suggested_tags"][0]
    shown = shell.run("tag", item["id"])
    assert shown.stdout == "harbour\n"
    assert f"Suggested: {first}" in shown.stderr
    after = shell.json("tag", item["id"], first)["items"][0]
    assert after["tags"] == ["harbour", first]
    assert first not in after["suggested_tags"]
    assert f"tags: [harbour, {first}]" in shell.run("read", item["id"]).output


def test_a_tag_is_renamed_merged_and_deleted_on_all_pages_and_back(shell: Shell) -> None:
    for name, tag in (("a", "sea"), ("b", "sea"), ("c", "ocean")):
        shell.bodies[name] = article(100)
        shell.run("save", shell.url(name), "--tag", tag)
    merged = shell.json("tags", "rename", "sea", "ocean")
    assert merged["changed"] == 2
    assert shell.json("tags")["tags"] == [{"tag": "ocean", "count": 3}]
    deleted = shell.json("tags", "delete", "ocean")
    assert shell.json("tags")["tags"] == []
    assert shell.json("tags", "undo", deleted["action"])["undone"] == 3
    assert shell.json("tags", "undo", merged["action"])["undone"] == 2
    assert shell.json("tags")["tags"] == [{"tag": "sea", "count": 2}, {"tag": "ocean", "count": 1}]


def test_pins_archives_and_tags_can_be_taken_back(shell: Shell) -> None:
    shell.bodies["a"] = article(100)
    key = shell.save("a", "--tag", "harbour")["id"]
    for do, undo, name in (("pin", "unpin", "pinned"), ("archive", "unarchive", "archived")):
        assert shell.json(do, key)["items"][0][name] is True
        assert shell.json(undo, key)["items"][0][name] is False
    assert "harbour" not in shell.json("tag", key, "--remove", "harbour")["items"][0]["tags"]
    assert shell.run("tag", key, "new").stdout.rstrip().endswith("new")


def test_a_mistyped_item_stops_a_command_before_anything_is_done(shell: Shell) -> None:
    shell.bodies["a"] = article(100)
    item = shell.save("a")
    assert shell.json("delete", item["id"], "ffff", code=2)["error"]["type"] == "NotFound"
    assert shell.json("list")["items"][0]["deleted_at"] is None


def test_deleted_pages_come_back_until_they_are_purged(shell: Shell) -> None:
    for name in "ab":
        shell.bodies[name] = article(100, title=name)
    first, second = shell.save("a")["id"], shell.save("b")["id"]
    shell.run("delete", first, second)
    assert shell.json("list")["items"] == []
    shell.run("restore", first)
    assert [item["id"] for item in shell.json("list")["items"]] == [first]
    assert shell.run("purge", given="n\n").exit_code == 0
    assert len(shell.json("list", "--deleted")["items"]) == 1
    assert shell.run("purge", "--yes").stdout == "Permanently removed 1 page.\n"
    assert shell.json("read", second, code=2)["error"]["type"] == "NotFound"


def test_reading_marks_the_page_opened(shell: Shell) -> None:
    shell.bodies["a"] = article(100)
    key = shell.save("a")["id"]
    assert shell.json("list")["items"][0]["last_opened_at"] is None
    shell.run("read", key)
    assert shell.json("list", "--order", "opened")["items"][0]["last_opened_at"] is not None


def test_a_page_that_cannot_be_fetched_is_an_error_with_exit_code_2(shell: Shell) -> None:
    done = shell.run("save", shell.url("none"))
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")
    assert shell.json("save", shell.url("none"), code=2)["error"]["type"] == "FetchHttpError"
    assert shell.json("save", "nowhere", code=2)["error"]["type"] == "NotFound"


def test_the_address_of_a_page_that_cannot_be_fetched_is_kept_and_the_command_says_so(shell: Shell) -> None:
    done = shell.run("save", shell.url("none"))
    assert shell.json("list", "--all")["items"] == []
    (item,) = shell.json("list", "--failed")["items"]
    assert (item["url"], item["quality"], item["fetch_again"]) == (shell.url("none"), "bookmark", False)
    assert f"To try again: pagekeep retry {item['id'][:8]}" in done.stderr
    assert "404" in done.stderr
    assert shell.json("save", shell.url("none"), code=2)["error"]["item_id"] == item["id"]
    assert shell.json("list", "--fetch-again")["items"] == []
    assert shell.json("stats")["stats"]["failed"] == 1
    assert shell.run("list", "--failed").stdout.split("\t")[0] == item["id"]
    assert "404" in shell.run("list", "--failed").stdout


def test_a_failed_save_is_retried_kept_or_deleted(shell: Shell) -> None:
    for name in ("a", "b", "c"):
        shell.run("save", shell.url(name))
    keys = {item["url"][-1]: item["id"][:8] for item in shell.json("list", "--failed")["items"]}
    shell.bodies["a"] = article(300)
    assert shell.run("retry", keys["a"]).exit_code == 0
    assert shell.run("keep", keys["b"]).stdout.startswith(f"Kept  {keys['b']}")
    shell.run("delete", keys["c"])
    assert shell.json("list", "--failed")["items"] == []
    assert {item["id"][:8] for item in shell.json("list")["items"]} == {keys["a"], keys["b"]}
    shell.run("keep", keys["b"])
    assert shell.json("stats")["stats"]["failed"] == 0


def test_a_book_that_cannot_be_fetched_to_be_split_is_a_failed_save(shell: Shell) -> None:
    error = shell.json("save", shell.url("book"), "--split", code=2)["error"]
    assert [one["id"] for one in shell.json("list", "--failed")["items"]] == [error["item_id"]]


def test_keeping_a_bookmark_can_be_undone(shell: Shell) -> None:
    shell.run("save", shell.url("a"))
    (item,) = shell.json("list", "--failed")["items"]
    shell.run("keep", item["id"])
    assert shell.run("undo").stdout.startswith("Undid keep  ")
    assert [one["id"] for one in shell.json("list", "--failed")["items"]] == [item["id"]]


def test_of_several_pages_the_good_ones_are_saved_and_the_others_reported(shell: Shell, tmp_path: Path) -> None:
    shell.bodies["a"], shell.bodies["b"] = article(100), article(200)
    file = tmp_path / "urls.txt"
    file.write_text(f"# mine\n{shell.url('a')} The keeper\n\n{shell.url('none')}\n", encoding="utf-8-sig")
    answer = shell.json("save", shell.url("b"), "--file", str(file), code=2)
    assert {item["url"] for item in answer["items"]} == {shell.url("a"), shell.url("b")}
    assert [(error["url"], error["type"]) for error in answer["errors"]] == [(shell.url("none"), "FetchHttpError")]
    listed = shell.run("save", "--file", "-", given=f"{shell.url('a')}\n{shell.url('none')}\n")
    assert listed.exit_code == 2
    assert shell.url("none") in listed.stderr
    assert "Article captured" in listed.stdout


def test_save_without_an_address_is_bad_input(shell: Shell) -> None:
    assert shell.run("save").exit_code == 2


def test_a_worse_page_is_kept_away_and_force_lets_it_in(shell: Shell) -> None:
    shell.bodies["a"] = article(600)
    good = shell.save("a")
    shell.bodies["a"] = WALL
    done = shell.run("save", shell.url("a"))
    assert done.exit_code == 0
    assert "The stored version was kept" in done.stdout
    assert shell.json("list")["items"][0]["quality"] == "article"
    assert shell.save("a", "--force")["quality"] == "bookmark"
    assert shell.json("list")["items"][0]["id"] == good["id"]


def test_queued_pages_are_saved_by_work_and_shown_by_jobs(shell: Shell) -> None:
    shell.bodies["a"] = article(300)
    assert (
        "Queued 2 pages" in shell.run("save", "--queue", shell.url("a"), shell.url("none"), "--tag", "harbour").stdout
    )
    assert [job["state"] for job in shell.json("jobs")["jobs"]] == ["queued", "queued"]
    assert shell.json("list")["items"] == []
    done = shell.run("work", "--until-empty")
    assert done.exit_code == 0
    assert "Article captured" in done.stdout
    assert "no more tries" in done.stderr
    assert "harbour" in shell.json("list")["items"][0]["tags"]
    (dead,) = shell.json("jobs", "--state", "dead")["jobs"]
    assert dead["error"]["type"] == "FetchHttpError"
    assert shell.json("jobs", "--revive", dead["id"][:6])["jobs"][0]["state"] == "queued"
    shell.bodies["none"] = article(200)
    reported = [json.loads(line) for line in shell.run("work", "--until-empty", "--json").stdout.splitlines()]
    assert [line["item"]["url"] for line in reported] == [shell.url("none")]


def test_users_of_one_file_do_not_see_each_other(shell: Shell) -> None:
    shell.bodies["a"] = article(100)
    item = shell.save("a", "--user", "anna")
    assert shell.json("list")["items"] == []
    assert shell.json("read", item["id"], "--user", "berta", code=2)["error"]["type"] == "NotFound"
    assert len(shell.json("list", "--user", "anna")["items"]) == 1


def test_another_library_is_named_after_the_command(shell: Shell, tmp_path: Path) -> None:
    shell.bodies["a"] = article(100)
    shell.save("a", "--library", str(tmp_path / "other.db"))
    assert not Path(shell.env["PAGEKEEP_LIBRARY"]).exists()
    assert len(shell.json("list", "--library", str(tmp_path / "other.db"))["items"]) == 1


def test_stats_count_what_is_there(shell: Shell) -> None:
    shell.bodies["a"] = article(300)
    shell.save("a")
    counts = shell.json("stats")["stats"]
    assert (counts["items"], counts["quality"]) == (1, {"article": 1})
    assert "items\t1" in shell.run("stats").stdout


def test_a_backup_is_a_library(shell: Shell, tmp_path: Path) -> None:
    shell.bodies["a"] = article(100)
    shell.save("a")
    assert shell.run("backup", "--single-file", str(tmp_path / "copy.db")).exit_code == 0
    copied = shell.json("list", "--library", str(tmp_path / "copy.db"))
    assert len(copied["items"]) == 1
    assert copied == shell.json("list")


def test_doctor_looks_at_the_library_too(shell: Shell, tmp_path: Path) -> None:
    library = Path(shell.env["PAGEKEEP_LIBRARY"])
    findings = {finding["name"]: finding for finding in shell.json("doctor", code=1)["findings"]}
    assert "not created yet" in findings["library"]["detail"]
    assert not library.exists()
    shell.bodies["a"] = article(100)
    shell.save("a")
    findings = {finding["name"]: finding for finding in shell.json("doctor")["findings"]}
    assert findings["library"]["state"] == "ok"
    assert findings["library"]["detail"].startswith(str(library))
    assert findings["settings"]["detail"].startswith(str(shell.folder / "pagekeep" / "config.toml"))
    assert findings["rules"]["detail"].startswith(str(shell.folder / "pagekeep" / "rules"))
    (tmp_path / "junk.db").write_bytes(b"this is no database, whatever its name says" * 100)
    junk = shell.json("doctor", "--library", str(tmp_path / "junk.db"), code=1)
    findings = {f["name"]: f for f in junk["findings"]}
    assert findings["library"]["state"] == "missing"


@pytest.mark.parametrize("command", [("list",), ("search", "lamp"), ("read", "3f2a"), ("stats",), ("jobs",)])
def test_looking_into_a_library_that_is_not_there_is_refused_and_makes_none(
    shell: Shell, tmp_path: Path, command: tuple[str, ...]
) -> None:
    absent = tmp_path / "absent.db"
    done = shell.run(*command, "--library", str(absent))
    assert done.exit_code == 2
    assert f"No library at {absent}." in done.stderr
    assert not absent.exists()


def test_the_password_of_a_library_on_a_server_is_not_shown() -> None:
    place = library_location(Settings(library="postgresql://ada:se@cret@db.example/pages?sslmode=require"))
    assert place == "postgresql://db.example/pages"


def test_saving_again_shows_whether_anything_changed(shell: Shell) -> None:
    shell.bodies["a"] = article(300)
    first = shell.run("save", shell.url("a")).stdout
    assert "changed" not in first
    assert "updated" not in first
    assert "), unchanged  " in shell.run("save", shell.url("a")).stdout
    shell.bodies["a"] = article(600)
    assert "), updated  " in shell.run("save", shell.url("a")).stdout


def test_a_page_in_a_file_is_saved_under_the_address_it_names(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "kept.html"
    head = '<link rel="canonical" href="https://harbour.example/lamp">'
    file.write_text(head + article(300))
    item = shell.json("save", str(file))["items"][0]
    assert (item["url"], item["quality"]) == ("https://harbour.example/lamp", "article")
    reported = shell.json("save", str(file), "--queue", code=2)["errors"]
    assert reported[0]["suggestions"] == ["Leave out --queue to save it now."]


def test_an_interrupted_save_of_several_shows_what_was_saved(shell: Shell) -> None:
    shell.bodies["a"] = article(300)
    with shell.start("save", shell.url("a"), shell.site.url("/slow")) as process:
        until = time.monotonic() + 30
        while not (shell.site.asked("/slow") and shell.site.asked("/page/a")) and time.monotonic() < until:
            time.sleep(0.05)
        while not saved_pages(shell) and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.3)  # from what is in the library to what the command knows of it
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said.startswith("Article captured (")
    assert "Interrupted: 1 of 2 pages saved." in errors


def saved_pages(shell: Shell) -> int:
    """How many are in the library; none while it is being made."""
    done = shell.run("list", "--json")
    return len(json.loads(done.stdout)["items"]) if done.exit_code == 0 else 0


def test_purging_nothing_asks_nothing(shell: Shell) -> None:
    shell.bodies["a"] = article(100)
    shell.save("a")
    done = shell.run("purge")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "There are no deleted pages.\n", "")


def test_reparsing_nothing_says_why(shell: Shell) -> None:
    shell.bodies["a"] = article(100)
    shell.save("a")
    assert shell.run("reparse").stdout == "Everything is up to date.\n"
    assert shell.run("reparse", "--domain", "example.com").stdout == "No matches.\n"


def test_a_list_of_nothing_says_on_a_terminal_how_to_begin(shell: Shell) -> None:
    shell.bodies["a"] = article(100)
    shell.save("a")
    shell.run("delete", shell.url("a"))
    assert "No matches." in on_a_terminal(shell, "list", errors=True)
    shell.run("purge", "--yes")
    assert "Nothing saved yet. To save a page: pagekeep save URL" in on_a_terminal(shell, "list", errors=True)


def test_explain_reads_the_stored_page_a_file_or_the_web(shell: Shell, tmp_path: Path) -> None:
    shell.bodies["a"] = article(300)
    item = shell.save("a")
    asked = shell.site.asked("/page/a")
    for key in (item["id"][:8], shell.url("a")):
        assert "Readability scoring won" in shell.run("explain", key).stdout
    assert shell.site.asked("/page/a") == asked
    file = tmp_path / "page.html"
    file.write_text(shell.bodies["a"])
    assert "Readability scoring won" in shell.run("explain", str(file)).stdout
    shell.bodies["b"] = article(200)
    assert "Readability scoring won" in shell.json("explain", shell.url("b"))["explanation"]
    assert shell.json("explain", "ffff0000", code=2)["error"]["type"] == "NotFound"


def age(shell: Shell, version: int = 0) -> None:
    """Make every item look as if an older parser had read it, its second heading lost."""
    with sqlite3.connect(shell.env["PAGEKEEP_LIBRARY"]) as db:
        db.execute("UPDATE items SET metadata = json_set(metadata, '$.parser_version', ?)", (version,))
        db.execute("UPDATE items SET content = replace(content, 'The keeper counts', 'The old reader counted')")
    db.close()


def test_verify_proves_pages_and_finds_a_damaged_one(shell: Shell) -> None:
    ids = []
    for name in "ab":
        shell.bodies[name] = article(300, title=name)
        ids.append(shell.save(name)["id"])
    assert shell.run("verify").stdout == "2 pages verified: the raw page gives the stored text again.\n"
    with sqlite3.connect(shell.env["PAGEKEEP_LIBRARY"]) as db:
        db.execute("UPDATE items SET content = replace(content, 'breakfast', 'Breakfast') WHERE id = ?", (ids[0],))
    db.close()
    found = shell.json("verify", code=1)
    assert (found["success"], found["verified"], found["damaged"]) == (False, 1, 1)
    assert [(note["id"], note["reason"]) for note in found["notes"]] == [(ids[0], "text")]
    assert shell.json("verify", ids[1])["verified"] == 1
    assert shell.json("verify", "ffff0000", code=2)["error"]["type"] == "NotFound"
    shown = shell.run("verify")
    assert (shown.exit_code, ids[0][:8] in shown.stderr) == (1, True)


def test_verify_checks_every_page_with_the_key(shell: Shell) -> None:
    shell.env["PAGEKEEP_SIGN_RECEIPTS"] = "true"
    shell.bodies |= {name: article(300, title=name) for name in "ab"}
    shell.save("a")
    archive = str(shell.folder / "out.wacz")
    shell.run("export", "--format", "wacz", archive)
    ((key, count),) = shell.json("verify")["signed"].items()
    assert count == 1
    assert f"1 page signed by {key}" in shell.run("verify").stdout
    other = f"{'A' * 43}="
    for names in ((), (archive,)):
        assert shell.json("verify", *names, "--key", key)["unsigned"] == []
        done = shell.run("verify", *names, "--key", other)
        assert (done.exit_code, "1 page not signed by this key." in done.stdout) == (1, True)
    assert shell.json("verify", "--key", "nonsense", code=2)["error"]["type"] == "InvalidQuery"
    shell.env["PAGEKEEP_SIGN_RECEIPTS"] = "false"
    shell.save("b")
    assert len(shell.json("verify", "--key", key, code=1)["unsigned"]) == 1


def test_reparse_touches_stale_items_alone_and_a_dry_run_shows_the_diff(shell: Shell) -> None:
    """Seed 000, migration: --dry-run and --limit."""
    for name in "ab":
        shell.bodies[name] = article(300, title=name)
        shell.save(name)
    assert shell.json("reparse") == {
        "success": True, "dry_run": False, "updated": 0, "unchanged": 0, "kept": 0, "failed": 0, "notes": [],
    }  # fmt: skip
    age(shell)
    dry = shell.run("reparse", "--dry-run", "--limit", "1")
    assert "\n-The old reader counted" in dry.stdout
    assert "\n+The keeper counts" in dry.stdout
    assert dry.stdout.endswith("Dry run, nothing was changed: 1 updated, 0 unchanged, 0 kept, 0 failed.\n")
    assert "\x1b" not in dry.stdout
    assert shell.json("reparse", "--limit", "1")["updated"] == 1
    assert shell.json("reparse")["updated"] == 1
    assert shell.json("reparse")["updated"] == 0
    assert "The old reader" not in shell.run("read", shell.url("a")).stdout


def test_reparse_takes_what_a_search_finds(shell: Shell) -> None:
    for name, title in (("a", "Lighthouse"), ("b", "Ferry")):
        shell.bodies[name] = article(300, title=title)
        shell.save(name)
    age(shell)
    assert shell.json("reparse", "--query", "lighthouse")["updated"] == 1
    assert "The old reader" not in shell.run("read", shell.url("a")).stdout
    assert "The old reader" in shell.run("read", shell.url("b")).stdout
    assert shell.run("reparse", "--query", "x", "--domain", "y").exit_code == 2


def test_reparse_lists_what_it_left_unchanged(shell: Shell) -> None:
    shell.bodies["a"] = article(300)
    item = shell.save("a")
    with sqlite3.connect(shell.env["PAGEKEEP_LIBRARY"]) as db:
        db.execute("UPDATE items SET metadata = json_set(metadata, '$.parser_version', 0, '$.word_count', 9000)")
    db.close()
    done = shell.run("reparse")
    assert "1 kept" in done.stdout
    assert item["id"][:8] in done.stderr
    assert shell.json("list")["items"][0]["word_count"] == 9000
    assert shell.json("reparse", "--force")["kept"] == 0
    assert shell.json("list")["items"][0]["word_count"] < 9000


def test_a_dry_run_of_a_refetch_shows_the_diff_and_stores_nothing(shell: Shell) -> None:
    shell.bodies["a"] = article(300)
    before = shell.save("a")
    shell.bodies["a"] = article(320, title="Revised")
    dry = shell.run("reparse", "--refetch", "--dry-run")
    assert (dry.exit_code, "\n+title: Revised" in dry.stdout) == (0, True)
    assert dry.stdout.endswith("Dry run, nothing was changed: 1 updated, 0 unchanged, 0 kept, 0 failed.\n")
    del shell.bodies["a"]
    assert shell.json("reparse", "--refetch", "--dry-run", code=2)["failed"] == 1
    after = shell.json("list")["items"][0]
    assert [after[name] for name in ("title", "updated_at", "last_error")] == ["The keeper", before["updated_at"], None]


def test_a_reparse_with_failures_says_so_with_its_exit_code(shell: Shell) -> None:
    shell.bodies["a"] = article(300)
    item = shell.save("a")
    with sqlite3.connect(shell.env["PAGEKEEP_LIBRARY"]) as db:
        db.execute("DELETE FROM raw_pages")
    db.close()
    done = shell.run("reparse", item["id"])
    assert (done.exit_code, "1 failed." in done.stdout) == (2, True)
    assert "was not stored" in done.stderr
    assert shell.json("reparse", item["id"], code=2)["success"] is False


def test_refetch_fetches_every_page_again(shell: Shell) -> None:
    shell.bodies["a"] = article(300)
    shell.save("a")
    shell.bodies["a"] = article(320, title="Revised")
    assert shell.json("reparse", "--refetch")["updated"] == 1
    assert shell.json("list")["items"][0]["title"] == "Revised"


# In its own process


def test_the_whole_way_in_separate_processes(shell: Shell) -> None:
    shell.bodies["a"] = article(300)
    for arguments, expected in (
        (("save", shell.url("a")), "Article captured"),
        (("list",), "The keeper"),
        (("search", "kettle"), "kettle"),
        (("read", shell.url("a")), "puts the kettle on"),
    ):
        with shell.start(*arguments) as process:
            out, err = process.communicate(timeout=60)
        assert (process.returncode, expected in out) == (0, True), err


@pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_worker_that_is_stopped_gives_its_job_back(shell: Shell, stop: signal.Signals, code: int) -> None:
    shell.run("save", "--queue", shell.site.url("/slow/a"))
    with shell.start("work") as process:
        for _ in range(400):
            if shell.site.asked("/slow/a"):
                break
            time.sleep(0.05)
        process.send_signal(stop)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, "Traceback" in errors) == (code, False)
    (job,) = shell.json("jobs")["jobs"]
    assert (job["state"], job["error"]["type"]) == ("queued", "Interrupted")
    assert job["attempts"] == 0


def test_an_interrupted_save_leaves_with_130_and_stores_nothing(shell: Shell) -> None:
    with shell.start("save", shell.site.url("/slow/a")) as process:
        for _ in range(400):
            if shell.site.asked("/slow/a"):
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, "Traceback" in errors) == (130, False)
    assert shell.json("list")["items"] == []


def on_a_terminal(shell: Shell, *arguments: str, errors: bool = False) -> str:
    """What a person sees, with what goes to stderr if wanted."""
    ours, theirs = pty.openpty()
    env = {**os.environ, **shell.env, "TERM": "xterm-256color", "COLUMNS": "120"}
    command = [sys.executable, "-m", "pagekeep", *arguments]
    stderr = theirs if errors else subprocess.DEVNULL
    with subprocess.Popen(command, env=env, stdin=theirs, stdout=theirs, stderr=stderr) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # Linux says so when the other side is closed
                break
            if not chunk:
                break
            seen += chunk
        process.wait(30)
    os.close(ours)
    return seen.decode()


def test_on_a_terminal_a_worker_without_work_says_that_it_waits(shell: Shell) -> None:
    shell.bodies["a"] = article(100)
    shell.run("save", shell.url("a"), "--queue")
    ours, theirs = pty.openpty()
    with shell.start("work", stderr=theirs, stdout=subprocess.DEVNULL) as process:
        os.close(theirs)
        said = b""
        while b"\n" not in said:
            said += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    os.close(ours)
    assert b"The queue is empty. Waiting for more; press Ctrl-C to stop." in said
    assert len(shell.json("list")["items"]) == 1


def test_on_a_terminal_the_level_has_its_colour_and_pages_are_laid_out(shell: Shell) -> None:
    shell.bodies["a"] = article(300, title="[red]Kettle[/red]")
    assert "\x1b[32mArticle captured (" in on_a_terminal(shell, "save", shell.url("a"))
    assert "[red]Kettle[/red]" in on_a_terminal(shell, "list")
    read = on_a_terminal(shell, "read", shell.url("a"))
    assert "puts the kettle on" in " ".join(read.split())
    assert "word_count:" not in read


def test_a_backup_of_a_damaged_library_names_the_next_step(shell: Shell, tmp_path: Path) -> None:
    library, target = tmp_path / "damaged.db", tmp_path / "copy.db"
    make_library(library)
    assert shell.run("backup", "--single-file", str(target), "--library", str(library)).exit_code == 0
    good = target.read_bytes()
    flip_pages(library, pages_of(library, "items")[:1])
    done = shell.run("backup", "--single-file", str(target), "--library", str(library))
    assert done.exit_code != 0
    assert "pagekeep repair" in done.stderr
    assert target.read_bytes() == good


def test_repair_saves_what_can_be_read_and_its_exit_code_shows_what_is_lost(shell: Shell, tmp_path: Path) -> None:
    library = tmp_path / "damaged.db"
    ids = make_library(library)
    whole = shell.run("repair", str(library), "--out", str(tmp_path / "whole.db"))
    assert whole.exit_code == 0
    assert "Nothing is lost" in whole.stdout
    flip_pages(library, pages_of(library, "items")[:1])
    done = shell.run("repair", str(library), "--json")
    report = json.loads(done.stdout)
    assert done.exit_code == 1
    assert report["saved"]["items"] + len(report["lost_items"]) == len(ids)
    listed = json.loads(shell.run("list", "--library", str(tmp_path / "damaged.repaired.db"), "--json").stdout)
    assert len(listed["items"]) == report["saved"]["items"]
    again = shell.run("repair", str(library))
    assert again.exit_code == 2
    assert "exists already" in again.stderr


def test_doctor_fails_for_a_damaged_library_and_names_the_next_step(shell: Shell, tmp_path: Path) -> None:
    library = tmp_path / "damaged.db"
    make_library(library)
    assert shell.run("doctor", "--library", str(library)).exit_code == 0
    flip_pages(library, pages_of(library, "items")[:1])
    done = shell.run("doctor", "--library", str(library))
    assert done.exit_code == 1
    assert "damaged" in done.stdout
    assert "pagekeep repair" in done.stdout


def test_revive_runs_jobs_that_wait_for_a_clock_that_was_ahead(shell: Shell) -> None:
    shell.bodies["a"] = article(100)
    shell.json("save", shell.url("a"), "--queue")
    with closing(sqlite3.connect(shell.env["PAGEKEEP_LIBRARY"])) as connection:
        connection.execute("UPDATE jobs SET run_after = '2999-01-01', due_at = '2999-01-01'")
        connection.commit()
    (freed,) = shell.json("jobs", "--revive")["jobs"]
    assert freed["state"] == "queued"
    assert freed["run_after"] < "2999"
    assert shell.json("jobs", "--revive")["jobs"] == []
    assert shell.json("jobs", "--revive", freed["id"][:8])["jobs"][0]["id"] == freed["id"]


def test_verbose_logs_each_capture_to_stderr_and_nothing_else_changes(shell: Shell) -> None:
    shell.bodies["a"] = article(300)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pagekeep", *arguments]
        return subprocess.run(command, env={**os.environ, **shell.env}, capture_output=True, text=True, check=False)

    loud = run("save", shell.url("a"), "--verbose", "--json")
    (line,) = map(json.loads, loud.stderr.splitlines())
    assert (line["event"], line["outcome"], line["host"]) == ("capture", "added", "127.0.0.1")
    assert json.loads(loud.stdout)["items"][0]["outcome"] == "added"
    assert run("save", shell.url("none"), "--queue").returncode == 0
    assert "job failed" not in run("work", "--until-empty").stderr
    quiet = run("save", shell.url("a"))
    assert (quiet.stderr, quiet.returncode) == ("", 0)


def fill(folder: Path, count: int) -> Path:
    """Make a folder of pages, each with its own words."""
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:02}.md").write_text(f"# Page {number}\n\nAbout the ferry number {number}.\n", "utf-8")
    return folder


def test_a_folder_is_counted_first_and_every_result_has_its_number(shell: Shell, tmp_path: Path) -> None:
    folder = fill(tmp_path / "notes", 3)
    (folder / "03.pdf").write_bytes(b"")
    done = shell.run("save", str(folder))
    assert done.exit_code == 2
    assert done.stderr.startswith(f"Saving 4 files in {folder}.\n")
    numbers = re.findall(r"^(\d) of 4  ", done.stdout + done.stderr, re.MULTILINE)
    assert sorted(numbers) == ["1", "2", "3", "4"]
    assert done.stdout.count(" of 4  ") == 3
    assert f" of 4  {folder / '03.pdf'}\n  Error: " in done.stderr
    assert "3 saved of 4 files, 1 failed. To undo: pagekeep undo" in done.stderr


def test_a_folder_is_undone_as_one_action(shell: Shell, tmp_path: Path) -> None:
    folder = fill(tmp_path / "notes", 4)
    shell.run("save", str(folder / "00.md"))
    known, deleted = shell.json("list")["items"][0]["id"], shell.save_file(folder / "01.md")
    shell.run("delete", deleted)
    (folder / "00.md").write_text("# Page 0\n\nAbout another ferry, which has more to say.\n", "utf-8")
    done = shell.run("save", str(folder))
    assert "4 saved of 4 files. To undo: pagekeep undo (moves 3 pages to the trash)\n" in done.stderr
    assert "The others were in the library before" in done.stderr
    assert shell.json("stats")["stats"]["items"] == 4
    assert shell.run("undo").stdout == "Undid save: 3 pages\n"
    assert [item["id"] for item in shell.json("list", "--all")["items"]] == [known]
    assert len(shell.json("list", "--deleted")["items"]) == 3
    assert "nothing to undo" in shell.run("undo").stderr


def test_many_files_are_saved_only_when_that_is_confirmed(shell: Shell, tmp_path: Path) -> None:
    folder = fill(tmp_path / "notes", 51)
    refused = shell.run("save", str(folder))
    assert refused.exit_code == 2
    assert f"There are 51 files in {folder}. To save them all without being asked, add --yes." in refused.stderr
    assert shell.json("save", str(folder), code=2)["error"]["type"] == "UsageError"
    assert shell.json("stats")["stats"]["items"] == 0
    done = shell.run("save", str(folder), "--yes")
    assert (done.exit_code, done.stdout.count(" of 51  ")) == (0, 51)
    assert shell.json("stats")["stats"]["items"] == 51
    assert shell.run("undo").stdout.startswith("Undid save: 51 pages")
    assert shell.json("stats")["stats"]["items"] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no terminals of this kind.")
@pytest.mark.parametrize(("answer", "count"), [("n", 0), ("y", 51)])
def test_on_a_terminal_many_files_are_asked_about(shell: Shell, tmp_path: Path, answer: str, count: int) -> None:
    folder = fill(tmp_path / "notes", 51)
    ours, theirs = os.openpty()
    process = shell.start("save", str(folder), stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(theirs)
    os.write(ours, f"{answer}\n".encode())
    out, err = process.communicate()
    os.close(ours)
    assert f"There are 51 files in {folder}. Save them all? [y/N]" in err
    assert out.count(" of 51  ") == count
    assert shell.json("stats")["stats"]["items"] == count
