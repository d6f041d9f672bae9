"""`pagekeep mail`: from a real mailbox to the feed inbox on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pagekeep.doors.cli.main import cli
from tests.site.imap import ImapServer


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["mail", *arguments])


def run_json(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json").stdout)


def test_a_mailbox_is_added_polled_listed_changed_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ImapServer() as mailbox:
        mailbox.add(b"From: a@letters.example\nSubject: Tides\nMessage-ID: <1@l.example>\n\nHigh water at six.\n")
        mailbox.add(b"From: b@ads.example\nSubject: Buy\nMessage-ID: <2@l.example>\n\nBuy.\n")
        monkeypatch.setenv("PAGEKEEP_LIBRARY", str(tmp_path / "library.db"))
        monkeypatch.setenv("PAGEKEEP_ALLOW_HOSTS", "127.0.0.1")
        options = ("--plain", "--port", str(mailbox.port), "--from", "letters.example")
        added = run("add", "127.0.0.1", mailbox.user, *options)
        assert added.exit_code == 0
        assert "Added" in added.output
        failed = run("poll")
        assert (failed.exit_code, "There is no password" in failed.output) == (2, True)
        monkeypatch.setenv("PAGEKEEP_MAIL_ACCOUNT", f"{mailbox.user}@127.0.0.1")
        monkeypatch.setenv("PAGEKEEP_MAIL_PASSWORD", mailbox.password)
        assert "1 new message" in run("poll").output
        listed = run("list")
        assert "b@ads.example (1)" in listed.output
        (source,) = run_json("list")["sources"]
        assert (source["counts"]["added"], source["counts"]["unwanted"], source["error"]) == (1, 1, None)
        assert run("change", source["id"][:8], "--from", "*", "--every", "1h").exit_code == 0
        assert "1 new message" in run("poll", source["id"][:8]).output
        assert "Removed" in run("remove", source["id"][:8]).output
        assert run("remove", source["id"][:8]).exit_code == 2
        assert mailbox.password not in listed.output
