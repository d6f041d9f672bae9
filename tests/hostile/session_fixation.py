"""Session keys planted before a sign-in, taken after it, and sent beside the right one: none is worth anything.

`python -m tests.hostile.session_fixation [--full] [--engine sqlite|postgres]`. On a live server, by password and by an
OpenID provider. A sign-in gives a new key and ends the one that the browser had; signing out and new passwords end keys;
a second cookie of the same name, as another subdomain or path can set it, opens no other account; a form's token is
good for its session only.
"""

from __future__ import annotations

import argparse
import itertools
import re
import secrets
import ssl
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import httpx2 as httpx

from pagekeep.config import Settings
from pagekeep.identity import accounts, openid
from tests.browser.serving import Server
from tests.hostile.store_places import empty_sqlite
from tests.openid.provider import CLIENT, SECRET, TestProvider
from tests.store.making import postgres_server

TLS = ssl.create_default_context()
"""Made once: each request would read all certificates again."""
COOKIE = "pagekeep_session"
PASSWORD = "nine stoves and a kettle"
PLANTED = ("x", "0" * 43, "a" * 4_000, "../../etc/passwd", "%00", "é", "'; DROP TABLE sessions; --", "null", "=", ",")
"""Keys that no server made; others are random or the attacker's own."""


@dataclass
class Place:
    """A live server with Ada and Eve, and what went wrong."""

    server: Server
    provider: TestProvider
    attacks: int = 0
    faults: list[str] = field(default_factory=list)

    def get(self, path: str, cookies: str | bytes = "") -> httpx.Response:
        """Request a page with a header of cookies."""
        headers = {"accept": "text/html", **({"cookie": cookies} if cookies else {})}
        return httpx.get(self.server.url + path, headers=headers, timeout=60, verify=TLS)

    def post(self, path: str, form: dict[str, str], cookies: str | bytes = "") -> httpx.Response:
        """Send a form with a header of cookies."""
        headers = {"cookie": cookies} if cookies else {}
        return httpx.post(self.server.url + path, data=form, headers=headers, timeout=60, verify=TLS)

    def name_of(self, cookies: str | bytes) -> str:
        """Return whose account a header of cookies opens; empty when it opens none."""
        page = self.get("/settings/account", cookies)
        found = re.search(r"signed in as <strong>(\w+)</strong>", page.text)
        return found[1] if page.status_code == 200 and found else ""

    def sign_in(self, name: str, planted: str | bytes = "") -> str:
        """Sign in by password, in a browser that has a cookie already; return the key that it gets."""
        answer = self.post("/sign-in", {"name": name, "password": PASSWORD}, planted)
        return _key_of(answer)

    def sign_in_by_provider(self, planted: str = "") -> str:
        """Sign Ada in at the provider, in a browser that has a cookie already; return the key that it gets."""
        begun = self.get("/sign-in/openid", planted)
        attempt = begun.headers["set-cookie"].partition(";")[0]
        sent = self.provider.agree(begun.headers["location"])
        cookies = "; ".join(filter(None, (planted, attempt)))
        answer = httpx.get(
            f"{self.server.url}/sign-in/openid/callback", params=sent, headers={"cookie": cookies}, timeout=60
        )
        return _key_of(answer)

    def form_token(self, cookies: str) -> str:
        """Return the token of the forms on a page."""
        found = re.search(r'name="csrf_token" value="([^"]+)"', self.get("/settings/account", cookies).text)
        return found[1] if found else ""

    def expect(self, what: str, found: object, wanted: object) -> None:
        """Note what is not as it must be."""
        self.attacks += 1
        if found != wanted:
            self.faults.append(f"{what}: {found!r:.80} instead of {wanted!r:.80}")


def _key_of(answer: httpx.Response) -> str:
    made = [value for value in answer.headers.get_list("set-cookie") if value.startswith(f"{COOKIE}=")]
    if answer.status_code != 303 or len(made) != 1:
        return ""
    _, *attributes = (part.strip().lower() for part in made[0].split(";"))
    if not {"httponly", "samesite=lax", "path=/"} <= set(attributes) or any("domain" in one for one in attributes):
        return ""
    return made[0].partition(";")[0].partition("=")[2]


def cookie(*keys: str) -> bytes:
    return "; ".join(f"{COOKIE}={key}" for key in keys).encode()


def _plant(place: Place) -> None:
    """Keys that the browser had before: not taken over, worthless afterwards."""
    attackers = place.sign_in("eve")
    for number, planted in enumerate((*PLANTED, secrets.token_urlsafe(32), attackers)):
        made = place.sign_in("ada", cookie(planted))
        place.expect(f"a key after planting {planted!r:.20}", bool(made) and made != planted, True)
        place.expect(f"the key after planting {planted!r:.20}", place.name_of(cookie(made)), "ada")
        place.expect(f"the planted key {planted!r:.20}", place.name_of(cookie(planted)), "")
        if number < 3:
            by_provider = place.sign_in_by_provider(f"{COOKIE}={made}")
            place.expect("a key by the provider", bool(by_provider) and by_provider != made, True)
            place.expect("the key by the provider", place.name_of(cookie(by_provider)), "ada")
            place.expect("the key before the provider", place.name_of(cookie(made)), "")


def _end(place: Place) -> None:
    """Keys after signing out, and after a new password."""
    store = place.server.app.state.service.accounts
    first, second = place.sign_in("ada"), place.sign_in("ada")
    place.expect("two sessions", len({first, second}), 2)
    token = place.form_token(f"{COOKIE}={first}")
    place.expect("signing out", place.post("/sign-out", {"csrf_token": token}, cookie(first)).status_code, 303)
    place.expect("the key after signing out", place.name_of(cookie(first)), "")
    place.expect("the other key after signing out", place.name_of(cookie(second)), "ada")
    token = place.form_token(f"{COOKIE}={second}")
    form = {"csrf_token": token, "old": PASSWORD, "new": PASSWORD, "again": PASSWORD}
    changed = place.post("/settings/password", form, cookie(second))
    place.expect("a new password", changed.status_code in (200, 303), True)
    place.expect("the key after a new password", place.name_of(cookie(second)), "")
    third = place.sign_in("ada")
    accounts.set_password(store, "ada", PASSWORD)
    place.expect("the key after the owner set a password", place.name_of(cookie(third)), "")
    fourth = place.sign_in("ada")
    accounts.set_disabled(store, "ada", True)
    place.expect("the key of a disabled user", place.name_of(cookie(fourth)), "")
    accounts.set_disabled(store, "ada", False)


def _beside(place: Place) -> None:
    """A second cookie of the name, from a subdomain or for a path, opens no account but the right one, or none."""
    adas, eves = place.sign_in("ada"), place.sign_in("eve")
    for keys in itertools.permutations((adas, eves)):
        place.expect("two keys", place.name_of(cookie(*keys)) in ("", "ada"), True)
        place.expect("two keys, three times", place.name_of(cookie(*keys, keys[0])) in ("", "ada"), True)
    place.expect("one key twice", place.name_of(cookie(adas, adas)), "ada")
    for other in (f"__Host-{COOKIE}={eves}", f"{COOKIE.upper()}={eves}", f"{COOKIE} ={eves}x", f'{COOKIE}x="{eves}"'):
        found = place.name_of(f"{COOKIE}={adas}; {other}")
        place.expect(f"beside {other[:20]}", found in ("", "ada"), True)
        found = place.name_of(f"{other}; {COOKIE}={adas}")
        place.expect(f"before {other[:20]}", found in ("", "ada"), True)
    for odd in (f'"{eves}"', eves.upper() + "x", eves[:-1], f"{eves},{adas}"):
        found = place.name_of(f"{COOKIE}={odd}".encode())
        place.expect(f"the key as {odd[-5:]!r}", found in ("", "eve"), True)
    place.expect("a key in the address", place.get(f"/settings?{COOKIE}={adas}&session={adas}").status_code, 303)


def _tokens_of_forms(place: Place) -> None:
    """A form's token is good for its session only."""
    adas, eves = place.sign_in("ada"), place.sign_in("eve")
    of_eve, of_ada = place.form_token(f"{COOKIE}={eves}"), place.form_token(f"{COOKIE}={adas}")
    place.expect("a token of Ada's", bool(of_ada) and of_ada != of_eve, True)
    again = place.sign_in("ada")
    old = place.form_token(f"{COOKIE}={again}")
    place.expect("a token for each session", old != of_ada, True)
    for name, token in (
        ("Eve's", of_eve),
        ("of another session", of_ada),
        ("none", ""),
        ("the key", again),
        ("half", old[:-1]),
    ):
        sent = place.post("/sign-out", {"csrf_token": token}, cookie(again))
        place.expect(f"a form with {name} token", sent.status_code, 403)
    place.expect("still signed in", place.name_of(cookie(again)), "ada")
    place.expect("the right token", place.post("/sign-out", {"csrf_token": old}, cookie(again)).status_code, 303)
    for origin in ("https://evil.example", "null", "http://127.0.0.1.evil.example"):
        headers = {"origin": origin, "sec-fetch-site": "cross-site"}
        form = {"name": "eve", "password": PASSWORD}
        sent = httpx.post(f"{place.server.url}/sign-in", data=form, headers=headers, timeout=60, verify=TLS)
        place.expect(f"a sign-in sent by {origin}", (sent.status_code, "set-cookie" in sent.headers), (403, False))


@contextmanager
def _place(where: str) -> Iterator[Place]:
    with ExitStack() as stack:
        provider = TestProvider()
        stack.callback(provider.close)
        settings = Settings(
            library=where,
            allow_hosts=("127.0.0.1",),
            shared=True,
            openid_issuer=provider.issuer,
            openid_client_id=CLIENT,
            openid_client_secret=SECRET,
        )
        server = stack.enter_context(Server(settings))
        store = server.app.state.service.accounts
        for name in ("ada", "eve"):
            if store.find_user(name) is None:
                accounts.add_user(store, name, PASSWORD)
        openid.link(store, provider.issuer, "ada-1", "ada")
        yield Place(server, provider)


def run(engine: str, rounds: int) -> tuple[int, list[str]]:
    """Attack a server this many times; return how many checks there were, and what went wrong."""
    with ExitStack() as stack:
        sqlite = engine == "sqlite"
        where = stack.enter_context(empty_sqlite()) if sqlite else stack.enter_context(postgres_server()).shared
        place = stack.enter_context(_place(where))
        for _ in range(rounds):
            _plant(place)
            _end(place)
            _beside(place)
            _tokens_of_forms(place)
        return place.attacks, place.faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--engine", choices=("sqlite", "postgres"), action="append")
    chosen = parser.parse_args()
    failed = False
    for engine in chosen.engine or ("sqlite", "postgres"):
        made, found = run(engine, 5 if chosen.full else 1)
        print(f"session fixation, {engine}: {made} checks, {len(found)} faults", *found, sep="\n  ")
        failed = failed or bool(found)
    sys.exit(failed)
