"""Sign-in with an OpenID Connect provider: its description and keys, the tokens it signs, and whose account they open."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import re
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import quote, quote_plus, urlencode, urlsplit

from pagekeep import clock, extras
from pagekeep.config import Settings
from pagekeep.errors import AccessError, NotAllowed, NotSignedIn, PagekeepError, StoreError
from pagekeep.fetch.client import Client
from pagekeep.identity import accounts as app
from pagekeep.identity.accounts import Accounts
from pagekeep.model import User
from pagekeep.text import one_line

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


ALGORITHMS: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
    "Ed25519",
)
"""Signatures with a key pair. Not `none`, and not those with a shared secret, which a public key could be mistaken for."""
SKEW_SECONDS: Final = 60.0
"""By which the clocks of the provider and of this server may differ."""
_MAX_TOKEN_CHARS: Final = 50_000
_MAX_SUBJECT_CHARS: Final = 255
_MAX_EMAIL_CHARS: Final = 200
_MAX_TIME: Final = 1e11
"""Seconds since 1970: the year 5138."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What a provider says about a user."""

    issuer: str
    subject: str
    """The user's name for programs; never given to anybody else."""
    name: str
    email: str
    """Only if the provider has verified it; else empty."""


def check_token(
    token: str, keys: list[dict[str, Any]], issuer: str, client_id: str, nonce: str, now: float
) -> Claims | None:
    """Return the claims of a token that is valid here and now; `None` when none of the keys has signed it.

    `NotSignedIn` when the token is signed, but meant for something else.
    """
    claims = _verify(token, keys)
    if claims is None:
        return None
    problem = _find_problem(claims, issuer, client_id, nonce, now)
    if problem:
        raise NotSignedIn(f"The ID token {problem}.", suggestions=("Try again.",))
    email = claims.get("email") if claims.get("email_verified") is True else ""
    email = email if isinstance(email, str) and len(email) <= _MAX_EMAIL_CHARS and email.isprintable() else ""
    names = (claims.get("preferred_username"), email, claims.get("name"))
    name = next((name for name in names if isinstance(name, str) and name.strip()), "")
    return Claims(issuer.rstrip("/"), claims["sub"], one_line(name)[:200], email)


def _verify(token: str, keys: list[dict[str, Any]]) -> Mapping[str, Any] | None:
    try:
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import Key, KeySet, import_key
        from joserfc.jws import JWSRegistry
    except ImportError:
        extras.require("openid", "Sign-in with OpenID Connect", error=AccessError)
        raise
    if len(token) > _MAX_TOKEN_CHARS:
        return None
    faults = (JoseError, ValueError, KeyError, TypeError)
    public = list[Key]()
    for key in keys:
        if key.get("kty") in ("RSA", "EC", "OKP") and key.get("use", "sig") == "sig":
            with suppress(*faults):  # a kind of key that is not known here, beside others that are
                public.append(import_key(key))
    if not public:
        return None
    try:
        registry = JWSRegistry(algorithms=list(ALGORITHMS))
        decoded = jwt.decode(token, KeySet(public), registry=registry)
    except faults:
        return None
    return decoded.claims


def _find_problem(claims: Mapping[str, Any], issuer: str, client_id: str, nonce: str, now: float) -> str:
    """Return what is wrong with the claims; empty if nothing is."""
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    subject = claims.get("sub")
    sent = claims.get("nonce")
    if claims.get("iss") != issuer:
        return "is from another provider"
    if client_id not in audiences or claims.get("azp", client_id if len(audiences) == 1 else None) != client_id:
        return "is for another program"
    ends, begins = _time(claims.get("exp")), _time(claims.get("iat"))
    if ends is None or now > ends + SKEW_SECONDS:
        return "has expired"
    valid_from = _time(claims.get("nbf", begins))
    if begins is None or valid_from is None or max(begins, valid_from) > now + SKEW_SECONDS:
        return "is from the future: compare the clocks"
    if not isinstance(sent, str) or not hmac.compare_digest(sent.encode("utf-8", "surrogatepass"), nonce.encode()):
        return "belongs to another sign-in"
    # What cannot be stored as it is could be stored as the name of another.
    if not isinstance(subject, str) or not 0 < len(subject) <= _MAX_SUBJECT_CHARS or not subject.isprintable():
        return "names no user"
    return ""


def _time(value: object) -> float | None:
    """Return a time of a token, in seconds since 1970; `None` for anything that is not one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MAX_TIME:
        return None
    return float(value)


_NOT_IN_NAMES: Final = re.compile(r"[^\w.@+-]+")
_MAX_NAME_CHARS: Final = 50


def user_of(accounts: Accounts, settings: Settings, claims: Claims) -> User:
    """Return the user's account: the linked one, the one with their e-mail address as name, or a new one.

    The last two only if the settings allow it. `NotAllowed` when there is none, or it is disabled.
    """
    user_id = accounts.linked_user(claims.issuer, claims.subject)
    user = accounts.user(user_id) if user_id is not None else None
    if user is None and settings.openid_link_email and claims.email:
        user = _with_email(accounts, claims)
    if user is None and settings.openid_create_users:
        user = _create(accounts, claims)
    if user is None:
        raise NotAllowed(
            "There is no account for you here.",
            suggestions=(f"Tell the owner of the server your id there: {claims.subject}",),
        )
    if user.disabled:
        raise NotAllowed("Your account is disabled.", suggestions=("Ask the owner of the server.",))
    return user


def link(accounts: Accounts, issuer: str, subject: str, name: str) -> User:
    """Let a user of the provider open the account with this name."""
    user = app.find_user(accounts, name)
    accounts.link_user(issuer, subject, user.id, clock.now())
    return user


def unlink(accounts: Accounts, name: str) -> User:
    """Let no user of a provider open the account with this name; their sessions end."""
    user = app.find_user(accounts, name)
    accounts.unlink_user(user.id)
    return user


def _with_email(accounts: Accounts, claims: Claims) -> User | None:
    """Link the account whose name is the verified address, unless it is linked to another user there.

    Only the case of ASCII letters may differ. Other addresses that fold together (`straße`, ligatures, the Kelvin sign) can
    be mailboxes of others, so their users are linked by hand.
    """
    if not claims.email.isascii():
        return None
    try:
        user = accounts.find_user(app.clean_name(claims.email))
    except NotAllowed:  # an address that cannot be a name
        return None
    if user is None or user.disabled or accounts.is_linked(claims.issuer, user.id):
        return None
    accounts.link_user(claims.issuer, claims.subject, user.id, clock.now())
    return user


def _create(accounts: Accounts, claims: Claims) -> User:
    """Add an account without a password. A name that is taken belongs to another user, so it gets an ending."""
    name = claims.name if claims.name.isascii() else claims.name.replace("@", "-")  # an address is ASCII
    wanted = _NOT_IN_NAMES.sub("-", name).strip("-")[:_MAX_NAME_CHARS] or "user"
    ending = app.digest(f"{claims.issuer} {claims.subject}")[:8]
    for name in (wanted, f"{wanted}-{ending}"):
        try:
            user = accounts.add_user(app.clean_name(name), None, clock.now())
        except StoreError:
            continue
        accounts.link_user(claims.issuer, claims.subject, user.id, clock.now())
        return user
    raise NotAllowed("An account for you cannot be created.", suggestions=("Ask the owner of the server.",))
