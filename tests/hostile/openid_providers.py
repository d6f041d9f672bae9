"""An OpenID Connect provider, and an attacker between it and the browser, as the attacker of a live server.

`python -m tests.hostile.openid_providers [--full]`. Forged, swapped and malformed tokens, keys, descriptions and answers;
answers to other sign-ins; endless and silent responses. Only the one right flow signs in: it is run between the attacks.
No attack ends with a session, a status of 500, a request to another host, or a server that does not answer others.
"""

from __future__ import annotations

import base64
import hmac
import json
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import httpx2 as httpx
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from pagekeep.config import Settings
from pagekeep.identity import accounts, openid
from pagekeep.identity import openid as flow
from tests.browser.serving import Server
from tests.openid.provider import CLIENT, SECRET, TestProvider
from tests.site.server import Canary

TLS = ssl.create_default_context()
"""Made once: each browser would read all certificates again."""

BACK = "/sign-in/openid/callback"
PASSWORD = "nine stoves and a kettle"
SECONDS = 0.5
"""Of one request to the provider; silent ones are ended by it."""
Claims = dict[str, Any]


def encode(value: Any) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _with(**changes: Any) -> Callable[[Claims], Claims]:
    return lambda claims: {**claims, **changes}


def _without(name: str) -> Callable[[Claims], Claims]:
    return lambda claims: {key: value for key, value in claims.items() if key != name}


ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1.5,
    "",
    "x",
    [],
    {},
    [[]],
    ["x", None],
    10**400,
    float("nan"),
    "\ud800",
    "\x00",
)
LIES: dict[str, Callable[[Claims], Claims]] = {
    **{f"{name} is {value!r:.12}": _with(**{name: value}) for name in ("nonce", "aud", "iss", "sub") for value in ODD},
    **{f"no {name}": _without(name) for name in ("nonce", "aud", "iss", "sub", "exp", "iat")},
    **{f"exp is {value!r:.12}": _with(exp=value) for value in ODD if value is not True},
    **{f"iat is {value!r:.12}": _with(iat=value) for value in (None, "", "x", [], {}, 10**400, float("inf"), float("nan"))},
    **{f"nbf is {value!r:.12}": _with(nbf=value) for value in (10**400, float("inf"), 9e12)},
    "exp is infinite": _with(exp=float("inf")),
    "exp is NaN": _with(exp=float("nan")),
    "expired": lambda claims: {**claims, "exp": time.time() - 61},
    "expired by years": _with(exp=1),
    "from the future": lambda claims: {**claims, "iat": time.time() + 120},
    "another audience": _with(aud="shop"),
    "an audience in capitals": _with(aud=CLIENT.upper()),
    "an audience with a blank": _with(aud=f"{CLIENT} "),
    "audiences of objects": _with(aud=[{"id": CLIENT}]),
    "two audiences": _with(aud=[CLIENT, "shop"]),
    "two audiences, for the other": _with(aud=[CLIENT, "shop"], azp="shop"),
    "one audience, for another": _with(azp="shop"),
    "an audience that contains ours": _with(aud=f"x{CLIENT}x"),
    "another issuer": _with(iss="https://evil.example"),
    "an issuer that begins with ours": lambda claims: {**claims, "iss": f"{claims['iss']}.evil.example"},
    "an issuer with a slash": lambda claims: {**claims, "iss": f"{claims['iss']}/"},
    "an issuer with a user": lambda claims: {**claims, "iss": claims["iss"].replace("//", "//x@")},
    "a nonce in capitals": lambda claims: {**claims, "nonce": claims["nonce"].swapcase()},
    "half a nonce": lambda claims: {**claims, "nonce": claims["nonce"][:10]},
    "a nonce and more": lambda claims: {**claims, "nonce": claims["nonce"] + "x"},
    "nonces": lambda claims: {**claims, "nonce": [claims["nonce"]]},
    **{
        f"user {subject!r}": _with(sub=subject)
        for subject in ("ada-2", "ADA-1", "ada-1 ", " ada-1", "ada-1\x00", "ada-1\n", "ａda-1", "ada-1\u200b", "ada-1" * 60)
    },
    "user and a verified address of another": _with(sub="eve-1", email="bob@example.org", email_verified="true"),
    **{
        f"an address that is verified by {value!r}": _with(sub=f"eve-{value!r}", email="bob@example.org", email_verified=value)
        for value in ("true", "True", 1, 1.0, [True], {"x": 1}, None, "yes", False)
    },
    **{
        f"the address {address!r:.30}": _with(sub=f"eve-{address!r:.30}", email=address, email_verified=True)
        for address in (
            ["bob@example.org"], {"bob@example.org": 1}, "bob@example.org\x00", "bob@example.org, x", "bob@ｅxample.org",
            "bob@example.org\u200b", "bob@exampl\u212ae.org", "<bob@example.org>", "bob@example.org\ud800", "bob",
        )
    },
}  # fmt: skip
"""What a token says that is signed rightly but must not sign Ada or Bob in."""


def _by_secret(header: Claims, claims: Claims, secret: bytes, digest: str = "sha256") -> str:
    text = f"{encode(header)}.{encode(claims)}"
    return f"{text}.{encode(hmac.new(secret, text.encode(), digest).digest())}"


def _public(provider: TestProvider) -> Any:
    return provider.keys[0]


def _forgeries(provider: TestProvider, elsewhere: str) -> dict[str, Callable[[Claims], str]]:
    own = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
    curve = ECKey.generate_key("P-256", {"kid": "one", "use": "sig"})
    right = provider.sign_rightly
    shared: dict[str, bytes] = {
        "PEM": _public(provider).as_pem(private=False),
        "PEM without its end": _public(provider).as_pem(private=False).rstrip(),
        "DER": _public(provider).as_der(private=False),
        "JSON": json.dumps(_public(provider).as_dict(private=False)).encode(),
        "modulus": _public(provider).as_dict(private=False)["n"].encode(),
        "the client's secret": SECRET.encode(),
        "nothing": b"",
        "kid": b"one",
    }
    made: dict[str, Callable[[Claims], str]] = {
        f"alg {alg!r}": lambda claims, alg=alg: f"{encode({'alg': alg, 'kid': 'one'})}.{encode(claims)}."
        for alg in ("none", "None", "NONE", "nOnE", "", None, 0, [], ["RS256"], "RS256 ", "rs256", "HS256", "dir")
    }
    for name, secret in shared.items():
        for alg, digest in (("HS256", "sha256"), ("HS384", "sha384"), ("HS512", "sha512"), ("RS256", "sha256")):
            made[f"{alg} with {name}"] = lambda claims, a=alg, s=secret, d=digest: _by_secret(
                {"alg": a, "kid": "one"}, claims, s, d
            )
    heads: dict[str, Claims] = {
        "its own key": {"jwk": own.as_dict(private=False)},
        "the address of its keys": {"jku": f"{elsewhere}/keys"},
        "the address of its certificate": {"x5u": f"{elsewhere}/cert"},
        "its own certificate": {"x5c": ["MIIB"]},
        "a critical header": {"crit": ["exp"], "exp": 1},
        "a body that is not encoded": {"b64": False, "crit": ["b64"]},
        "compression": {"zip": "DEF"},
        "a path as the key's name": {"kid": "../../../../dev/null"},
        "SQL as the key's name": {"kid": "one' OR '1'='1"},
        "a long name of a key": {"kid": "x" * 20_000},
        "a number as the key's name": {"kid": 1},
        "no name of a key": {"kid": None},
    }
    for name, head in heads.items():
        made[f"another's signature and {name}"] = lambda claims, h=head: _signed_with(
            own, {"alg": "RS256", "kid": "one", **h}, claims
        )
    made |= {
        "another's signature": lambda claims: jwt.encode({"alg": "RS256", "kid": "one"}, claims, own),
        "another's curve": lambda claims: jwt.encode({"alg": "ES256", "kid": "one"}, claims, curve),
        "zeros on a curve": lambda claims: f"{encode({'alg': 'ES256', 'kid': 'one'})}.{encode(claims)}.{encode(bytes(64))}",
        "the end of the signature": lambda claims: right(claims)[:-8] + "AAAAAAAA",
        "no signature": lambda claims: right(claims).rpartition(".")[0] + ".",
        "two parts": lambda claims: right(claims).rpartition(".")[0],
        "five parts": lambda claims: right(claims) + ".a.b",
        "other claims": lambda claims: _swap(right({**claims, "sub": "eve-1"}), claims),
        "JSON": lambda claims: _as_json(right({**claims, "sub": "eve-1"}), claims),
        "dots": lambda claims: "." * 40_000,
        "60,000 characters": lambda claims: "x" * 60_000,
        "nothing": lambda claims: "",
        "not base64": lambda claims: "é.é.é",
        "a list as a header": lambda claims: f"{encode(['RS256'])}.{encode(claims)}.AAAA",
        "a deep header": lambda claims: f"{encode(b'[' * 20_000)}.{encode(claims)}.AAAA",
    }  # fmt: skip
    return made


def _signed_with(key: RSAKey, header: Claims, claims: Claims) -> str:
    """Return a token with any header, rightly signed with a key that is not the provider's."""
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.hashes import SHA256

    text = f"{encode(header)}.{encode(claims)}"
    return f"{text}.{encode(key.private_key.sign(text.encode(), PKCS1v15(), SHA256()))}"


def _swap(token: str, claims: Claims) -> str:
    head, _, signature = token.split(".")
    return f"{head}.{encode(claims)}.{signature}"


def _as_json(token: str, claims: Claims) -> str:
    head, _, signature = token.split(".")
    return json.dumps({"protected": head, "payload": encode(claims), "signature": signature})


def _key_sets(provider: TestProvider) -> dict[str, Any]:
    """Return what is sent instead of the provider's keys; its token is then signed by another party, with the shared secret."""
    secret = OctKey.import_key(b"0123456789abcdef0123456789abcdef", {"kid": "one"}).as_dict(private=True)
    one = _public(provider).as_dict(private=False)
    return {
        "a shared key": {"keys": [secret]},
        "a shared key, called RSA": {"keys": [{**secret, "kty": "RSA"}]},
        "a shared key, called another kind": {"keys": [{**secret, "kty": ["RSA"]}]},
        "none": {"keys": []},
        "no list": {"keys": {"one": one}},
        "no object": [one],
        "texts": {"keys": ["x", 1, None, [], "kty"]},
        "halves of keys": {"keys": [{"kty": "RSA", "kid": "one"}, {"kty": "EC", "kid": "one", "crv": "P-256"}]},
        "a modulus of a million bits": {"keys": [{**one, "n": encode(b"\xff" * 125_001)}]},
        "an exponent of a million bits": {"keys": [{**one, "e": encode(b"\xff" * 125_001)}]},
        "a modulus of 3,000 bits and as long an exponent": {
            "keys": [{**one, "n": encode(b"\xff" * 375), "e": encode(b"\xfd" * 375)}]
        },
        "an exponent of 1": {"keys": [{**one, "e": encode(b"\x01")}]},
        "a modulus of 1": {"keys": [{**one, "n": encode(b"\x01")}]},
        "a point that is not on the curve": {
            "keys": [{"kty": "EC", "kid": "one", "crv": "P-256", "x": encode(bytes(32)), "y": encode(bytes(32))}]
        },
        "unknown curves": {"keys": [{"kty": "OKP", "kid": "one", "crv": "X1", "x": "AA"}]},
        "10,000 keys": {"keys": [{**one, "kid": f"k{n}", "n": one["n"][:-4] + f"{n:04}"} for n in range(1_100)]},
        "keys for something else": {"keys": [{**one, "use": "enc", "key_ops": ["encrypt"]}]},
        "deep JSON": b"[" * 400_000,
        "a number of 400,000 digits": b'{"keys": ' + b"9" * 400_000 + b"}",
        "2 MB": {"keys": [], "x": "y" * 2_000_000},
        "not JSON": b"\xff\xfe",
    }


def _endless(first: bytes, part: bytes, pause: float) -> Callable[[Any], None]:
    def write(out: Any) -> None:
        with suppress(OSError):
            out.write(first)
            for _ in range(2_000):
                out.write(part)
                out.flush()
                time.sleep(pause)

    return write


_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"


def _responses(canary: Canary, other: str) -> dict[str, tuple[int, Any]]:
    """Return what a provider answers with at any of its addresses."""
    moves = {
        f"moves ({status}) to {where}": (
            200,
            _once(f"HTTP/1.1 {status} X\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"),
        )
        for status in (301, 302, 303, 307, 308)
        for where, to in (("a private address", f"http://127.0.0.9:{canary.port}/"), ("another host", f"{other}/token"))
    }
    return moves | {
        "endless": (200, _endless(_HEAD, b"[" * 65_536, 0)),
        "endless head": (200, _endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 1_000, 0)),
        "drip": (200, _endless(_HEAD, b" ", 0.02)),
        "silence": (200, _endless(b"", b"", 0.02)),
        "closed": (200, _once("")),
        "an error": (500, {"error": "x"}),
        "an error with status 200": (200, {"error": "invalid_grant"}),
        "created": (201, {"id_token": "x"}),
        "a list": (200, [1]),
        "text": (200, b"\xff\xff"),
        "deep": (200, b'{"a":' * 80_000),
    }


def _once(text: str) -> Callable[[Any], None]:
    return lambda out: out.write(text.encode())


@dataclass
class Attacked:
    """A live server with Ada, who is linked, and Bob, whose name is an address; and what went wrong."""

    server: Server
    provider: TestProvider
    elsewhere: TestProvider
    canary: Canary
    attacks: int = 0
    faults: list[str] = field(default_factory=list)

    def sign_rightly(self, claims: Claims) -> str:
        """Return a token with the provider's signature, whatever the claims are; libraries refuse to write some of them."""
        return _signed_with(self.provider.keys[0], {"alg": "RS256", "kid": "one"}, claims)

    def browser(self) -> httpx.Client:
        """A new browser."""
        return httpx.Client(base_url=self.server.url, timeout=60, headers={"accept": "text/html"}, verify=TLS)

    def begin(self, browser: httpx.Client) -> httpx.Response:
        """Go to the provider's page; what the server knew of the provider is forgotten."""
        known = self.server.app.state.service.openid
        known._described = known._keys = known._failed = None
        return browser.get("/sign-in/openid", params={"back": "/inbox"})

    def flow(self, name: str, *, right: bool = False, change: Callable[[Claims], Claims] | None = None) -> None:
        """Go through a whole flow; a session must result from the right one only."""
        self.attacks += not right
        with self.browser() as browser:
            begun = self.begin(browser)
            if begun.status_code == 303:
                answer = self.provider.agree(begun.headers["location"])
                self.check(name, browser, browser.get(BACK, params=change(answer) if change else answer), right=right)
            else:
                self.check(name, browser, begun, right=right)
        self.provider.claims, self.provider.sign = (lambda claims: claims), self.sign_rightly
        self.provider.instead, self.provider.description = {}, {}

    def check(self, name: str, browser: httpx.Client, answer: httpx.Response, *, right: bool = False) -> None:
        """Note a session that must not be, or one that is missing, and errors of the server."""
        is_in = browser.get("/settings").status_code == 200
        if is_in != right:
            self.faults.append(f"{name}: {'signed in' if is_in else f'refused ({answer.status_code})'}")
        if answer.status_code >= 500 or (not right and answer.status_code not in (401, 403)):
            self.faults.append(f"{name}: status {answer.status_code}")
        if self.canary.connections:
            self.faults.append(f"{name}: a private address was reached")
        if self.elsewhere.asked:
            self.faults.append(f"{name}: another host was asked for {self.elsewhere.asked}")
            self.elsewhere.asked.clear()


def _tokens(place: Attacked, step: int) -> None:
    for name, lie in list(LIES.items())[::step]:
        place.provider.claims = lie
        place.flow(name)
    place.flow("the right flow", right=True)
    for name, forge in list(_forgeries(place.provider, place.elsewhere.issuer).items())[::step]:
        place.provider.sign = forge
        place.flow(name)
    place.flow("the right flow", right=True)


def _keys(place: Attacked, step: int) -> None:
    secret = b"0123456789abcdef0123456789abcdef"
    for name, keys in list(_key_sets(place.provider).items())[::step]:
        place.provider.instead = {"/keys": (200, keys)}
        place.provider.sign = lambda claims: _by_secret({"alg": "HS256", "kid": "one"}, claims, secret)
        place.flow(f"keys: {name}")
    broken = [{"kty": "OKP", "kid": "odd", "crv": "X1", "x": "AA"}, {"kty": "RSA", "kid": "half"}, {"kty": "odd"}]
    keys = [*broken, _public(place.provider).as_dict(private=False)]
    place.provider.instead = {"/keys": (200, {"keys": keys})}
    place.flow("the right flow, with keys of other kinds beside the right one", right=True)


def _answers(place: Attacked, step: int) -> None:
    for path in ("/.well-known/openid-configuration", "/keys", "/token"):
        for name, answer in list(_responses(place.canary, place.elsewhere.issuer).items())[::step]:
            place.provider.instead = {path: answer}
            place.flow(f"{path}: {name}")
    private = f"http://127.0.0.9:{place.canary.port}/"
    for name, wrong in (
        ("another issuer", {"issuer": "https://evil.example"}),
        ("another's issuer", {"issuer": place.elsewhere.issuer}),
        ("no issuer", {"issuer": None}),
        ("private token endpoint", {"token_endpoint": private}),
        ("private keys", {"jwks_uri": private}),
        ("file as keys", {"jwks_uri": "file:///etc/passwd"}),
        ("script as page", {"authorization_endpoint": "javascript:alert(1)"}),
        ("no page", {"authorization_endpoint": ""}),
        ("a list as page", {"authorization_endpoint": ["x"]}),
    ):
        place.provider.description = wrong
        place.flow(f"description: {name}")
    place.flow("the right flow", right=True)


def _games(place: Attacked, rounds: int) -> None:
    """Answers of other sign-ins, of other browsers, and again."""
    changes: dict[str, Callable[[Claims], Claims]] = {
        "another state": _with(state="x"),
        "no state": _without("state"),
        "half a state": lambda sent: {**sent, "state": sent["state"][:10]},
        "two states": lambda sent: {**sent, "state": [sent["state"], "x"]},
        "no code": _without("code"),
        "another code": _with(code="x" * 30),
        "another provider": lambda sent: {**sent, "iss": place.elsewhere.issuer},
        "an error beside the code": _with(error="access_denied"),
        "odd characters": _with(state="\ud800".encode("utf-8", "surrogatepass"), code=b"\xff"),
    }
    for _ in range(rounds):
        for name, change in changes.items():
            place.flow(name, change=change)
        with place.browser() as ada, place.browser() as eve:
            of_ada = place.provider.agree(place.begin(ada).headers["location"])
            of_eve = place.provider.agree(place.begin(eve).headers["location"])
            kept = dict(ada.cookies)
            place.attacks += 5
            with place.browser() as fresh:
                place.check("an answer in a browser that did not ask", fresh, fresh.get(BACK, params=of_eve))
            with place.browser() as mixed:
                mixed.cookies.update(kept)
                sent = {**of_ada, "code": of_eve["code"]}
                place.check("another's code", mixed, mixed.get(BACK, params=sent))
            with place.browser() as first:
                first.cookies.update(kept)
                place.check("a used attempt", first, first.get(BACK, params=of_ada))
            place.check("an answer again", ada, ada.get(BACK, params=of_ada))
            with place.browser() as tampered:
                name, value = next(iter(kept.items()))
                tampered.cookies.set(name, value[:-1] + ("0" if value[-1] != "0" else "1"))
                place.check("a changed attempt", tampered, tampered.get(BACK, params=of_ada))
        _replay(place)
        place.flow("the right flow", right=True)


def _replay(place: Attacked) -> None:
    """A provider that takes codes twice, and a browser that keeps its cookie: the second answer signs no one in."""
    with place.browser() as browser:
        sent = place.provider.agree(place.begin(browser).headers["location"])
        kept = dict(browser.cookies)
        asked = dict(place.provider._codes)
        browser.get(BACK, params=sent)
        place.provider._codes.update(asked)
        place.attacks += 1
        with place.browser() as again:
            again.cookies.update(kept)
            place.check("a code twice, at a provider that takes it", again, again.get(BACK, params=sent))


def _beside(place: Attacked, count: int) -> None:
    """While a silent provider keeps many callers waiting, the server answers others."""
    released = threading.Event()

    def wait(out: Any) -> None:
        released.wait(60)

    place.provider.instead = {"/.well-known/openid-configuration": (200, wait)}
    known = place.server.app.state.service.openid
    known._described = known._keys = known._failed = None
    asked = place.provider.asked.count("/.well-known/openid-configuration")
    with patch.object(flow, "_SECONDS", 60.0), ThreadPoolExecutor(count) as pool, place.browser() as browser:
        waiting = [
            pool.submit(httpx.get, f"{place.server.url}/sign-in/openid", timeout=90, verify=TLS) for _ in range(count)
        ]
        while place.provider.asked.count("/.well-known/openid-configuration") == asked:
            time.sleep(0.01)
        place.attacks += count
        for path in ("/healthz", "/sign-in"):
            if browser.get(path).status_code != 200:
                place.faults.append(f"beside a silent provider: {path} fails")
        done = browser.post("/sign-in", data={"name": "bob@example.org", "password": PASSWORD})
        if done.status_code != 303:
            place.faults.append(f"beside a silent provider: signing in fails ({done.status_code})")
        if any(one.done() for one in waiting):
            place.faults.append("beside a silent provider: this shows nothing")
        made = place.provider.asked.count("/.well-known/openid-configuration") - asked
        if made > 2:
            place.faults.append(f"{count} callers made {made} requests to the provider")
        released.set()
        for one in waiting:
            one.result()
    place.provider.instead = {}


@contextmanager
def _attacked() -> Iterator[Attacked]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        provider, elsewhere = TestProvider(), TestProvider()
        stack.callback(provider.close)
        stack.callback(elsewhere.close)
        settings = Settings(
            library=str(folder / "library.db"),
            allow_hosts=("127.0.0.1",),
            shared=True,
            openid_issuer=provider.issuer,
            openid_client_id=CLIENT,
            openid_client_secret=SECRET,
            openid_link_email=True,
            per_host_delay=0,
        )
        stack.enter_context(patch.object(flow, "_SECONDS", SECONDS))
        server = stack.enter_context(Server(settings))
        store = server.app.state.service.accounts
        for name in ("ada@example.org", "bob@example.org"):
            accounts.add_user(store, name, PASSWORD)
        openid.link(store, provider.issuer, "ada-1", "ada@example.org")
        yield Attacked(server, provider, elsewhere, stack.enter_context(Canary()))


def run(*, full: bool) -> tuple[int, list[str]]:
    """Attack; return how many attacks there were, and what went wrong."""
    step = 1 if full else 9
    with _attacked() as place:
        place.flow("the right flow", right=True)
        _tokens(place, step)
        _keys(place, step)
        _answers(place, step)
        _games(place, 10 if full else 1)
        _beside(place, 60 if full else 8)
        return place.attacks, place.faults


if __name__ == "__main__":
    made, found = run(full="--full" in sys.argv)
    print(f"OpenID providers: {made} attacks, {len(found)} faults", *found, sep="\n  ")
    sys.exit(bool(found))
