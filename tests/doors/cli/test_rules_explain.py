"""`pagekeep rules explain`, and the way of docs/rules-own.md from a rule to the pages it changes."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pagekeep.capture.active_rules import fingerprint
from pagekeep.config import Settings
from pagekeep.doors.cli.main import cli
from pagekeep.library.open import open_library
from pagekeep.model import Fetched, Options
from pagekeep.rules import shipped

DOCS = Path(__file__).parents[3] / "docs" / "rules-own.md"
SENTENCE = "The lamp was lit at dusk by the keeper, who climbed the stairs with a can of oil and no hurry at all. "
PAGE = (
    "<!doctype html><title>The lamp</title><article><h1>The lamp</h1>"
    + f"<p>{SENTENCE * 3}</p>" * 4
    + '<p class="tide-box">High water today: half past nine.</p></article>'
)
URL = "https://news.harbour.example/lamp"
RULE = """\
- id: harbour-times
  phase: pre
  trigger: {host: {ends_with: harbour.example}}
  remove: [.tide-box, .absent]
"""


class Desk:
    """Commands on a library and a folder of rules."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rules = folder / "pagekeep" / "rules"
        self.rules.mkdir(parents=True)
        self.library = folder / "library.db"
        self.page = folder / "lamp.html"
        self.page.write_text(PAGE, "utf-8")
        self.env = {"XDG_CONFIG_HOME": str(folder), "PAGEKEEP_LIBRARY": str(self.library)}

    def run(self, *arguments: str) -> Result:
        return CliRunner(env=self.env).invoke(cli, arguments, catch_exceptions=False)

    def explained(self) -> Any:
        return json.loads(self.run("rules", "explain", str(self.page), "--url", URL, "--json").stdout)

    def save(self) -> str:
        """The page in the library as the shipped rules read it; the network is not needed for this."""
        from pagekeep.capture.extract import ReadTask
        from pagekeep.library.items import build_item

        now = "2025-03-19T10:30:00.000000Z"
        fetched = Fetched(URL, URL, 200, {}, PAGE.encode())
        page = ReadTask(fetched, Options(saved_at="2025-03-19T10:30:00Z"), Settings(), shipped()).run()
        item = build_item.new_item(
            page, fetched, url=URL, url_full=URL, user_id="local", now=now, tags=(), rules_hash=fingerprint(shipped())
        )
        store = open_library(Settings(library=str(self.library)))
        try:
            return store.items.save(item, build_item.to_raw_page(fetched, now)).id
        finally:
            store.close()


@pytest.fixture
def workspace(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_shows_the_trigger_and_every_effect(workspace: Desk) -> None:
    (workspace.rules / "own.yaml").write_text(RULE, "utf-8")
    reported = workspace.run("rules", "explain", str(workspace.page), "--url", URL).stdout
    assert "harbour-times, before extraction: host ends with harbour.example." in reported
    assert "  remove .tide-box: 1 element with 6 words." in reported
    assert ".absent" not in reported
    assert "Not shown: 1 selector that found nothing." in reported
    verbose = workspace.run("rules", "explain", str(workspace.page), "--url", URL, "--verbose").stdout
    assert "  remove .absent: found nothing." in verbose
    assert "Not shown" not in verbose


def test_answers_as_json(workspace: Desk) -> None:
    (workspace.rules / "own.yaml").write_text(RULE, "utf-8")
    reported = workspace.explained()
    assert (reported["title"], reported["quality"], reported["url"]) == ("The lamp", "article", URL)
    assert reported["rules"][0] == {
        "id": "harbour-times",
        "phase": "pre",
        "trigger": "host ends with harbour.example",
        "effects": [
            {"what": "remove", "selector": ".tide-box", "count": 1, "words": 6, "note": ""},
            {"what": "remove", "selector": ".absent", "count": 0, "words": 0, "note": ""},
        ],
    }


def test_says_so_when_no_rule_matches(workspace: Desk) -> None:
    assert "No rule matches this page." in workspace.run("rules", "explain", str(workspace.page), "--url", URL).stdout


def test_another_folder_of_rules_can_be_named(workspace: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "own.yaml").write_text(RULE, "utf-8")
    reported = workspace.run("rules", "explain", str(workspace.page), "--url", URL, "--rules", str(other)).stdout
    assert "harbour-times" in reported


def test_a_saved_page_is_read_as_it_was_stored(workspace: Desk) -> None:
    (workspace.rules / "own.yaml").write_text(RULE, "utf-8")
    assert "harbour-times" in workspace.run("rules", "explain", workspace.save()[:8]).stdout
    assert "harbour-times" in workspace.run("rules", "explain", URL).stdout


def test_a_broken_rule_is_reported_and_the_page_is_read_all_the_same(workspace: Desk) -> None:
    (workspace.rules / "own.yaml").write_text(f"{RULE}- id: broken\n  phase: sometimes\n", "utf-8")
    for command in (("rules", "explain"), ("extract",)):
        done = workspace.run(*command, str(workspace.page), "--url", URL)
        assert done.exit_code == 0
        assert "Skipped a faulty rule" in done.stderr
        assert "half past nine" not in done.stdout


def test_the_explanation_of_a_page_has_its_rules_too(workspace: Desk) -> None:
    (workspace.rules / "own.yaml").write_text(RULE, "utf-8")
    reported = workspace.run("extract", str(workspace.page), "--url", URL, "--explain").stdout
    assert "Rules that matched, in the order they ran\n  harbour-times, before" in reported
    assert "p.tide-box, 6 words: rule harbour-times." in reported


def test_the_three_commands_of_the_docs(workspace: Desk) -> None:
    """Write the rule, see it work, read the saved pages again."""
    item = workspace.save()
    text = DOCS.read_text("utf-8")
    write, explain, reparse = re.findall(r"```sh\n(.*?)```", text, re.S)
    (promised,) = re.findall(r"```text\n(.*?)```", text, re.S)
    assert "half past nine" in workspace.run("read", item, "--json").stdout

    name, rule = re.search(r"cat > \"\$RULES/(\S+)\" <<'END'\n(.*)END\n\Z", write, re.S).groups()  # type: ignore[union-attr]
    (workspace.rules / name).write_text(rule, "utf-8")
    assert workspace.run(*shlex.split(explain)[1:]).stdout.startswith(promised)
    assert workspace.run(*shlex.split(reparse)[1:]).stdout == "1 updated, 0 unchanged, 0 kept, 0 failed.\n"

    assert "half past nine" not in workspace.run("read", item, "--json").stdout
    assert workspace.run(*shlex.split(reparse)[1:]).stdout == "Everything is up to date.\n"


def test_reparse_takes_one_domain_alone(workspace: Desk) -> None:
    workspace.save()
    assert workspace.run("reparse", "--domain", "news.harbour.example").stdout.startswith("0 updated, 1 unchanged")
    assert workspace.run("reparse", "--domain", "other.example").stdout == "No matches.\n"
