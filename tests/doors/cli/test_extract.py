"""`pagekeep extract`, from the command line to its output and exit code."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from pagekeep.doors.cli.extract import FORMATS
from pagekeep.doors.cli.main import cli

PARAGRAPHS = [
    "The lamp room at Corbel Point was built before the road, so every pane of glass came by boat and was carried up "
    "the cliff on the backs of four brothers who never agreed on the price.",
    "Two of the panes were cracked when they arrived. The keeper turned them to the landward side, where nobody would "
    "look for a light, and wrote in the log that the work was finished in good order.",
    "Ninety years later a painter found the log, climbed the stairs with a torch, and saw that the cracks had been "
    "filled with resin and drawn over with a pen, so that they looked like the branches of a tree.",
    "She painted the tree, sold the picture to the harbour office, and asked that the panes be left where they were. "
    "They are still there: you can see them from the path that leads to the well.",
]
PAGE = f"""<!doctype html><html lang="en"><head><title>The lamp room at Corbel Point</title>
<meta name="author" content="Ines Okafor-Lind"></head><body>
<nav><a href="/">Home</a> <a href="/log">Log</a></nav>
<article><h1>The lamp room at Corbel Point</h1>{"".join(f"<p>{text}</p>" for text in PARAGRAPHS)}
<p>See <a href="../well.html">the well</a>.</p></article>
<div class="share-bar"><a href="https://social.example/share">Share this</a></div></body></html>"""
URL = "https://corbel.example/stories/lamp.html"


def run(*args: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> Result:
    return CliRunner(env=env).invoke(cli, ["extract", *args], input=stdin)


@pytest.fixture
def page(tmp_path: Path) -> str:
    file = tmp_path / "page.html"
    file.write_text(PAGE, encoding="utf-8")
    return str(file)


def frontmatter(document: str) -> dict[str, object]:
    fields = yaml.safe_load(document.split("---\n")[1])
    assert isinstance(fields, dict)
    return fields


def test_prints_frontmatter_and_markdown_by_default(page: str) -> None:
    result = run(page, "--url", URL)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert frontmatter(result.stdout)["title"] == "The lamp room at Corbel Point"
    assert frontmatter(result.stdout)["source"] == URL
    assert all(text in result.stdout for text in PARAGRAPHS)
    assert "Share this" not in result.stdout


def test_reads_a_pipe_when_the_file_is_a_dash(page: str) -> None:
    assert run("-", "--format", "markdown", stdin=PAGE.encode()).stdout == run(page, "--format", "markdown").stdout


def test_url_makes_links_absolute(page: str) -> None:
    assert "(https://corbel.example/well.html)" in run(page, "--url", URL, "--format", "markdown").stdout


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_holds_the_words_and_ends_with_one_newline(page: str, form: str) -> None:
    result = run(page, "--format", form)
    assert result.exit_code == 0
    assert "branches of a tree" in result.stdout
    assert result.stdout.endswith("\n")
    assert not result.stdout.endswith("\n\n")


def test_formats_differ_in_their_markup(page: str) -> None:
    assert "<p>" in run(page, "--format", "html").stdout
    assert "<" not in run(page, "--format", "text").stdout
    assert not run(page, "--format", "markdown").stdout.startswith("---")


def test_json_carries_the_page_and_its_verdict(page: str) -> None:
    answer = json.loads(run(page, "--url", URL, "--format", "json").stdout)
    assert answer["url"] == URL
    assert answer["title"] == "The lamp room at Corbel Point"
    assert answer["metadata"]["author"] == "Ines Okafor-Lind"
    assert answer["quality"]["level"] == "article"
    assert {"url": "https://corbel.example/well.html", "text": "the well"} in answer["links"]


def test_output_is_utf8_whatever_the_locale(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(PAGE.replace("painter", "малярка"), encoding="utf-8")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "pagekeep", "extract", str(file), "--format", "text"]
    assert "малярка".encode() in subprocess.run(command, env=environment, capture_output=True, check=True).stdout


def test_source_date_epoch_sets_the_saving_moment(page: str) -> None:
    document = run(page, env={"SOURCE_DATE_EPOCH": "86399"}).stdout
    assert "saved_at: 1970-01-01T23:59:59Z" in document.replace('"', "").replace("'", "")


def test_malformed_source_date_epoch_is_bad_input(page: str) -> None:
    result = run(page, env={"SOURCE_DATE_EPOCH": "yesterday"})
    assert result.exit_code == 2
    assert "SOURCE_DATE_EPOCH" in result.stderr


def test_saving_moment_is_the_present_without_source_date_epoch(page: str) -> None:
    first = frontmatter(run(page, env={"SOURCE_DATE_EPOCH": ""}).stdout)["saved_at"]
    assert str(first)[:4] >= "2025"


BAD_INPUT = {
    "missing file": ("{folder}/nowhere.html", b"", "NotFound"),
    "folder": ("{folder}", b"", "NotFound"),
    "impossible name": ("bad\0name", b"", "NotFound"),
    "empty": ("-", b"", "ParseError"),
    "blank": ("-", b" \n\t ", "ParseError"),
    "binary": ("-", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 8, "UnsupportedContent"),
    "too large": ("-", b"<p>" + b"word " * 2_200_000, "TooLarge"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_gives_the_message_on_stderr_and_exit_code_2(case: str, tmp_path: Path) -> None:
    file, stdin, _ = BAD_INPUT[case]
    result = run(file.format(folder=tmp_path), stdin=stdin)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_gives_the_json_error_on_stdout_for_programs(case: str, tmp_path: Path) -> None:
    file, stdin, type_name = BAD_INPUT[case]
    result = run(file.format(folder=tmp_path), "--format", "json", stdin=stdin)
    assert result.exit_code == 2
    answer = json.loads(result.stdout)
    assert answer["success"] is False
    assert answer["error"]["type"] == type_name
    assert answer["error"]["message"]


def test_error_names_the_file_as_the_caller_did() -> None:
    result = run("no/such/page.html")
    assert "'no/such/page.html'" in result.stderr
    assert os.getcwd() not in result.stderr


def test_unreadable_file_says_why(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    result = run(page)
    assert result.exit_code == 2
    assert "Cannot read" in result.stderr
    assert "Permission denied" in result.stderr


def test_unknown_format_is_bad_input(page: str) -> None:
    assert run(page, "--format", "pdf").exit_code == 2


def test_explain_shows_how_instead_of_the_content(page: str) -> None:
    result = run(page, "--explain")
    assert result.exit_code == 0
    assert "won" in result.stdout
    assert "Removed: " in result.stdout
    assert " ms" in result.stdout
    assert PARAGRAPHS[0] not in result.stdout


def test_explain_says_the_same_on_a_terminal(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def reported() -> list[str]:
        lines = run(page, "--explain", env={"COLUMNS": "500"}).stdout.splitlines()
        return [re.sub(r"[\d.]+ ms", "", line).rstrip() for line in lines]

    piped = reported()
    monkeypatch.setattr("pagekeep.doors.cli.extract.is_terminal", lambda: True)
    assert reported() == piped


def test_explain_as_json_is_json_also_for_bad_input(page: str) -> None:
    result = run("-", "--explain", "--format", "json")
    assert (result.exit_code, result.stderr) == (2, "")
    assert json.loads(result.stdout)["error"]["type"] == "ParseError"
    assert json.loads(run(page, "--explain", "--json").stdout)["explanation"].startswith("Verdict\n")


def test_reader_that_stops_early_causes_no_noise(tmp_path: Path) -> None:
    file = tmp_path / "long.html"
    file.write_text(PAGE.replace("</article>", f"<p>{'sea and stone ' * 60_000}</p></article>"), encoding="utf-8")
    command = [sys.executable, "-m", "pagekeep", "extract", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(3) == b"---"
        process.stdout.close()
        assert process.stderr.read() == b""


def test_skip_step_runs_without_the_named_steps(page: str) -> None:
    html = (
        "<article><h1>Tea</h1><p>"
        + "Steep the leaves for three minutes. " * 40
        + "</p><p hidden>Not now.</p></article>"
    )
    assert "Not now." not in run("-", stdin=html.encode()).stdout
    skipped = run("-", "--skip-step", "boilerplate", "--skip-step", "hidden", stdin=html.encode())
    assert "Not now." in skipped.stdout


def test_skip_step_with_an_unknown_name_lists_the_steps(page: str) -> None:
    result = run(page, "--skip-step", "footnote")
    assert result.exit_code == 2
    assert "Unknown step: 'footnote'." in result.stderr
    assert "footnotes" in result.stderr
    assert "boilerplate" in result.stderr


def test_skip_step_with_a_required_step_says_that_it_cannot_be_skipped(page: str) -> None:
    result = run(page, "--skip-step", "sanitise")
    assert result.exit_code == 2
    assert "The step 'sanitise' cannot be skipped" in result.stderr
    assert "rules-before" in result.stderr


def test_verbose_means_an_explanation(page: str) -> None:
    for flags in (("--verbose",), ("--explain", "--verbose")):
        shown = run(page, *flags).stdout
        assert shown.startswith("Verdict\n")
        assert "Time\n" in shown


def test_json_has_the_ids_of_the_rules(page: str) -> None:
    shown = json.loads(run("docs/examples/tide-clock.html", "--json").stdout)
    assert (shown["success"], shown["rules"]) == (True, ["consent-managers"])
    assert json.loads(run(page, "--format", "json").stdout)["rules"] == []


def test_markdown_stays_as_it_is_unless_it_has_html(tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_text("# Notes\n\n* one\n* two <b>x</b>\n")
    assert run(str(file), "--format", "markdown").stdout == "# Notes\n\n- one\n- two **x**\n"
    file.write_text("# Notes\n\n* one\n* two\n")
    assert run(str(file), "--format", "markdown").stdout == "# Notes\n\n* one\n* two\n"


def test_an_address_that_is_none_is_refused(page: str) -> None:
    result = run(page, "--url", "notaurl")
    assert result.exit_code == 2
    assert "'notaurl' is not an address." in result.stderr
