"""P12: the pairing of the extension is attacked: by other devices, by replays, by guesses, by other users and by phishing pages.

    python -m tests.hostile.pairing_attacks           # small counts
    python -m tests.hostile.pairing_attacks --full    # all of them, on SQLite and PostgreSQL

A token comes only of a code that its own user confirmed, with the verifier of the device that asked, once, within two minutes.
A code signs no one in. A page of another site gets no code, and confirms nothing.
"""

from __future__ import annotations

import base64
import json
import secrets
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch
from urllib.parse import quote, urlencode

from pagekeep import clock
from pagekeep.config import Settings
from pagekeep.fetch.browser import chromium
from pagekeep.identity import accounts as app
from pagekeep.identity import grants
from pagekeep.store import open_accounts
from tests.hostile.server_sign_in import running
from tests.site.server import Reply, Request, Site
from tests.store.making import postgres_server

PASSWORD: Final = "nine stoves and a kettle"
FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}
JSON: Final = {"Content-Type": "application/json"}


@dataclass
class Place:
    """A server with two users, and what came of the attacks."""

    port: int
    settings: Settings
    users: dict[str, str]
    attacks: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def ask(self, method: str, path: str, body: str = "", headers: dict[str, str] | None = None, at: str = "127.0.0.1") -> tuple[int, HTTPResponse, str]:  # fmt: skip
        """Send a request from an address of the loopback network."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=120, source_address=(at, 0))) as connection:
            connection.request(method, path, body or None, headers or {})
            answer = connection.getresponse()
            return answer.status, answer, answer.read().decode(errors="replace")

    def exchange(self, code: str, verifier: str, at: str = "127.0.0.1") -> tuple[int, str]:
        status, _, text = self.ask(
            "POST", "/api/v1/tokens/pairing", json.dumps({"code": code, "verifier": verifier}), JSON, at
        )
        return status, text

    def sign_in(self, name: str) -> str:
        """The session's cookie."""
        _, answer, _ = self.ask("POST", "/sign-in", urlencode({"name": name, "password": PASSWORD}), FORM)
        return str(answer.getheader("set-cookie")).partition(";")[0]

    def confirm(self, cookie: str, challenge: str, form_of: str = "") -> tuple[int, str]:
        """Confirm with a session as the page does; `form_of` is the session whose form is sent. Return status and code."""
        query = urlencode({"challenge": challenge, "client": "Chromium"})
        _, _, page = self.ask("GET", f"/pair?{query}", headers={"Cookie": form_of or cookie, "Accept": "text/html"})
        token = page.partition('name="csrf_token" value="')[2].partition('"')[0]
        body = urlencode({"challenge": challenge, "client": "Chromium", "csrf_token": token})
        status, answer, _ = self.ask("POST", "/pair", body, {**FORM, "Cookie": cookie})
        return status, (answer.getheader("location") or "").partition("#code=")[2]

    def tokens(self, name: str) -> list[Any]:
        with closing(open_accounts(self.settings.library)) as accounts:
            return list(accounts.tokens(self.users[name]))

    def expect(self, what: str, got: object, wanted: object) -> None:
        self.attacks[what] += 1
        if got != wanted:
            self.faults.append(f"{what}: {got!r}, not {wanted!r}")


def fresh() -> tuple[str, str]:
    """A verifier and its challenge."""
    verifier = secrets.token_urlsafe(32)
    return verifier, grants.challenge_of(verifier)


@contextmanager
def served(library: str, *, shared: bool = True) -> Iterator[Place]:
    settings = Settings(library=library, shared=shared, token_requests=0)
    with closing(open_accounts(library)) as accounts:
        users = {name: app.add_user(accounts, name, PASSWORD).id for name in ("ada", "grace")} if shared else {}
    with running(settings) as port:
        yield Place(port, settings, users or {"local": settings.user})


def attack_codes(place: Place, rounds: int) -> None:
    """Other devices, replays, two at once, the end of a code, and the other user."""
    ada, grace = place.sign_in("ada"), place.sign_in("grace")
    for _ in range(rounds):
        verifier, challenge = fresh()
        other, other_challenge = fresh()
        status, code = place.confirm(ada, challenge)
        _, other_code = place.confirm(grace, other_challenge)
        place.expect("the control: a confirmation gives a code", (status, bool(code)), (303, True))
        for guess in (other, challenge, verifier[:-1], verifier + "A", verifier.swapcase(), "", code):
            place.expect("a third device with the code", place.exchange(code, guess)[0] in (401, 422), True)
        for guess in (other_code, code[:-1], code + "A", code.swapcase(), "", verifier, f"{code} {challenge}"):
            place.expect("a third device with the verifier", place.exchange(guess, verifier)[0] in (401, 422), True)
        before = len(place.tokens("ada"))
        with ThreadPoolExecutor(8) as pool:
            got = Counter(status for status, _ in pool.map(place.exchange, [code] * 8, [verifier] * 8))
        place.expect("eight exchanges at once", got, Counter({401: 7, 201: 1}))
        place.expect("tokens after eight at once", len(place.tokens("ada")), before)  # the code became the token
        for _ in range(3):
            place.expect("a replay of code and verifier", place.exchange(code, verifier)[0], 401)
        place.expect("the form of one user with the session of another", place.confirm(grace, challenge, ada)[0], 403)
        status, text = place.exchange(other_code, other)
        secret = json.loads(text)["secret"] if status == 201 else ""
        place.expect("a code confirmed by another user gives that user's token", [token.user_id for token in place.tokens("grace") if token.id == json.loads(text)["token"]["id"]], [place.users["grace"]])  # fmt: skip
        status, _, listed = place.ask("GET", "/api/v1/items", headers={"Authorization": f"Bearer {secret}"})
        place.expect("which reads that user's library only", (status, json.loads(listed).get("items")), (200, []))
        place.expect("a token confirms nothing", place.ask("POST", "/pair", urlencode({"challenge": challenge}), {**FORM, "Authorization": f"Bearer {secret}"})[0], 403)  # fmt: skip
        _, late = place.confirm(ada, challenge)
        ended = clock.add_seconds(clock.now(), grants.CODE_SECONDS + 1)
        with patch.object(clock, "now", lambda ended=ended: ended):
            place.expect("a code after two minutes", place.exchange(late, verifier)[0], 401)
        _, used = place.confirm(ada, challenge)
        attack_sign_in(place, used, challenge)
        clear(place)


def attack_sign_in(place: Place, code: str, challenge: str) -> None:
    """A code, and what is stored for it, used in every way of signing in."""
    for secret in (code, f"pairing {code} {challenge}", challenge):
        basic = base64.b64encode(f"ada:{secret}".encode()).decode()
        ways = {
            "bearer": {"Authorization": f"Bearer {secret}"},
            "basic": {"Authorization": f"Basic {basic}"},
            "token": {"Authorization": f"Token {secret}"},
            "cookie": {"Cookie": f"pagekeep_session={quote(secret)}"},
        }
        for path in (
            "/api/v1/items",
            "/",
            "/linkding/api/bookmarks/",
            "/opds/",
            "/wallabag/api/entries",
            "/mcp/",
            "/v2/crawl",
        ):
            for headers in ways.values():
                status = place.ask("GET", path, headers={**headers, "Accept": "application/json"})[0]
                place.expect("a code as a sign-in", status in (303, 401, 403, 404, 405, 406), True)
        for path in (f"/shared/{quote(secret)}", f"/feeds/{quote(secret)}"):
            place.expect("a code as a sign-in", place.ask("GET", path)[0] in (303, 401, 404), True)
        grant = {
            "grant_type": "password",
            "client_id": "x",
            "client_secret": "y",
            "username": "ada",
            "password": secret,
        }
        status = place.ask("POST", "/wallabag/oauth/v2/token", urlencode(grant), FORM, at="127.0.7.7")[0]
        place.expect("a code as a sign-in", status in (400, 401, 429), True)
        form = urlencode({"name": "ada", "password": secret})
        place.expect(
            "a code as a sign-in", place.ask("POST", "/sign-in", form, FORM, at="127.0.7.8")[0] in (401, 429), True
        )


def clear(place: Place) -> None:
    """Take back the tokens, and forget the failures of this round."""
    with closing(open_accounts(place.settings.library)) as accounts:
        for user in place.users.values():
            for token in accounts.tokens(user):
                accounts.revoke(user, token.id)


def attack_by_guesses(place: Place, guesses: int, addresses: int) -> None:
    """Guess codes while one waits; the guesses get slower, and the one who has the verifier connects meanwhile."""
    cookie = place.sign_in("ada")
    verifier, challenge = fresh()
    with closing(open_accounts(place.settings.library)) as accounts:
        reader = app.add_token(accounts, place.users["ada"], "reader").secret
    over, served = threading.Event(), Counter[int]()

    def read() -> None:
        while not over.is_set():
            served[
                place.ask("GET", "/api/v1/items", headers={"Authorization": f"Bearer {reader}"}, at="127.0.9.9")[0]
            ] += 1

    _, code = place.confirm(cookie, challenge)
    thread = threading.Thread(target=read)
    thread.start()
    began = time.monotonic()
    try:
        with ThreadPoolExecutor(32) as pool:
            work = pool.map(lambda number: place.exchange(secrets.token_urlsafe(32), verifier, f"127.0.8.{1 + number % addresses}")[0], range(guesses))  # fmt: skip
            got = Counter(work)
    finally:
        over.set()
        thread.join()
    seconds = time.monotonic() - began
    place.attacks["guesses of a code, with the right verifier"] += guesses
    place.faults += [] if set(got) <= {401, 429} else [f"guesses were answered {dict(got)}"]
    place.faults += [] if set(served) == {200} else [f"a reader was answered {dict(served)} during guesses"]
    place.expect("the right device connects after the guesses", place.exchange(code, verifier, "127.0.9.8")[0], 201)
    print(
        f"       {guesses} guesses from {addresses} addresses: {guesses / seconds:.0f} a second, {dict(got)}; reader {dict(served)}"
    )


# What a page of another site tries at `to`, the address of `/pair` with a challenge whose verifier it knows.
PHISHING: Final = {
    "form": "form('post', '_blank')",
    "form in a frame": "add('iframe', { name: 'inside' }); form('post', 'inside')",
    "form as text": "form('post', '_blank', 'text/plain')",
    "form in parts": "form('post', '_blank', 'multipart/form-data')",
    "form of a sandbox": "add('iframe', { sandbox: 'allow-forms allow-scripts allow-popups', srcdoc: page })",
    "form of data": "add('iframe', { src: 'data:text/html,' + encodeURIComponent(page) })",
    "form without referrer": "add('meta', { name: 'referrer', content: 'no-referrer' }); form('post', '_blank')",
    "fetch": "send('cors', 'application/x-www-form-urlencoded')",
    "fetch without answer": "send('no-cors', 'application/x-www-form-urlencoded')",
    "fetch of text": "send('no-cors', 'text/plain')",
    "fetch of JSON": "send('cors', 'application/json')",
    "fetch with the method in a header": "fetch(to, { mode: 'cors', credentials: 'include', headers: { 'X-HTTP-Method-Override': 'POST' } }).then(show, () => 0)",
    "request": "const x = new XMLHttpRequest(); x.withCredentials = true; x.onload = () => take(x.responseText); x.open('POST', to); x.send(body)",
    "beacon": "navigator.sendBeacon(to, new URLSearchParams(body))",
    "frame": "const f = add('iframe', { src: to }); f.onload = () => { try { take(f.contentDocument.body.textContent); } catch {} }",
    "frame without a name": "const f = add('iframe', { src: to, sandbox: '' })",
    "frame without credentials": "const f = add('iframe', { credentialless: true, src: to })",
    "object": "add('object', { data: to })",
    "embed": "add('embed', { src: to })",
    "image": "add('img', { src: to, onload: () => take('image') })",
    "script": "add('script', { src: to, onload: () => take('script') })",
    "style": "add('link', { rel: 'stylesheet', href: to, onload: () => take('style') })",
    "prefetch": "add('link', { rel: 'prefetch', href: to })",
    "prerender": "add('script', { type: 'speculationrules', textContent: JSON.stringify({ prerender: [{ source: 'list', urls: [to] }] }) })",
    "exchange": "fetch(origin + '/api/v1/tokens/pairing', { method: 'POST', mode: 'cors', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ code: 'c'.repeat(43), verifier: 'v'.repeat(43) }) }).then(show, () => 0)",
    "worker": "new Worker(URL.createObjectURL(new Blob([`fetch('${to}', { method: 'POST', mode: 'no-cors', credentials: 'include', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: '${body}' })`])))",
    "window": "window.mine = open(to)",
    "window with a name": "open('about:blank', 'mine'); window.mine = open(to, 'mine')",
}  # fmt: skip
PRELUDE: Final = """
  globalThis.taken = [];
  const take = (value) => taken.push(String(value).slice(0, 300));
  const show = (got) => got.text().then(take);
  const add = (tag, values) => document.body.appendChild(Object.assign(document.createElement(tag), values));
  const origin = new URL(to).origin;
  const body = new URL(to).search.slice(1);
  const fields = [...new URLSearchParams(body)];
  const page = `<form id=f method=post action="${origin}/pair">${fields.map(([k, v]) => `<input name=${k} value="${v}">`).join('')}</form><script>f.submit()</script>`;
  const form = (method, target, enctype) => {
    const made = add('form', { method, target, action: origin + '/pair', ...(enctype && { enctype }) });
    for (const [name, value] of fields) made.append(Object.assign(document.createElement('input'), { name, value }));
    made.submit();
  };
  const send = (mode, type) => fetch(origin + '/pair', { method: 'POST', mode, credentials: 'include', headers: { 'content-type': type }, body }).then(show, () => 0);
"""


async def _stranger(_request: Request, reply: Reply) -> None:
    await reply.send("<!doctype html><title>A prize</title><body><p>You have won.</p></body>")


def attack_by_pages(place: Place, ways: list[str], *, name: str) -> None:
    """Phishing pages of another host and of another port, in a browser in which the user is signed in."""
    from playwright.sync_api import Error, sync_playwright

    found = chromium.find_chromium()
    with Site({"": _stranger}) as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(found.path), args=["--no-sandbox", "--disable-gpu"])
        home = f"http://127.0.0.1:{place.port}"
        for host in ("localhost", "127.0.0.1"):
            for way in ways:
                context = browser.new_context()
                if name != "local":
                    cookie = place.sign_in(name).partition("=")
                    context.add_cookies([{"name": cookie[0], "value": cookie[2], "url": home}])
                page = context.new_page()
                page.goto(site.url("/", host=host))
                _, challenge = fresh()
                to = f"{home}/pair?{urlencode({'challenge': challenge, 'client': 'Chromium'})}"
                page.evaluate(f"(to) => {{ {PRELUDE} {PHISHING[way]}; }}", to)
                place.attacks["phishing pages"] += 1
                clicked = _click_if_shown(context, page, to) if way.startswith("window") else ""
                with suppress(Error):
                    page.wait_for_load_state("networkidle")
                seen = page.evaluate(
                    "JSON.stringify([taken, (() => { try { return mine.location.href; } catch { return ''; } })(), location.href])"
                )
                codes = [token for token in place.tokens(name) if token.purpose == "pairing"]
                if len(codes) != bool(clicked):
                    place.faults.append(f"{way} from {host}: {len(codes)} codes")
                if json.loads(seen)[0] or (clicked and clicked in seen) or "#code" in seen:
                    place.faults.append(f"{way} from {host} read {seen}")
                if clicked and any(clicked in str(request) for request in site.requests):
                    place.faults.append(f"{way} from {host} was sent the code")
                context.close()
                with closing(open_accounts(place.settings.library)) as accounts:
                    for token in accounts.tokens(place.users[name]):
                        accounts.revoke(place.users[name], token.id)
        browser.close()


def _click_if_shown(context: Any, stranger: Any, to: str) -> str:
    """The user falls for it and clicks on Connect; return the code, which the page must not get."""
    shown = next((page for page in context.pages if page is not stranger), None) or context.wait_for_event("page")
    shown.wait_for_url(to)
    shown.click("button:text('Connect')")
    shown.wait_for_url("**/pair/done#code=*")
    return str(shown.url).partition("#code=")[2]


def run(library: str, *, full: bool, browser: bool = True) -> Place:
    """Attack a shared server; return what was done and what fell."""
    with served(library) as place:
        attack_codes(place, 20 if full else 1)
        attack_by_guesses(place, 3_000 if full else 60, 20 if full else 3)
        clear(place)
        if browser:
            attack_by_pages(
                place, list(PHISHING) if full else ["form", "fetch without answer", "frame", "window"], name="ada"
            )
        return place


def run_alone(library: str, *, full: bool) -> Place:
    """Attack the server of one user, which asks for no sign-in, by pages."""
    with served(library, shared=False) as place:
        ways = list(PHISHING) if full else ["form of a sandbox", "beacon", "fetch of text", "window"]
        attack_by_pages(place, ways, name="local")
        return place


def main() -> int:
    full = "--full" in sys.argv
    places = {}
    with tempfile.TemporaryDirectory() as folder:
        places["SQLite"] = run(str(Path(folder) / "library.db"), full=full)
        places["SQLite, one user"] = run_alone(str(Path(folder) / "own.db"), full=full)
    with postgres_server() as server:
        places["PostgreSQL"] = run(server.shared, full=full, browser=False)
    for name, place in places.items():
        print(f"{name}: {place.attacks.total()} attacks; faults: {place.faults[:20] or 'none'}")
        for what, count in place.attacks.items():
            print(f"{count:7} {what}")
    return any(place.faults for place in places.values())


if __name__ == "__main__":
    sys.exit(main())
