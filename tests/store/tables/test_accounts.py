"""Accounts: the same on both engines, and out of the libraries' reach."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from pagekeep.errors import NotFound, StoreError
from pagekeep.store import Accounts, open_accounts
from tests.store.making import NOW, Server, moment


@pytest.fixture
def accounts(where: str) -> Iterator[Accounts]:
    with closing(open_accounts(where)) as accounts:
        yield accounts


def name() -> str:
    return f"ada-{uuid.uuid4()}"


def test_a_user_is_found_by_name_and_id(accounts: Accounts) -> None:
    user = accounts.add_user(name(), "hash", NOW)
    assert accounts.find_user(user.name) == user == accounts.user(user.id)
    assert user in accounts.users()
    assert accounts.find_user("nobody") is None


def test_a_name_is_taken_once(accounts: Accounts) -> None:
    taken = accounts.add_user(name(), None, NOW).name
    with pytest.raises(StoreError, match="already"):
        accounts.add_user(taken, None, NOW)


def test_a_session_lasts_until_it_expires_or_is_closed(accounts: Accounts) -> None:
    user, digest = accounts.add_user(name(), "hash", NOW), str(uuid.uuid4())
    accounts.open_session(digest, user.id, moment(0), moment(60))
    assert accounts.session_user(digest, moment(59)) == user
    assert accounts.session_user(digest, moment(60)) is None
    accounts.close_session(digest)
    assert accounts.session_user(digest, moment(1)) is None


@pytest.mark.parametrize("change", ["password", "disabled"])
def test_a_changed_password_or_a_disabled_user_ends_their_sessions(accounts: Accounts, change: str) -> None:
    user, digest = accounts.add_user(name(), "hash", NOW), str(uuid.uuid4())
    accounts.open_session(digest, user.id, moment(0), moment(60))
    if change == "password":
        accounts.set_password(user.id, "other")
    else:
        accounts.set_disabled(user.id, True)
    assert accounts.session_user(digest, moment(1)) is None


def test_changing_a_user_who_is_not_there_says_so(accounts: Accounts) -> None:
    with pytest.raises(NotFound):
        accounts.set_password("nobody", "x")


def test_a_token_is_found_by_its_digest_until_it_expires(accounts: Accounts) -> None:
    user, digest = accounts.add_user(name(), None, NOW), str(uuid.uuid4())
    token = accounts.add_token(digest, user.id, "phone", ("read",), moment(0), moment(60))
    assert accounts.token(digest, moment(59)) == token
    assert accounts.token(digest, moment(60)) is None
    accounts.mark_used(token.id, moment(5))
    assert [known.last_used_at for known in accounts.tokens(user.id)] == [moment(5)]


def test_a_token_is_revoked_by_its_owner_alone(accounts: Accounts) -> None:
    user, other = accounts.add_user(name(), None, NOW), accounts.add_user(name(), None, NOW)
    digest = str(uuid.uuid4())
    token = accounts.add_token(digest, user.id, "phone", ("read", "write"), NOW)
    with pytest.raises(NotFound):
        accounts.revoke(other.id, token.id)
    assert accounts.token(digest, NOW) == token
    accounts.revoke(user.id, token.id)
    assert accounts.token(digest, NOW) is None


def test_failures_are_counted_within_their_window(accounts: Accounts) -> None:
    key = name()
    for minute in (10, 11, 12):
        accounts.note_failure(key, moment(minute), moment(0))
    assert accounts.failures(key, moment(5)) == 3
    accounts.note_failure(key, moment(30), moment(15))
    assert accounts.failures(key, moment(15)) == 1
    accounts.forget_failures(key)
    assert accounts.failures(key, moment(0)) == 0


def test_the_role_of_the_libraries_cannot_see_who_the_users_are(server: Server) -> None:
    for role, table in (("pagekeep_app", "users"), ("pagekeep_app", "tokens"), ("pagekeep_door", "items")):
        with psycopg.connect(server.app, autocommit=True) as connection:
            connection.execute("SET search_path = pagekeep")
            connection.execute(f"SET ROLE {role}")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM {table}")


def test_sessions_are_listed_newest_first_and_ended_one_by_one(accounts: Accounts) -> None:
    user, other = (accounts.add_user(name(), "hash", NOW) for _ in range(2))
    digests = [uuid.uuid4().hex * 2 for _ in range(3)]
    for minute, digest in enumerate(digests):
        accounts.open_session(digest, user.id, moment(minute), moment(60 + minute))
    found = accounts.sessions(user.id, moment(60))  # the first one is over
    assert [session.created_at for session in found] == [moment(2), moment(1)]
    assert not any(digest in str(found) for digest in digests)
    with pytest.raises(NotFound):
        accounts.end_session(other.id, found[0].id)
    accounts.end_session(user.id, found[0].id)
    assert accounts.session_user(digests[2], moment(3)) is None
    assert accounts.session_user(digests[1], moment(3)) == user


def test_a_user_of_a_provider_opens_one_account(accounts: Accounts) -> None:
    issuer, ada, grace = f"https://{uuid.uuid4()}.example", *(accounts.add_user(name(), None, NOW) for _ in range(2))
    assert accounts.linked_user(issuer, "1") is None
    accounts.link_user(issuer, "1", ada.id, NOW)
    assert (accounts.linked_user(issuer, "1"), accounts.linked_user("https://other.example", "1")) == (ada.id, None)
    assert (accounts.is_linked(issuer, ada.id), accounts.is_linked(issuer, grace.id)) == (True, False)
    accounts.link_user(issuer, "1", grace.id, NOW)
    assert accounts.linked_user(issuer, "1") == grace.id
    accounts.open_session(key := uuid.uuid4().hex, grace.id, NOW, moment(900))
    accounts.unlink_user(grace.id)
    assert accounts.linked_user(issuer, "1") is None
    assert accounts.session_user(key, NOW) is None
    with pytest.raises(NotFound):
        accounts.unlink_user(grace.id)
