"""The provider: where its pages are, its keys, and the exchange of a code for a token.

Its addresses are fetched like any page: a provider in a private network must be among `allow_hosts`.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import quote, quote_plus, urlencode, urlsplit

from pagekeep.config import Settings
from pagekeep.errors import NotSignedIn, PagekeepError
from pagekeep.fetch.client import Client
from pagekeep.openid.id_token import Claims, check_token

SCOPES: Final = "openid profile email"
_MAX_BYTES: Final = 500_000
_SECONDS: Final = 10.0
_KEEP_SECONDS: Final = 3600.0
"""How long the description and keys are used before they are fetched again."""
_FAILURE_SECONDS: Final = 5.0
"""How long a failure to get them is the answer to everyone who waits: anybody can begin a sign-in."""
_MAX_ENDED: Final = 10_000
_KEY_PAUSE: Final = 30.0
"""Seconds between two requests for keys because of a signature by an unknown one: anybody can send such a token."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A sign-in that has begun: what its end is compared with. The browser keeps it, signed."""

    state: str
    nonce: str
    verifier: str
    back: str


@dataclass(frozen=True, slots=True)
class Description:
    """What the provider says about itself."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    by_post: bool
    """Whether it takes the client's secret in the form only."""


def new_attempt(back: str) -> Attempt:
    """Return an attempt with new secrets."""
    return Attempt(secrets.token_urlsafe(24), secrets.token_urlsafe(24), secrets.token_urlsafe(48), back)


class Provider:
    """The provider in the settings. For one event loop."""

    def __init__(
        self,
        settings: Settings,
        client: Client,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._client = client
        self._clock = clock
        self._wall_clock = wall_clock
        self._described: tuple[float, Description] | None = None
        self._keys: tuple[float, list[dict[str, Any]]] | None = None
        self._asking = asyncio.Lock()
        self._failed: tuple[float, NotSignedIn] | None = None
        self._ended: dict[str, None] = {}
        """States of the attempts that have ended, the newest last; an attempt itself is in the browser only."""

    @property
    def is_set_up(self) -> bool:
        """Whether the settings name a provider."""
        return bool(self._settings.openid_issuer and self._settings.openid_client_id)

    @property
    def issuer(self) -> str:
        """The provider's address, by which it is known."""
        return (self._settings.openid_issuer or "").rstrip("/")

    async def sign_in_address(self, attempt: Attempt, redirect_uri: str) -> str:
        """Return the address of the provider's page where the user signs in."""
        about = await self._describe()
        challenge = hashlib.sha256(attempt.verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self._settings.openid_client_id or "",
            "redirect_uri": redirect_uri,
            "scope": SCOPES,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        join = "&" if urlsplit(about.authorization_endpoint).query else "?"
        return f"{about.authorization_endpoint}{join}{urlencode(query, quote_via=quote)}"

    async def claims(self, code: str, attempt: Attempt, redirect_uri: str) -> Claims:
        """Return what the provider says about the user who signed in; `NotSignedIn` if anything of it is not right.

        The attempt ends with this, whatever comes of it.
        """
        if attempt.state in self._ended:
            raise NotSignedIn("This sign-in has ended already.", suggestions=("Sign in again.",))
        self._ended[attempt.state] = None
        if len(self._ended) > _MAX_ENDED:
            del self._ended[next(iter(self._ended))]
        about = await self._describe()
        answer = await self._exchange(about, code, attempt, redirect_uri)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise NotSignedIn("The provider sent no ID token.", suggestions=("Try again.",))

        def check(keys: list[dict[str, Any]]) -> Claims | None:
            client_id = self._settings.openid_client_id or ""
            return check_token(token, keys, about.issuer, client_id, attempt.nonce, self._wall_clock())

        claims = await asyncio.to_thread(check, await self._load_keys(about))
        if claims is None:  # signed with a key that is new, perhaps
            claims = await asyncio.to_thread(check, await self._load_keys(about, again=True))
        if claims is None:
            raise NotSignedIn("The ID token is not signed by the provider.", suggestions=("Try again.",))
        return claims

    async def _exchange(self, about: Description, code: str, attempt: Attempt, redirect_uri: str) -> Mapping[str, Any]:
        client_id, secret = self._settings.openid_client_id or "", self._settings.openid_client_secret
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": attempt.verifier,
        }
        headers = {"content-type": "application/x-www-form-urlencoded"}
        if secret is None or about.by_post:
            form |= {"client_id": client_id} | ({"client_secret": secret} if secret is not None else {})
        else:
            pair = f"{quote_plus(client_id)}:{quote_plus(secret)}".encode()
            headers["authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        body = urlencode(form, errors="replace").encode()
        return await self._ask("POST", about.token_endpoint, body, headers)

    async def _describe(self) -> Description:
        async with self._asking:
            if self._described is None or self._clock() - self._described[0] > _KEEP_SECONDS:
                found = await self._ask_once(f"{self.issuer}/.well-known/openid-configuration")
                self._described = self._clock(), _read_description(found, self.issuer)
            return self._described[1]

    async def _load_keys(self, about: Description, *, again: bool = False) -> list[dict[str, Any]]:
        async with self._asking:
            age = self._clock() - self._keys[0] if self._keys is not None else _KEEP_SECONDS + 1
            if self._keys is None or age > (_KEY_PAUSE if again else _KEEP_SECONDS):
                keys = (await self._ask_once(about.jwks_uri)).get("keys")
                known = [key for key in keys if isinstance(key, dict)] if isinstance(keys, list) else []
                self._keys = self._clock(), known[:100]
            return self._keys[1]

    async def _ask_once(self, url: str) -> Mapping[str, Any]:
        """Ask for a description or keys; after a failure everyone who waited gets that error, without another request."""
        if self._failed is not None and self._clock() - self._failed[0] < _FAILURE_SECONDS:
            raise NotSignedIn(self._failed[1].message, suggestions=self._failed[1].suggestions)
        try:
            found = await self._ask("GET", url)
        except NotSignedIn as error:
            self._failed = self._clock(), error
            raise
        self._failed = None
        return found

    async def _ask(
        self, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Mapping[str, Any]:
        """Return the JSON object that the provider answers with; `NotSignedIn` for anything else."""
        try:
            got = await self._client.send(method, url, body, headers=headers, max_bytes=_MAX_BYTES, deadline=_SECONDS)
        except PagekeepError as error:
            message = f"The sign-in provider cannot be reached: {error.message}"
            raise NotSignedIn(message, suggestions=error.suggestions) from None
        try:
            found = json.loads(got.body) if got.status == 200 else None
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise NotSignedIn(
                "The sign-in provider refused, or its answer cannot be read.", suggestions=("Try again.",)
            )
        return cast("Mapping[str, Any]", found)


def _read_description(found: Mapping[str, Any], issuer: str) -> Description:
    """Return the description if it is the issuer's own, and all its addresses are as secure as the issuer's."""
    if found.get("issuer") not in (issuer, f"{issuer}/"):
        raise NotSignedIn(
            "The provider describes itself under another name.",
            suggestions=("Check the setting `openid_issuer` against its configuration.",),
        )
    addresses = [found.get(name) for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")]
    scheme = urlsplit(issuer).scheme
    texts = [
        address
        for address in addresses
        if isinstance(address, str) and address.startswith(("https://", f"{scheme}://"))
    ]
    if len(texts) != len(addresses):
        raise NotSignedIn("The provider's configuration lacks an address.", suggestions=("Check `openid_issuer`.",))
    ways = found.get("token_endpoint_auth_methods_supported")
    by_post = isinstance(ways, list) and "client_secret_basic" not in ways and "client_secret_post" in ways
    return Description(str(found["issuer"]), texts[0], texts[1], texts[2], by_post)
