"""An OpenID Connect provider on this machine, which can be made to lie."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

CLIENT, SECRET = "pagekeep", "a secret with + and %"


class TestProvider:
    """Gives codes, and tokens for them. `claims` and `sign` can be replaced."""

    __test__ = False

    def __init__(self) -> None:
        self.keys: list[Any] = [RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})]
        self.user: dict[str, Any] = {"sub": "ada-1", "email": "ada@example.org", "email_verified": True}
        self.claims: Callable[[dict[str, Any]], dict[str, Any]] = lambda claims: claims
        self.sign: Callable[[dict[str, Any]], str] = self.sign_rightly
        self.description: dict[str, Any] = {}
        self.instead: dict[str, tuple[int, Any]] = {}
        """Answers at some paths instead of the right ones."""
        self.asked: list[str] = []
        self._codes: dict[str, dict[str, str]] = {}
        handler = type("Handler", (_Handler,), {"provider": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()

    def agree(self, address: str) -> dict[str, str]:
        """The user signs in on the page at the address; return what the browser is sent back with."""
        asked = dict(parse_qsl(urlsplit(address).query))
        assert asked["client_id"] == CLIENT
        assert asked["response_type"] == "code"
        assert "openid" in asked["scope"].split()
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe()
        self._codes[code] = asked
        return {"code": code, "state": asked["state"], "iss": self.issuer}

    def rotate(self) -> None:
        """Sign with a new key from now on."""
        self.keys = [ECKey.generate_key("P-256", {"kid": secrets.token_hex(4), "use": "sig"})]

    def sign_rightly(self, claims: dict[str, Any]) -> str:
        """Return the claims as a token, signed with the newest key."""
        key = self.keys[-1]
        algorithm = "RS256" if isinstance(key, RSAKey) else "ES256"
        return jwt.encode({"alg": algorithm, "kid": key.kid}, claims, key)

    def answer(self, path: str, form: dict[str, str], authorization: str) -> tuple[int, Any]:
        """Return the status and JSON for a request; or bytes, or a function that writes the response."""
        self.asked.append(path)
        if path in self.instead:
            return self.instead[path]
        if path == "/.well-known/openid-configuration":
            return 200, {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize?tenant=a",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                **self.description,
            }
        if path == "/keys":
            return 200, {"keys": [key.as_dict(private=False) for key in self.keys]}
        asked = self._codes.pop(form.get("code", ""), None) if path == "/token" else None
        by_basic = base64.b64encode(b"pagekeep:a+secret+with+%2B+and+%25").decode()
        knows = authorization == f"Basic {by_basic}" or (form.get("client_id"), form.get("client_secret")) == (
            CLIENT,
            SECRET,
        )
        if asked is None or not knows or form.get("redirect_uri") != asked["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
        if challenge.decode() != asked["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked["nonce"], **self.user}
        return 200, {"access_token": "x", "token_type": "Bearer", "id_token": self.sign(self.claims(claims))}


class _Handler(BaseHTTPRequestHandler):
    provider: TestProvider

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        self._answer({name: values[-1] for name, values in parse_qs(body).items()})

    def _answer(self, form: dict[str, str]) -> None:
        status, body = self.provider.answer(urlsplit(self.path).path, form, self.headers.get("authorization", ""))
        if callable(body):  # it writes by itself
            body(self.wfile)
            self.close_connection = True
            return
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
