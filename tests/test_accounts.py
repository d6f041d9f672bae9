"""Passwords, signing in and tokens, on a real library file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from pagekeep import clock
from pagekeep.errors import NotAllowed, NotFound, NotSignedIn, TooManyRequests
from pagekeep.identity import accounts as app
from pagekeep.store import LOCAL_USER, Accounts, open_accounts

HERE = "203.0.113.7"
THERE = "198.51.100.9"
PASSWORD = "nine stoves and a kettle"


@pytest.fixture(autouse=True)
def _quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real thing is slow on purpose."""
    monkeypatch.setattr(app, "_hasher", lambda: PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


@pytest.fixture
def where(tmp_path: Path) -> Path:
    return tmp_path / "library.db"


@pytest.fixture
def accounts(where: Path) -> Iterator[Accounts]:
    with closing(open_accounts(where)) as accounts:
        yield accounts


@pytest.fixture
def ada(accounts: Accounts) -> str:
    return app.add_user(accounts, "Ada", PASSWORD).id


def fail(accounts: Accounts, name: str, address: str, times: int) -> None:
    for _ in range(times):
        with pytest.raises(NotSignedIn):
            app.sign_in(accounts, name, "not the password", address)


def kept(where: Path) -> str:
    """Everything the database holds."""
    with closing(sqlite3.connect(where)) as connection:
        return "\n".join(connection.iterdump())


def test_the_password_opens_a_session_until_signing_out(accounts: Accounts, ada: str) -> None:
    user, session = app.sign_in(accounts, " ADA ", PASSWORD, HERE)
    assert user.id == ada
    known = app.session_user(accounts, session)
    assert known is not None
    assert known.id == ada
    app.sign_out(accounts, session)
    assert app.session_user(accounts, session) is None


def test_every_sign_in_has_its_own_key(accounts: Accounts, ada: str) -> None:
    keys = {app.sign_in(accounts, "ada", PASSWORD, HERE).session for _ in range(2)}
    assert len(keys) == 2


def test_wrong_names_and_wrong_passwords_get_the_same_answer(accounts: Accounts, ada: str) -> None:
    answers = set()
    for name in ("ada", "nobody", "", "\ud800", "x" * 100_000):
        with pytest.raises(NotSignedIn) as reported:
            app.sign_in(accounts, name, "wrong \udfff", THERE)
        answers.add((reported.value.message, reported.value.suggestions))
    assert len(answers) == 1


def test_a_disabled_user_is_not_let_in_by_password_or_token(accounts: Accounts, ada: str) -> None:
    secret = app.add_token(accounts, ada, "phone").secret
    app.set_disabled(accounts, "ada", True)
    fail(accounts, "ada", HERE, 1)
    with pytest.raises(NotSignedIn):
        app.token_holder(accounts, secret)
    app.set_disabled(accounts, "ada", False)
    assert app.token_holder(accounts, secret)[1] == "ada"


def test_after_some_failures_the_right_password_is_refused_from_there_alone(accounts: Accounts, ada: str) -> None:
    fail(accounts, "ada", HERE, app.MAX_FAILURES_BY_ADDRESS_AND_NAME)
    with pytest.raises(TooManyRequests):
        app.sign_in(accounts, "Ada", PASSWORD, HERE)
    assert app.sign_in(accounts, "ada", PASSWORD, THERE)


def test_failures_are_forgotten_after_a_while(accounts: Accounts, ada: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fail(accounts, "ada", HERE, app.MAX_FAILURES_BY_ADDRESS_AND_NAME)
    later = clock.add_seconds(clock.now(), 16 * 60)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert app.sign_in(accounts, "ada", PASSWORD, HERE)


def test_an_address_cannot_try_many_names(accounts: Accounts, ada: str) -> None:
    for number in range(app.MAX_FAILURES_BY_ADDRESS):
        fail(accounts, f"guess-{number}", f"2001:db8::{number:x}", 1)  # one network: one household
    with pytest.raises(TooManyRequests):
        app.sign_in(accounts, "ada", PASSWORD, "2001:db8::ffff")


def test_an_own_account_does_not_buy_more_guesses_at_others(accounts: Accounts, ada: str) -> None:
    app.add_user(accounts, "mallory", PASSWORD)
    for number in range(app.MAX_FAILURES_BY_ADDRESS):
        app.sign_in(accounts, "mallory", PASSWORD, HERE)
        fail(accounts, f"guess-{number}", HERE, 1)
    with pytest.raises(TooManyRequests):
        app.sign_in(accounts, "ada", PASSWORD, HERE)


def test_a_name_cannot_be_guessed_at_from_many_addresses(accounts: Accounts, ada: str) -> None:
    for number in range(app.MAX_FAILURES_BY_NAME):
        fail(accounts, "ada", f"198.51.100.{number}", 1)
    with pytest.raises(TooManyRequests):
        app.sign_in(accounts, "ada", PASSWORD, HERE)


@pytest.mark.parametrize("name", ["", "  ", "two words", "a/b", "x" * 65, "tab\there"])
def test_names_that_could_be_mistaken_are_refused(accounts: Accounts, name: str) -> None:
    with pytest.raises(NotAllowed):
        app.add_user(accounts, name, PASSWORD)


def test_short_passwords_are_refused(accounts: Accounts) -> None:
    with pytest.raises(NotAllowed, match="password"):
        app.add_user(accounts, "ada", "hunter2")


def test_a_new_password_ends_sessions_and_the_old_password(accounts: Accounts, ada: str) -> None:
    session = app.sign_in(accounts, "ada", PASSWORD, HERE).session
    app.set_password(accounts, "ada", "ten stoves and no kettle")
    assert app.session_user(accounts, session) is None
    fail(accounts, "ada", HERE, 1)
    assert app.sign_in(accounts, "ada", "ten stoves and no kettle", HERE)


def test_the_first_user_may_take_the_library_of_before_and_the_second_may_not(accounts: Accounts) -> None:
    assert app.add_user(accounts, "ada", PASSWORD, takes_local=True).id == LOCAL_USER
    with pytest.raises(NotAllowed):
        app.add_user(accounts, "grace", PASSWORD, takes_local=True)


def test_no_secret_is_in_the_database(accounts: Accounts, ada: str, where: Path) -> None:
    session = app.sign_in(accounts, "ada", PASSWORD, HERE).session
    made = app.add_token(accounts, ada, "phone")
    assert made.secret.startswith("pk_")
    assert len(made.secret) > 40
    everything = kept(where)
    assert made.token.id in everything
    for secret in (PASSWORD, session, made.secret, made.secret.removeprefix("pk_")):
        assert secret not in everything


def test_a_token_is_good_for_its_scopes_until_it_is_revoked(accounts: Accounts, ada: str) -> None:
    made = app.add_token(accounts, ada, " my\nphone ", ("read",))
    assert made.token.name == "my phone"
    token, name = app.token_holder(accounts, made.secret)
    assert (token.user_id, token.scopes, name) == (ada, ("read",), "ada")
    assert accounts.tokens(ada)[0].last_used_at is not None
    with pytest.raises(NotFound):
        app.revoke_token(accounts, "someone else", made.token.id)
    app.revoke_token(accounts, ada, made.token.id[:8])
    with pytest.raises(NotSignedIn):
        app.token_holder(accounts, made.secret)


def test_a_token_ends_with_its_days(accounts: Accounts, ada: str, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = app.add_token(accounts, ada, "phone", days=2).secret
    later = clock.add_seconds(clock.now(), 2 * 86_400)
    monkeypatch.setattr(clock, "now", lambda: later)
    with pytest.raises(NotSignedIn):
        app.token_holder(accounts, secret)


def test_the_local_users_token_is_good_only_where_there_is_a_local_user(accounts: Accounts) -> None:
    secret = app.add_token(accounts, LOCAL_USER, "script").secret
    assert app.token_holder(accounts, secret, local=LOCAL_USER)[0].user_id == LOCAL_USER
    with pytest.raises(NotSignedIn):
        app.token_holder(accounts, secret)


@pytest.mark.parametrize("key", ["", "ffffffff-nowhere"])
def test_revoking_what_is_not_there_says_so(accounts: Accounts, ada: str, key: str) -> None:
    app.add_token(accounts, ada, "phone")
    with pytest.raises(NotFound):
        app.revoke_token(accounts, ada, key)


def test_the_old_password_changes_it_and_ends_every_session(accounts: Accounts, ada: str) -> None:
    before = app.sign_in(accounts, "ada", PASSWORD, HERE).session
    _, session = app.change_password(accounts, ada, PASSWORD, "ten kettles and no stove", HERE)
    assert app.session_user(accounts, before) is None
    known = app.session_user(accounts, session)
    assert known is not None
    assert known.id == ada
    assert app.sign_in(accounts, "ada", "ten kettles and no stove", HERE).user.id == ada
    with pytest.raises(NotSignedIn):
        app.sign_in(accounts, "ada", PASSWORD, HERE)


def test_a_wrong_old_password_changes_nothing(accounts: Accounts, ada: str) -> None:
    session = app.sign_in(accounts, "ada", PASSWORD, HERE).session
    with pytest.raises(NotAllowed, match="old password"):
        app.change_password(accounts, ada, "not the password", "ten kettles and no stove", HERE)
    assert app.session_user(accounts, session) is not None
    assert app.sign_in(accounts, "ada", PASSWORD, HERE).user.id == ada


def test_a_new_password_that_is_too_short_leaves_the_old_one(accounts: Accounts, ada: str) -> None:
    with pytest.raises(NotAllowed, match="password is too short"):
        app.change_password(accounts, ada, PASSWORD, "short", HERE)
    assert app.sign_in(accounts, "ada", PASSWORD, HERE).user.id == ada


def test_guessing_at_the_old_password_is_throttled_as_signing_in_is(accounts: Accounts, ada: str) -> None:
    for _ in range(app.MAX_FAILURES_BY_ADDRESS_AND_NAME):
        with pytest.raises(NotAllowed):
            app.change_password(accounts, ada, "a guess", "ten kettles and no stove", HERE)
    with pytest.raises(TooManyRequests):
        app.change_password(accounts, ada, PASSWORD, "ten kettles and no stove", HERE)
    with pytest.raises(TooManyRequests):
        app.sign_in(accounts, "ada", PASSWORD, HERE)


def test_where_users_do_not_sign_in_there_is_no_password_to_change(accounts: Accounts) -> None:
    with pytest.raises(NotFound, match="no users"):
        app.change_password(accounts, LOCAL_USER, "whatever it was", "ten kettles and no stove", HERE)
