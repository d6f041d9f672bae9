"""Users of a shared server: passwords, sessions, and tokens for programs."""

from __future__ import annotations

import hashlib
import ipaddress
import re
import secrets
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from pagekeep import clock, extras, store
from pagekeep.config import Settings
from pagekeep.errors import AccessError, NotAllowed, NotFound, NotSignedIn, TooManyRequests
from pagekeep.model import DIALECTS, FEED, PAIRING, PUBLISHED, SCOPES, Purpose, Scope, Session, Token, User
from pagekeep.store import LOCAL_USER
from pagekeep.store import Accounts as Accounts
from pagekeep.store.tables.accounts import session_id
from pagekeep.text import one_line

if TYPE_CHECKING:
    from argon2 import PasswordHasher


TOKEN_PREFIX: Final = "pk_"
"""Lets people, and scanners for leaked secrets, recognise our tokens."""
SESSION_SECONDS: Final = 30 * 86_400.0
MIN_PASSWORD_CHARS: Final = 10
_MAX_PASSWORD_CHARS: Final = 1_000
"""Argon2 would take long for a megabyte."""
_MAX_TOKEN_NAME_CHARS: Final = 100
GRANT_PREFIX: Final = "Signed in: "
"""Begins the names of tokens that a program got by a password."""
_MAX_TOKENS: Final = 100
_NAME: Final = re.compile(r"[\w.@+-]{1,64}")
_MARK_USED_SECONDS: Final = 60.0
"""How often the use of a token is stored: not at every request, as each is a write."""

_WINDOW_SECONDS: Final = 15 * 60.0
"""Time over which failed sign-ins are counted."""
MAX_FAILURES_BY_ADDRESS_AND_NAME: Final = 5
MAX_FAILURES_BY_ADDRESS: Final = 20
MAX_FAILURES_BY_NAME: Final = 50
"""From all addresses together: high, because an attacker who reaches it locks the user out too."""

_sign_ins = threading.BoundedSemaphore(8)
"""Sign-ins at the same time: more would take the threads that serve other requests."""
_hashes = threading.BoundedSemaphore(2)
"""Hashes at the same time: each takes 64 MB of memory."""


class SignedIn(NamedTuple):
    """A user who signed in, and the key of the session."""

    user: User
    session: str


class NewToken(NamedTuple):
    """A token and its secret, which is not stored and cannot be shown again."""

    token: Token
    secret: str


def open_accounts(settings: Settings) -> Accounts:
    """Open the accounts beside the library that the settings name; close them after use."""
    return store.open_accounts(settings.library)


def digest(secret: str) -> str:
    """Return the form in which a token or session key is stored: reading the database does not reveal the secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


# Users


def add_user(accounts: Accounts, name: str, password: str, *, takes_local: bool = False) -> User:
    """Add a user; with `takes_local` they get the library that was used before there were users."""
    name, hashed = clean_name(name), _hash(password)
    if takes_local and accounts.user(LOCAL_USER) is not None:
        raise NotAllowed("The local library already belongs to a user.")
    return accounts.add_user(name, hashed, clock.now(), user_id=LOCAL_USER if takes_local else None)


def find_user(accounts: Accounts, name: str) -> User:
    """Return the user with this name; `NotFound` when there is none."""
    user = accounts.find_user(_fold(name))
    if user is None:
        raise NotFound(f"There is no user {one_line(name):.64}.", suggestions=("List all users: pagekeep user list",))
    return user


def set_password(accounts: Accounts, name: str, password: str) -> User:
    """Change a user's password; all their sessions end, their tokens stay valid."""
    user = find_user(accounts, name)
    accounts.set_password(user.id, _hash(password))
    return user


def set_disabled(accounts: Accounts, name: str, disabled: bool) -> User:
    """Disable a user, who can then neither sign in nor use tokens, or enable them again."""
    user = find_user(accounts, name)
    accounts.set_disabled(user.id, disabled)
    return user


def clean_name(name: str) -> str:
    """Return a user name in its stored form, the same for every spelling of it.

    In an e-mail address only the case of ASCII letters may differ: other mailboxes that fold together belong to others.
    """
    folded = _fold(name)
    if "@" in folded and not name.isascii():
        raise NotAllowed(
            "An e-mail address as a user name may have ASCII characters only.",
            suggestions=("Choose a name without @, and link the user by hand: pagekeep user link",),
        )
    if not _NAME.fullmatch(folded):
        raise NotAllowed(
            "This is not a valid user name.", suggestions=("Use up to 64 letters, digits and the characters . _ @ + -",)
        )
    return folded


def _fold(name: str) -> str:
    return unicodedata.normalize("NFKC", name.strip()[:1_000]).casefold()


def _hash(password: str) -> str:
    if not MIN_PASSWORD_CHARS <= len(password) <= _MAX_PASSWORD_CHARS:
        problem = "short" if len(password) < MIN_PASSWORD_CHARS else "long"
        raise NotAllowed(
            f"The password is too {problem}.",
            suggestions=(f"Use {MIN_PASSWORD_CHARS} to {_MAX_PASSWORD_CHARS:,} characters.",),
        )
    with _hashes:
        return _hasher().hash(_bytes(password))


def _bytes(password: str) -> bytes:
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")


@cache
def _hasher() -> PasswordHasher:
    try:
        from argon2 import PasswordHasher
    except ImportError:
        extras.require("server", "A password", error=AccessError)
        from argon2 import PasswordHasher
    return PasswordHasher()


# Sessions


def sign_in(accounts: Accounts, name: str, password: str, address: str) -> SignedIn:
    """Start a session for the user; `NotSignedIn` for a wrong name or password, `TooManyRequests` after too many failures.

    An unknown name takes as long as a known one and gets the same error.
    """
    user = check_password(accounts, name, password, address)
    return SignedIn(user, open_session(accounts, user.id))


def check_password(accounts: Accounts, name: str, password: str, address: str) -> User:
    """Return the user if the password is right, without a session; the errors are those of `sign_in`."""
    user = _verify(accounts, name, password, address)
    if user is None:
        raise NotSignedIn("Wrong user name or password.", suggestions=("Try again.",))
    return user


def change_password(accounts: Accounts, user_id: str, old: str, new: str, address: str) -> SignedIn:
    """Change the user's password and start a new session.

    All sessions end, including the current one, as its key may have leaked. Tokens stay valid. A wrong old password counts
    as a failed sign-in.
    """
    user = accounts.user(user_id)
    if user is None:
        raise NotFound("This server has no users, so there is no password to change.")
    if _verify(accounts, user.name, old, address) is None:
        raise NotAllowed("The old password is wrong.", suggestions=("Try again.",))
    accounts.set_password(user.id, _hash(new))
    return SignedIn(user, open_session(accounts, user.id))


def _verify(accounts: Accounts, name: str, password: str, address: str) -> User | None:
    """Return the user if the password is right and they may sign in; otherwise count the failure and return `None`."""
    limits = _failure_limits(_fold(name), address)
    _check_limits(accounts, limits)
    with _sign_in_slot(), _hashes:
        _check_limits(accounts, limits)  # again: other attempts may have failed while this one waited
        user = accounts.find_user(_fold(name))
        if not _is_correct(user, password) or user is None or user.disabled:
            now = clock.now()
            for key in limits:
                accounts.note_failure(key, now, clock.add_seconds(now, -_WINDOW_SECONDS))
            return None
    # The count of the address stays: otherwise a user could sign in between guesses at the passwords of others.
    *by_name, _by_address = limits
    for key in by_name:
        accounts.forget_failures(key)
    return user


def _failure_limits(name: str, address: str) -> dict[str, int]:
    """Return the keys by which failures are counted, and their limits. They are digests, as a name may be any text."""
    network = network_of(address)
    return {
        digest(f"address and name {network} {name}"): MAX_FAILURES_BY_ADDRESS_AND_NAME,
        digest(f"name {name}"): MAX_FAILURES_BY_NAME,
        digest(f"address {network}"): MAX_FAILURES_BY_ADDRESS,
    }


def network_of(address: str) -> str:
    """Return the address; for IPv6 its /64 network, as one host has 2 to the 64 addresses."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    return str(ipaddress.ip_network((parsed, 64), strict=False)) if parsed.version == 6 else str(parsed)


def _check_limits(accounts: Accounts, limits: dict[str, int]) -> None:
    since = clock.add_seconds(clock.now(), -_WINDOW_SECONDS)
    if any(accounts.failures(key, since) >= limit for key, limit in limits.items()):
        raise TooManyRequests("Too many failed sign-ins.", suggestions=("Wait 15 minutes, then try again.",))


@contextmanager
def _sign_in_slot() -> Iterator[None]:
    if not _sign_ins.acquire(blocking=False):
        raise TooManyRequests("Too many users are signing in right now.", suggestions=("Try again in a moment.",))
    try:
        yield
    finally:
        _sign_ins.release()


def _is_correct(user: User | None, password: str) -> bool:
    from argon2.exceptions import InvalidHashError, VerificationError

    stored = user.password if user and user.password else _unusable_hash()
    try:
        _hasher().verify(stored, _bytes(password[:_MAX_PASSWORD_CHARS]))
    except (VerificationError, InvalidHashError):
        return False
    return user is not None


@cache
def _unusable_hash() -> str:
    """Return a hash to compare with for unknown names, so that they take as long as known ones."""
    return _hasher().hash(secrets.token_bytes(32))


def open_session(accounts: Accounts, user_id: str) -> str:
    """Start a session and return its key, which is new: a key planted before the sign-in would be worthless."""
    session, now = secrets.token_urlsafe(32), clock.now()
    accounts.open_session(digest(session), user_id, now, clock.add_seconds(now, SESSION_SECONDS))
    return session


def session_user(accounts: Accounts, session: str) -> User | None:
    """Return the user of a session that has not expired."""
    return accounts.session_user(digest(session), clock.now()) if session else None


def sign_out(accounts: Accounts, session: str) -> None:
    """End the session."""
    accounts.close_session(digest(session))


def sessions(accounts: Accounts, user_id: str) -> tuple[Session, ...]:
    """Return the user's sessions, newest first."""
    return accounts.sessions(user_id, clock.now())


def is_session(session: Session, key: str) -> bool:
    """Return whether the session has this key."""
    return session.id == session_id(digest(key))


# Tokens


def add_token(
    accounts: Accounts, user_id: str, name: str, scopes: tuple[Scope, ...] = SCOPES, *, days: float | None = None
) -> NewToken:
    """Add a token with which a program acts for the user, valid for `days` or until it is revoked.

    With the name of a dialect among its scopes, it opens the routes of that dialect only.
    """
    name = one_line(name)
    if not name or len(name) > _MAX_TOKEN_NAME_CHARS:
        raise NotAllowed(
            f"A token needs a name of 1 to {_MAX_TOKEN_NAME_CHARS} characters.",
            suggestions=("Name the program that uses it.",),
        )
    own = set(scopes) - set(DIALECTS)
    if scopes not in ((FEED,), (PUBLISHED,)) and (not own or not own <= set(SCOPES) or len(set(scopes) - own) > 1):
        names = f"{', '.join(SCOPES)}, and at most one of {', '.join(DIALECTS)}"
        raise NotAllowed("Unknown scope for a token.", suggestions=(f"Use one or more of: {names}.",))
    if sum(not is_granted(token) for token in accounts.tokens(user_id)) >= _MAX_TOKENS:
        raise NotAllowed(f"There are already {_MAX_TOKENS} tokens.", suggestions=("Revoke tokens you no longer use.",))
    secret, now = TOKEN_PREFIX + secrets.token_urlsafe(32), clock.now()
    until = clock.add_seconds(now, days * 86_400) if days is not None else None
    ordered = tuple(scope for scope in (*SCOPES, *DIALECTS, FEED, PUBLISHED) if scope in scopes)
    return NewToken(accounts.add_token(digest(secret), user_id, name, ordered, now, until), secret)


def is_granted(token: Token) -> bool:
    """Return whether a program got the token by a password, and not the user in the settings."""
    return token.dialect is not None and token.expires_at is not None and token.name.startswith(GRANT_PREFIX)


def get_tokens(accounts: Accounts, user_id: str) -> tuple[Token, ...]:
    """Return the user's tokens, oldest first; codes of a pairing are none."""
    return tuple(token for token in accounts.tokens(user_id) if PAIRING not in token.scopes)


def token_holder(
    accounts: Accounts, secret: str, *, purposes: tuple[Purpose, ...] = ("sign_in",), local: str | None = None
) -> tuple[Token, str]:
    """Return the token with this secret and its user's name, and store once a minute that it was used.

    A secret that was made for none of the purposes, such as one in the address of a feed, is as good as unknown. `local` is
    the user of a server without accounts, who needs none. `NotSignedIn` when the token is not valid.
    """
    now = clock.now()
    token = accounts.token(digest(secret), now)
    if token is None or token.purpose not in purposes:
        raise NotSignedIn("The token is unknown, expired or revoked.")
    user = accounts.user(token.user_id)
    if user is None and token.user_id != local:
        raise NotSignedIn("The token's user does not exist.")
    if user is not None and user.disabled:
        raise NotSignedIn("The token's user is disabled.")
    if token.last_used_at is None or clock.add_seconds(token.last_used_at, _MARK_USED_SECONDS) < now:
        accounts.mark_used(token.id, now)
    return token, user.name if user else token.user_id


def feed_user(accounts: Accounts, secret: str, *, local: str | None = None) -> str:
    """Return the user whose feed of changes has this secret in its address; `NotFound` when there is none."""
    return _feed_token(accounts, secret, "feed", local).user_id


def published_token(accounts: Accounts, secret: str, *, local: str | None = None) -> Token:
    """Return the token of a published feed by the secret in its address; `NotFound` when there is none."""
    return _feed_token(accounts, secret, "published", local)


def _feed_token(accounts: Accounts, secret: str, purpose: Purpose, local: str | None) -> Token:
    try:
        token, _ = token_holder(accounts, secret, purposes=(purpose,), local=local)
    except NotSignedIn:
        raise NotFound("There is no such feed.") from None
    return token


def revoke_token(accounts: Accounts, user_id: str, key: str) -> Token:
    """Revoke the token whose id is or starts with the key; `NotFound` unless there is exactly one."""
    tokens = [token for token in accounts.tokens(user_id) if key and token.id.startswith(key)]
    if len(tokens) != 1:
        count = "no token" if not tokens else "more than one token"
        raise NotFound(f"There is {count} with the id {key:.40}.", suggestions=("List tokens: pagekeep token list",))
    accounts.revoke(user_id, tokens[0].id)
    return tokens[0]
