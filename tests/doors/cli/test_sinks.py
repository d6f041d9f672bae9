"""`pagekeep sinks`: adding, pairing, rules, delivering with `work`, the outbox, and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pagekeep.doors.cli.main import cli
from pagekeep.store import open_store
from tests.library.sinks.fakes import AnytypeApp, Webhooks, running
from tests.store.making import make_item

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command on the test's library."""
    monkeypatch.setenv("PAGEKEEP_LIBRARY", str(tmp_path / "library.db"))
    monkeypatch.setenv("PAGEKEEP_ALLOW_HOSTS", "127.0.0.1")

    def call(*arguments: str, stdin: str | None = None, code: int = 0) -> Result:
        result = CliRunner().invoke(cli, arguments, input=stdin, catch_exceptions=False)
        assert result.exit_code == code, result.output
        return result

    return call


def read(result: Result) -> Any:
    return json.loads(result.stdout)


def save(tmp_path: Path, number: int, **values: Any) -> str:
    store = open_store(tmp_path / "library.db")
    try:
        return store.items.save(make_item(number, quality="article", word_count=2, **values), None).id
    finally:
        store.close()


def test_anytype_is_added_paired_and_gets_what_the_rules_say(run: Run, tmp_path: Path) -> None:
    with running(AnytypeApp()) as fake:
        added = run("sinks", "add", "anytype", "--address", fake.url, "--rule", "tag:work")
        assert "Next: pagekeep sinks pair anytype" in added.stderr
        assert run("sinks", "test", "anytype", code=2).exit_code
        paired = run("sinks", "pair", "anytype", stdin="4711\n")
        assert paired.stdout.startswith("Paired  anytype")
        assert "space Notes" in run("sinks", "test", "anytype").stdout
        save(tmp_path, 1, tags=["work"])
        save(tmp_path, 2, tags=["play"])
        run("work", "--until-empty")
        assert len(fake.objects) == 1
        assert run("sinks", "rules", "anytype", "--add", "tag:play").stdout.splitlines() == [
            "tag:work -> anytype",
            "tag:play -> anytype",
        ]
        assert read(run("sinks", "send", "anytype", "--json"))["count"] == 2
        run("work", "--until-empty")
        assert len(fake.objects) == 2
        assert fake.faults == []
        (listed,) = read(run("sinks", "list", "--json"))["sinks"]
        assert (listed["sent"], listed["waiting"], listed["has_secret"]) == (2, 0, True)
        assert fake.key not in run("sinks", "list", "--json").stdout


def test_pairing_in_two_calls_with_json(run: Run) -> None:
    with running(AnytypeApp()) as fake:
        run("sinks", "add", "anytype", "--address", fake.url, "--json")
        attempt = read(run("sinks", "pair", "anytype", "--json"))["attempt"]
        wrong = run("sinks", "pair", "anytype", "--json", "--attempt", attempt, "--code", "0000", code=2)
        assert "code" in read(wrong)["error"]["message"]
        paired = read(run("sinks", "pair", "anytype", "--json", "--attempt", attempt, "--code", fake.code))
        assert paired["sink"]["has_secret"] is True


def test_what_failed_is_listed_with_its_reason_and_tried_again(run: Run, tmp_path: Path) -> None:
    class Picky(Webhooks):
        refuses = True

        def answer(self, *values: Any) -> tuple[int, Any]:
            return (422, {"why": "odd"}) if self.refuses else super().answer(*values)

    added = read(run("sinks", "add", "webhook", "--address", "http://127.0.0.1:9", "--json"))
    assert added["secret"].startswith("whsec_")
    run("sinks", "remove", "webhook")
    with running(Picky(added["secret"])) as fake:
        store = tmp_path / "secret"
        store.write_text(added["secret"])
        command = f"cat {store}"
        run("sinks", "add", "webhook", "--address", fake.url, "--rule", "*", "--secret-command", command)
        item = save(tmp_path, 1)
        run("work", "--until-empty")
        (dead,) = read(run("sinks", "outbox", "--state", "dead", "--json"))["deliveries"]
        assert (dead["item_id"], dead["sink"], dead["title"]) == (item, "webhook", "A title")
        assert "odd" in dead["error"]["message"]
        assert "422" in run("sinks", "outbox").stdout
        fake.refuses = False
        assert read(run("sinks", "outbox", "webhook", "--retry", "--json"))["count"] == 1
        run("work", "--until-empty")
        assert len(fake.messages) == 1
        assert run("sinks", "off", "webhook").stdout.startswith("Switched off")
        assert run("sinks", "on", "webhook").stdout.startswith("Switched on")
        assert read(run("sinks", "outbox", "--drop", "--json"))["count"] == 0


def test_a_secret_from_the_environment_is_never_stored(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(AnytypeApp()) as fake:
        monkeypatch.setenv("MY_KEY", fake.key)
        run("sinks", "add", "anytype", "--address", fake.url, "--secret-env", "MY_KEY")
        assert "accepts the key" in run("sinks", "test", "anytype").stdout
    assert fake.key.encode() not in (tmp_path / "library.db").read_bytes()


def test_a_command_in_a_library_from_elsewhere_runs_only_when_it_was_confirmed(run: Run, tmp_path: Path) -> None:
    with running(AnytypeApp()) as fake:
        witness = tmp_path / "ran"
        script = tmp_path / "command"
        script.write_text(f"#!/bin/sh\ntouch {witness}\necho {fake.key}\n")
        script.chmod(0o700)
        run("sinks", "add", "anytype", "--address", fake.url, "--rule", "*", "--secret-command", str(script))
        save(tmp_path, 1)
        (tmp_path / "secrets.key").unlink()  # as on another machine: no backup has it
        for key in (None, "A" * 43 + "="):
            if key:
                (tmp_path / "secrets.key").write_text(key)
            run("work", "--until-empty")
            refused = read(run("sinks", "test", "anytype", "--json", code=2))
            assert "not confirmed on this machine" in refused["error"]["message"]
        assert not witness.exists()
        assert fake.requests == []
        assert run("sinks", "confirm", "anytype", stdin="n\n", code=1).exit_code
        assert str(script) in run("sinks", "confirm", "anytype", stdin="y\n").stderr
        run("work", "--until-empty")
        assert witness.exists()
        assert len(fake.objects) == 1


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("add", "notion"), "no kind of sink"),
        (("add", "webhook"), "needs an address"),
        (("add", "webhook", "--address", "http://10.1.2.3/"), "private address"),
        (("add", "webhook", "--address", "https://example.com", "--rule", "tga:work"), "no search operator"),
        (("add", "webhook", "--address", "https://example.com", "--set", "colour=red"), "no setting `colour`"),
        (("add", "webhook", "--address", "ftp://example.com"), "http"),
        (("remove", "nothing"), "no sink"),
    ],
)
def test_bad_input_is_explained(run: Run, arguments: tuple[str, ...], text: str) -> None:
    run("sinks", "add", "webhook", "--name", "first", "--address", "https://example.com")
    result = CliRunner().invoke(cli, ["sinks", *arguments, "--json"])
    assert result.exit_code != 0
    assert text in json.loads(result.stdout)["error"]["message"] + str(
        json.loads(result.stdout)["error"]["suggestions"]
    )
