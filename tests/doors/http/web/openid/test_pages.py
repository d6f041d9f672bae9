"""Sign-in with a provider, through the whole server; and everybody who tries to get in another way."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi.testclient import TestClient
from joserfc import jwt
from joserfc.jwk import RSAKey

from pagekeep.config import Settings
from pagekeep.errors import NotAllowed
from pagekeep.identity import accounts, openid
from tests.doors.http.conftest import PASSWORD, service_of
from tests.openid.provider import CLIENT, SECRET, TestProvider

BACK = "/sign-in/openid/callback"


@pytest.fixture(scope="module")
def started() -> Iterator[TestProvider]:
    one = TestProvider()
    yield one
    one.close()


@pytest.fixture
def provider(started: TestProvider) -> TestProvider:
    """The provider, which says the truth again."""
    started.keys = started.keys[:1]
    started.user = {"sub": "ada-1", "email": "ada@example.org", "email_verified": True}
    started.claims, started.sign, started.description = lambda claims: claims, started.sign_rightly, {}
    started.asked.clear()
    return started


@pytest.fixture
def start(settings: Settings, serve: Callable[..., TestClient], provider: TestProvider) -> Callable[..., TestClient]:
    """Starts a shared server that knows the provider; Ada has an account there, with her address as its name."""

    def begin(**more: Any) -> TestClient:
        known = {"openid_issuer": provider.issuer, "openid_client_id": CLIENT, "openid_client_secret": SECRET}
        client = serve(replace(settings, shared=True, **{**known, **more}), follow_redirects=False)
        if not (service_of(client).accounts).users():
            accounts.add_user(service_of(client).accounts, "ada@example.org", PASSWORD)
        return client

    return begin


def agree(client: TestClient, provider: TestProvider, back: str = "/inbox") -> dict[str, str]:
    """Begin, and sign in at the provider; return what the browser is sent back with."""
    begun = client.get("/sign-in/openid", params={"back": back})
    assert begun.status_code == 303, begun.text
    assert "httponly" in begun.headers["set-cookie"].lower()
    assert begun.headers["location"].startswith(f"{provider.issuer}/authorize?tenant=a&")
    return provider.agree(begun.headers["location"])


def sign_in(client: TestClient, provider: TestProvider, **changes: str) -> Any:
    return client.get(BACK, params={**agree(client, provider), **changes})


def is_in(client: TestClient) -> bool:
    return client.get("/settings", headers={"accept": "text/html"}).status_code == 200


def refused(client: TestClient, answer: Any) -> str:
    """Return the reason; no user is signed in."""
    assert answer.status_code in (401, 403), answer.text
    assert not is_in(client)
    return str(answer.text)


def test_a_linked_user_signs_in_and_out(start: Callable[..., TestClient], provider: TestProvider) -> None:
    client = start(openid_name="House <key>")
    assert "Sign in with House &lt;key&gt;" in client.get("/sign-in?back=/waiting").text
    assert "no account for you" in refused(client, sign_in(client, provider))
    openid.link(service_of(client).accounts, provider.issuer, "ada-1", "ada@example.org")
    done = sign_in(client, provider)
    assert (done.status_code, done.headers["location"]) == (303, "/inbox")
    page = client.get("/settings", headers={"accept": "text/html"})
    user = accounts.session_user(service_of(client).accounts, client.cookies["pagekeep_session"])
    assert user is not None
    assert user.name == "ada@example.org"
    token = page.text.split('name="csrf_token" value="')[1].split('"')[0]
    assert client.post("/sign-out", data={"csrf_token": token}).status_code == 303
    assert not is_in(client)
    sign_in(client, provider)
    assert is_in(client)
    openid.unlink(service_of(client).accounts, "ada@example.org")
    assert not is_in(client), "sessions end"
    refused(client, sign_in(client, provider))


def test_an_address_links_an_account_only_when_it_is_verified_and_allowed(
    start: Callable[..., TestClient], provider: TestProvider
) -> None:
    refused(plain := start(), sign_in(plain, provider))
    client = start(openid_link_email=True)
    for unproved in (False, None, "true", 1):
        provider.user["email_verified"] = unproved
        refused(client, sign_in(client, provider))
    provider.user["email_verified"] = True
    assert sign_in(client, provider).status_code == 303
    client.cookies.clear()
    provider.user = {"sub": "another", "email": "ADA@example.org", "email_verified": True}
    refused(client, sign_in(client, provider))  # the address is another user's now: the account stays Ada's


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("strasse@example.org", "straße@example.org"),
        ("office@example.org", "o\ufb03ce@example.org"),
        ("kim@example.org", "\u212aim@example.org"),
        ("isa@example.org", "i\u017fa@example.org"),
        ("ada@example.org", "ada@\uff45xample.org"),
    ],
)
def test_an_address_that_only_folds_to_a_name_is_not_linked(
    start: Callable[..., TestClient], provider: TestProvider, name: str, address: str
) -> None:
    client = start(openid_link_email=True)
    known = service_of(client).accounts
    if name != "ada@example.org":
        accounts.add_user(known, name, "nine stoves and a kettle")
    provider.user = {"sub": "another", "email": address, "email_verified": True}
    refused(client, sign_in(client, provider))
    with pytest.raises(NotAllowed, match="ASCII"):
        accounts.add_user(
            known, address, "nine stoves and a kettle"
        )  # nor does such an account take the name of another


def test_a_new_user_gets_their_own_account(start: Callable[..., TestClient], provider: TestProvider) -> None:
    client = start(openid_create_users=True)
    provider.user |= {"preferred_username": "ada@example.org", "email": "x"}
    assert sign_in(client, provider).status_code == 303
    names = [user.name for user in (service_of(client).accounts).users()]
    assert len(names) == 2, names
    assert names[1].startswith("ada@example.org-"), "a name is no proof"
    client.cookies.clear()
    assert sign_in(client, provider).status_code == 303
    assert len((service_of(client).accounts).users()) == 2, "the same one again"
    client.cookies.clear()
    accounts.set_disabled(service_of(client).accounts, names[1], True)
    assert "disabled" in refused(client, sign_in(client, provider))


LIES: dict[str, tuple[Callable[[dict[str, Any]], dict[str, Any]], str]] = {
    "nonce": (lambda claims: {**claims, "nonce": "other"}, "another sign-in"),
    "no nonce": (lambda claims: {k: v for k, v in claims.items() if k != "nonce"}, "another sign-in"),
    "audience": (lambda claims: {**claims, "aud": "shop"}, "another program"),
    "two audiences": (lambda claims: {**claims, "aud": [CLIENT, "shop"], "azp": "shop"}, "another program"),
    "no party": (lambda claims: {**claims, "aud": [CLIENT, "shop"]}, "another program"),
    "issuer": (lambda claims: {**claims, "iss": "https://evil.example"}, "another provider"),
    "expired": (lambda claims: {**claims, "exp": time.time() - 61}, "expired"),
    "no end": (lambda claims: {k: v for k, v in claims.items() if k != "exp"}, "expired"),
    "future": (lambda claims: {**claims, "iat": time.time() + 120}, "future"),
    "no user": (lambda claims: {**claims, "sub": ""}, "names no user"),
}


@pytest.fixture
def linked(start: Callable[..., TestClient], provider: TestProvider) -> TestClient:
    """A server where the provider's Ada may sign in."""
    client = start()
    openid.link(service_of(client).accounts, provider.issuer, "ada-1", "ada@example.org")
    return client


def test_tokens_for_something_else_are_refused(linked: TestClient, provider: TestProvider) -> None:
    for name, (lie, reason) in LIES.items():
        provider.claims = lie
        assert reason in refused(linked, sign_in(linked, provider)), name
    provider.claims = lambda claims: {**claims, "exp": time.time() - 30, "iat": time.time() + 30}
    assert sign_in(linked, provider).status_code == 303, "clocks may differ a little"


def encode(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def by_secret(header: dict[str, str], claims: dict[str, Any], secret: bytes) -> str:
    """Return a token signed with a shared secret."""
    text = f"{encode(header)}.{encode(claims)}"
    mac = hmac.new(secret, text.encode(), hashlib.sha256).digest()
    return f"{text}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


def test_signatures_of_others_are_refused(linked: TestClient, provider: TestProvider) -> None:
    other = RSAKey.generate_key(2048, {"kid": "one"})
    public = provider.keys[0].as_pem(private=False)
    forgeries: list[Callable[[dict[str, Any]], str]] = [
        lambda claims: f"{encode({'alg': 'none'})}.{encode(claims)}.",
        lambda claims: jwt.encode({"alg": "RS256", "kid": "one"}, claims, other),
        lambda claims: by_secret({"alg": "HS256", "kid": "one"}, claims, public),
        lambda claims: by_secret({"alg": "HS256"}, claims, SECRET.encode()),
        lambda claims: provider.sign_rightly(claims)[:-8] + "AAAAAAAA",
        lambda claims: "x" * 60_000,
        lambda claims: "",
    ]
    for forge in forgeries:
        provider.sign = forge
        assert "not signed" in refused(linked, sign_in(linked, provider))
    assert provider.asked.count("/keys") <= 2, "not again for each of them"


def test_the_answer_belongs_to_the_browser_that_asked(linked: TestClient, provider: TestProvider) -> None:
    assert "another sign-in" in refused(linked, sign_in(linked, provider, state="other"))
    assert "another provider" in refused(linked, sign_in(linked, provider, iss="https://evil.example"))
    assert "did not sign you in" in refused(linked, sign_in(linked, provider, error="access_denied"))
    answer = agree(linked, provider)
    cookies = dict(linked.cookies)
    linked.cookies.clear()
    assert "not begun here" in refused(linked, linked.get(BACK, params=answer)), (
        "the attacker's answer, the victim's browser"
    )
    name, value = next(iter(cookies.items()))
    forged = encode({"state": answer["state"], "nonce": "n", "verifier": "v", "back": "/", "until": 9e9})
    for changed in (f"{forged}.{value.partition('.')[2]}", value[:-1], "é", ".", value.partition(".")[0]):
        assert linked.get(BACK, params=answer, headers={"cookie": f"{name}={changed}".encode()}).status_code == 401
    assert linked.get(BACK, params=answer, headers={"cookie": f"{name}={value}"}).status_code == 303
    linked.cookies.clear()
    again = linked.get(BACK, params=answer, headers={"cookie": f"{name}={value}"})
    assert "has ended already" in refused(linked, again), "an attempt is used once, whatever the provider does"


def test_an_attempt_ends(linked: TestClient, provider: TestProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = agree(linked, provider)
    later = time.time() + 601
    monkeypatch.setattr(time, "time", lambda: later)
    assert "too long ago" in refused(linked, linked.get(BACK, params=answer))


def test_it_leads_to_pages_of_ours_only(linked: TestClient, provider: TestProvider) -> None:
    for target in ("https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"):
        linked.cookies.clear()
        done = linked.get(BACK, params=agree(linked, provider, target))
        assert (done.status_code, done.headers["location"]) == (303, "/")
    address = linked.get("/sign-in/openid", headers={"x-forwarded-host": "evil.example"}).headers["location"]
    assert parse_qs(urlsplit(address).query)["redirect_uri"] == [f"http://127.0.0.1:8470{BACK}"]
    assert linked.get("/sign-in/openid", headers={"host": "evil.example"}).status_code == 403


def test_keys_change(linked: TestClient, provider: TestProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sign_in(linked, provider).status_code == 303
    old = provider.keys
    provider.rotate()
    linked.cookies.clear()
    now = time.monotonic() + 31
    monkeypatch.setattr(service_of(linked).openid, "_clock", lambda: now)
    assert sign_in(linked, provider).status_code == 303
    provider.keys = old


def test_a_provider_that_is_wrong_or_away(
    start: Callable[..., TestClient], provider: TestProvider, settings: Settings
) -> None:
    for wrong in ({"issuer": "https://evil.example"}, {"token_endpoint": None}, {"jwks_uri": "file:///etc/passwd"}):
        provider.description = wrong
        answer = start().get("/sign-in/openid")
        assert (answer.status_code, "location" in answer.headers) == (401, False)
    provider.description = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    client = start()
    client.cookies.clear()
    openid.link(service_of(client).accounts, provider.issuer, "ada-1", "ada@example.org")
    assert sign_in(client, provider).status_code == 303, "the secret can be in the form"
    private = start(allow_hosts=())
    assert "cannot be reached" in private.get("/sign-in/openid").text, "private addresses need `allow_hosts`"
    away = start(openid_issuer="http://127.0.0.1:9")
    assert "cannot be reached" in away.get("/sign-in/openid").text
    none = start(openid_client_id=None)
    assert none.get("/sign-in/openid").status_code == none.get(BACK).status_code == 404
    assert "Sign in with" not in none.get("/sign-in").text
