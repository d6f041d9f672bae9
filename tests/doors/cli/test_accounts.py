"""`pagekeep user` and `pagekeep token`, on a real library file."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner, Result

from pagekeep.doors.cli.main import cli
from pagekeep.identity import accounts as app
from pagekeep.store import LOCAL_USER, open_accounts

PASSWORD = "nine stoves and a kettle"


class Shell:
    """Runs commands on one library."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "library.db"
        self.env = {"PAGEKEEP_LIBRARY": str(self.path), "XDG_CONFIG_HOME": str(folder)}

    def run(self, *arguments: str, given: str | None = None) -> Result:
        return CliRunner(env=self.env).invoke(cli, arguments, input=given, catch_exceptions=False)

    def json(self, *arguments: str, given: str | None = None, code: int = 0) -> Any:
        done = self.run(*arguments, "--json", given=given)
        assert done.exit_code == code, done.output
        return json.loads(done.stdout)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setattr(app, "_hasher", lambda: PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    return Shell(tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        "user add",
        "user list",
        "user password",
        "user disable",
        "user enable",
        "user link",
        "user unlink",
        "token add",
        "token list",
        "token revoke",
        "library install",
    ],
)
def test_every_command_has_examples_and_exit_codes(command: str) -> None:
    reported = CliRunner().invoke(cli, [*command.split(), "--help"]).stdout
    assert f"pagekeep {command}" in reported.partition("Examples:")[2]
    assert "Exit codes: 0 done" in reported
    assert "--json" in reported


def test_a_user_is_added_with_the_password_from_stdin(shell: Shell) -> None:
    (made,) = shell.json("user", "add", "Ada", given=f"{PASSWORD}\n")["users"]
    assert (made["name"], made["disabled"]) == ("ada", False)
    assert [each["name"] for each in shell.json("user", "list")["users"]] == ["ada"]
    with closing(open_accounts(shell.path)) as accounts:
        assert app.sign_in(accounts, "ada", PASSWORD, "::1").user.id == made["id"]


def test_nothing_that_is_shown_holds_a_password(shell: Shell) -> None:
    done = shell.run("user", "add", "ada", given=f"{PASSWORD}\n")
    shown = done.output + shell.run("user", "list").output + shell.run("user", "list", "--json").output
    assert PASSWORD not in shown
    assert "argon2" not in shown


@pytest.mark.parametrize(("name", "password"), [("ada", "short"), ("ada", ""), ("a b", PASSWORD)])
def test_a_bad_name_or_password_adds_no_user(shell: Shell, name: str, password: str) -> None:
    assert shell.json("user", "add", name, given=f"{password}\n", code=2)["error"]["type"] == "NotAllowed"
    assert shell.json("user", "list")["users"] == []


def test_the_password_of_a_user_is_changed(shell: Shell) -> None:
    shell.run("user", "add", "ada", given=f"{PASSWORD}\n")
    shell.json("user", "password", "ada", given="ten stoves and no kettle\n")
    with closing(open_accounts(shell.path)) as accounts:
        assert app.sign_in(accounts, "ada", "ten stoves and no kettle", "::1")


def test_a_user_is_disabled_and_enabled(shell: Shell) -> None:
    shell.run("user", "add", "ada", given=f"{PASSWORD}\n")
    assert shell.json("user", "disable", "ada")["users"][0]["disabled"]
    assert not shell.json("user", "enable", "ada")["users"][0]["disabled"]
    assert shell.json("user", "disable", "nobody", code=2)["error"]["type"] == "NotFound"


def test_the_first_user_may_take_what_was_saved_before(shell: Shell) -> None:
    assert shell.json("user", "add", "ada", "--takes-local", given=f"{PASSWORD}\n")["users"][0]["id"] == LOCAL_USER


def test_a_token_for_this_machine_is_shown_once(shell: Shell) -> None:
    done = shell.run("token", "add", "backup script", "--scope", "read", "--days", "90")
    secret = done.stdout.strip()
    assert secret.startswith("pk_")
    (known,) = shell.json("token", "list")["tokens"]
    assert (known["name"], known["scopes"]) == ("backup script", ["read"])
    assert known["expires_at"] > known["created_at"]
    assert secret not in shell.run("token", "list").output + json.dumps(known)
    with closing(open_accounts(shell.path)) as accounts:
        assert app.token_holder(accounts, secret, local=LOCAL_USER)[0].id == known["id"]


def test_a_token_is_revoked_by_the_beginning_of_its_id(shell: Shell) -> None:
    made = shell.json("token", "add", "phone")["tokens"][0]
    assert made["scopes"] == ["read", "write"]
    shell.json("token", "revoke", made["id"][:8])
    assert shell.json("token", "list")["tokens"] == []
    assert shell.json("token", "revoke", made["id"], code=2)["error"]["type"] == "NotFound"


def test_tokens_are_their_users_own(shell: Shell) -> None:
    for name in ("ada", "grace"):
        shell.run("user", "add", name, given=f"{PASSWORD}\n")
    made = shell.json("token", "add", "phone", "--user", "ada")["tokens"][0]
    assert shell.json("token", "list", "--user", "grace")["tokens"] == []
    shell.json("token", "revoke", made["id"], "--user", "grace", code=2)
    assert len(shell.json("token", "list", "--user", "ada")["tokens"]) == 1


def test_only_a_library_on_a_server_is_installed(shell: Shell) -> None:
    assert shell.json("library", "install", str(shell.path), code=2)["error"]["type"] == "StoreError"


def test_an_account_is_linked_to_a_user_of_the_provider(shell: Shell) -> None:
    shell.run("user", "add", "ada", given=f"{PASSWORD}\n")
    refused = shell.json("user", "link", "ada", "42", code=2)
    assert refused["error"]["type"] == "NotFound", "no provider is set"
    shell.env["PAGEKEEP_OPENID_ISSUER"] = "https://id.example.org/"
    assert shell.json("user", "link", "ada", "42")["users"][0]["name"] == "ada"
    with closing(open_accounts(shell.path)) as accounts:
        linked = accounts.linked_user("https://id.example.org", "42")
        assert linked is not None
        assert accounts.user(linked) == accounts.find_user("ada")
    assert "Unlinked ada." in shell.run("user", "unlink", "ada").stdout
    assert shell.json("user", "unlink", "ada", code=2)["error"]["type"] == "NotFound"
