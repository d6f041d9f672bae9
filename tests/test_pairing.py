"""A code of a pairing works once, for two minutes, with its verifier alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep import clock
from pagekeep.config import Settings
from pagekeep.errors import InvalidQuery, NotSignedIn
from pagekeep.identity import accounts as app
from pagekeep.identity import grants
from pagekeep.model import PAIRING

VERIFIER = "v" * 43
CHALLENGE = grants.challenge_of(VERIFIER)


@pytest.fixture
def accounts(tmp_path: Path) -> Iterator[app.Accounts]:
    with closing(app.open_accounts(Settings(library=str(tmp_path / "library.db")))) as opened:
        yield opened


def test_the_challenge_is_that_of_pkce() -> None:
    assert grants.challenge_of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") == (
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"  # RFC 7636, appendix B
    )


def test_a_code_is_exchanged_once(accounts: app.Accounts) -> None:
    code = grants.approve_pairing(accounts, "local", CHALLENGE, "Chromium")
    assert app.get_tokens(accounts, "local") == ()
    made = grants.exchange_code(accounts, code, VERIFIER, local="local")
    assert (made.token.name, made.token.scopes) == ("Browser extension (Chromium)", ("read", "write"))
    assert app.token_holder(accounts, made.secret, local="local")[0].id == made.token.id
    with pytest.raises(NotSignedIn):
        grants.exchange_code(accounts, code, VERIFIER, local="local")


@pytest.mark.parametrize("verifier", ["w" * 43, "v", "v" * 42 + "é", CHALLENGE])
def test_a_code_is_worth_nothing_without_its_verifier(accounts: app.Accounts, verifier: str) -> None:
    code = grants.approve_pairing(accounts, "local", CHALLENGE, "Chromium")
    with pytest.raises(NotSignedIn):
        grants.exchange_code(accounts, code, verifier, local="local")
    assert app.get_tokens(accounts, "local") == ()


def test_a_code_ends_after_two_minutes(accounts: app.Accounts, monkeypatch: pytest.MonkeyPatch) -> None:
    code = grants.approve_pairing(accounts, "local", CHALLENGE, "Chromium")
    later = clock.add_seconds(clock.now(), grants.CODE_SECONDS + 1)
    monkeypatch.setattr(clock, "now", lambda: later)
    with pytest.raises(NotSignedIn):
        grants.exchange_code(accounts, code, VERIFIER, local="local")


def test_codes_do_not_pile_up_and_no_token_is_one(accounts: app.Accounts) -> None:
    codes = [grants.approve_pairing(accounts, "local", CHALLENGE, "") for _ in range(8)]
    assert sum(token.scopes == (PAIRING,) for token in accounts.tokens("local")) == 5
    token = app.add_token(accounts, "local", "script")
    with pytest.raises(NotSignedIn):
        grants.exchange_code(accounts, token.secret, VERIFIER, local="local")
    assert grants.exchange_code(accounts, codes[-1], VERIFIER, local="local").token.name == "Browser extension"


def test_a_code_belongs_to_the_user_who_confirmed(accounts: app.Accounts) -> None:
    user = accounts.add_user("ada", None, clock.now())
    code = grants.approve_pairing(accounts, user.id, CHALLENGE, "")
    assert grants.exchange_code(accounts, code, VERIFIER, local=None).token.user_id == user.id
    second = grants.approve_pairing(accounts, user.id, CHALLENGE, "")
    accounts.set_disabled(user.id, True)
    with pytest.raises(NotSignedIn):
        grants.exchange_code(accounts, second, VERIFIER, local=None)


@pytest.mark.parametrize("challenge", ["", "x", "x" * 42, "x" * 44, "=" * 43, "x" * 42 + "\n"])
def test_only_a_hash_is_a_challenge(accounts: app.Accounts, challenge: str) -> None:
    with pytest.raises(InvalidQuery):
        grants.approve_pairing(accounts, "local", challenge, "")


@pytest.mark.parametrize("client", ["Chromium, as your bank asks", "chromium", "Chromium ", "", "<b>"])
def test_only_known_browsers_are_named(accounts: app.Accounts, client: str) -> None:
    code = grants.approve_pairing(accounts, "local", CHALLENGE, client)
    assert grants.exchange_code(accounts, code, VERIFIER, local="local").token.name == "Browser extension"


def test_every_name_that_the_extension_sends_is_known() -> None:
    script = (Path(__file__).parents[1] / "extension" / "lib" / "pairing.js").read_text()
    listed = re.findall(r'"([^"]+)"', script.partition("const known = [")[2].partition("]")[0])
    assert {*listed, "Firefox"} == grants.BROWSERS
