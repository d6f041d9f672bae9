"""Who may use a shared server: passwords, signing in and out, and tokens for programs.

Secrets are kept as digests: passwords, which people choose, as Argon2 hashes; session keys and tokens, which are random and
long, as plain ones.
"""

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

from pagekeep import clock
from pagekeep.errors import AccessError, NotAllowed, NotFound, NotSignedIn, TooManyRequests
from pagekeep.model import SCOPES, Scope, Session, Token, User
from pagekeep.store import LOCAL_USER, Accounts
from pagekeep.store.tables.accounts import session_id
from pagekeep.text import one_line

if TYPE_CHECKING:
    from argon2 import PasswordHasher

TOKEN_PREFIX: Final = "pk_"
"""By which people, and programs that look for leaked secrets, know ours."""
SESSION_SECONDS: Final = 30 * 86_400.0
SHORTEST_PASSWORD: Final = 10
_LONGEST_PASSWORD: Final = 1_000
_LONGEST_TOKEN_NAME: Final = 100
_MOST_TOKENS: Final = 100
_NAME: Final = re.compile(r"[\w.@+-]{1,64}")
_USED_EVERY: Final = 60.0
"""Seconds after which it is noted again that a token was used."""

_WINDOW: Final = 15 * 60.0
"""Seconds over which sign-ins that failed are counted."""
MOST_BY_ADDRESS_AND_NAME: Final = 5
MOST_BY_ADDRESS: Final = 20
MOST_BY_NAME: Final = 50
"""From everywhere: high, because whoever reaches it shuts out the user as well."""

_seats = threading.BoundedSemaphore(8)
"""Sign-ins in hand: more would take the threads that answer everybody else."""
_hashing = threading.BoundedSemaphore(2)
"""Each takes 64 MB."""


class SignedIn(NamedTuple):
    """Someone who signed in, and the key that says so from now on."""

    user: User
    session: str


class NewToken(NamedTuple):
    """A token and its secret, which is not kept and cannot be shown again."""

    token: Token
    secret: str


def digest(secret: str) -> str:
    """How a token or session key is kept: whoever sees the database cannot use it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


# People


def add_user(accounts: Accounts, name: str, password: str, *, takes_local: bool = False) -> User:
    """A new user; `takes_local` gives them the library that was kept here before there were users."""
    name, hashed = clean_name(name), _hashed(password)
    if takes_local and accounts.user(LOCAL_USER) is not None:
        raise NotAllowed("The library of before has its user already.")
    return accounts.add_user(name, hashed, clock.now(), user_id=LOCAL_USER if takes_local else None)


def find_user(accounts: Accounts, name: str) -> User:
    """The user of that name."""
    user = accounts.find_user(_folded(name))
    if user is None:
        raise NotFound("There is no user of that name.", suggestions=("See them all: pagekeep user list",))
    return user


def set_password(accounts: Accounts, name: str, password: str) -> User:
    """Give a user another password; they are signed out everywhere, their tokens stay good."""
    user = find_user(accounts, name)
    accounts.set_password(user.id, _hashed(password))
    return user


def set_disabled(accounts: Accounts, name: str, disabled: bool) -> User:
    """Let a user in no more, by whatever way, or again."""
    user = find_user(accounts, name)
    accounts.set_disabled(user.id, disabled)
    return user


def clean_name(name: str) -> str:
    """A name as it is kept: one person's, however it is written."""
    folded = _folded(name)
    if not _NAME.fullmatch(folded):
        raise NotAllowed("That is no name for a user.", suggestions=("Up to 64 letters, digits, and . _ @ + -",))
    return folded


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name.strip()[:1_000]).casefold()


def _hashed(password: str) -> str:
    if not SHORTEST_PASSWORD <= len(password) <= _LONGEST_PASSWORD:
        raise NotAllowed(
            "That is no password to trust.", suggestions=(f"Take one of at least {SHORTEST_PASSWORD} characters.",)
        )
    with _hashing:
        return _hasher().hash(_bytes(password))


def _bytes(password: str) -> bytes:
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")


@cache
def _hasher() -> PasswordHasher:
    try:
        from argon2 import PasswordHasher
    except ImportError:
        raise AccessError(
            "Passwords need one more package.", suggestions=("Install it: pip install 'pagekeep[server]'.",)
        ) from None
    return PasswordHasher()


# Signing in


def sign_in(accounts: Accounts, name: str, password: str, address: str) -> SignedIn:
    """A session for whoever knows the password; `TooManyRequests` when there were too many tries of late.

    A name that is not known takes as long as one that is, and gets the same answer.
    """
    user = _proven(accounts, name, password, address)
    if user is None:
        raise NotSignedIn("Name or password is wrong.", suggestions=("Try again.",))
    return SignedIn(user, open_session(accounts, user.id))


def change_password(accounts: Accounts, user_id: str, old: str, new: str, address: str) -> SignedIn:
    """Another password for whoever knows the old one, and a new session.

    All sessions end, also the one that asks: whoever else has its key is to lose it. Tokens stay good. Guessing at the old
    one counts as signing in does.
    """
    user = accounts.user(user_id)
    if user is None:
        raise NotFound("Nobody signs in here, so there is no password to change.")
    if _proven(accounts, user.name, old, address) is None:
        raise NotAllowed("The old password is wrong.", suggestions=("Try again.",))
    accounts.set_password(user.id, _hashed(new))
    return SignedIn(user, open_session(accounts, user.id))


def _proven(accounts: Accounts, name: str, password: str, address: str) -> User | None:
    """The user, if this is their password and they may sign in; the failure is counted otherwise."""
    keys = _keys(_folded(name), address)
    _refuse_too_many(accounts, keys)
    with _seat(), _hashing:
        _refuse_too_many(accounts, keys)  # again: others may have failed while this one waited
        user = accounts.find_user(_folded(name))
        if not _is_right(user, password) or user is None or user.disabled:
            now = clock.now()
            for key in keys:
                accounts.note_failure(key, now, clock.after(now, -_WINDOW))
            return None
    *of_the_name, _of_the_address = keys  # the latter stays: whoever has a name of their own could guess on at others
    for key in of_the_name:
        accounts.forget_failures(key)
    return user


def _keys(name: str, address: str) -> dict[str, int]:
    """What failures are counted by, and how many are too many. The digest because anyone may write anything as a name."""
    network = _network(address)
    return {
        digest(f"address and name {network} {name}"): MOST_BY_ADDRESS_AND_NAME,
        digest(f"name {name}"): MOST_BY_NAME,
        digest(f"address {network}"): MOST_BY_ADDRESS,
    }


def _network(address: str) -> str:
    """Whoever has an IPv6 address has 2 to the 64 of them."""
    try:
        known = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    return str(ipaddress.ip_network((known, 64), strict=False)) if known.version == 6 else str(known)


def _refuse_too_many(accounts: Accounts, keys: dict[str, int]) -> None:
    since = clock.after(clock.now(), -_WINDOW)
    if any(accounts.failures(key, since) >= most for key, most in keys.items()):
        raise TooManyRequests("Signing in failed too often.", suggestions=("Wait a quarter of an hour.",))


@contextmanager
def _seat() -> Iterator[None]:
    if not _seats.acquire(blocking=False):
        raise TooManyRequests("Too many people sign in just now.", suggestions=("Try again in a moment.",))
    try:
        yield
    finally:
        _seats.release()


def _is_right(user: User | None, password: str) -> bool:
    from argon2.exceptions import InvalidHashError, VerificationError

    known = user.password if user and user.password else _nobodys_password()
    try:
        _hasher().verify(known, _bytes(password[:_LONGEST_PASSWORD]))
    except (VerificationError, InvalidHashError):
        return False
    return user is not None


@cache
def _nobodys_password() -> str:
    return _hasher().hash(secrets.token_bytes(32))


def open_session(accounts: Accounts, user_id: str) -> str:
    """A new session's key, which nobody can have known before."""
    session, now = secrets.token_urlsafe(32), clock.now()
    accounts.open_session(digest(session), user_id, now, clock.after(now, SESSION_SECONDS))
    return session


def session_user(accounts: Accounts, session: str) -> User | None:
    """Whose session this is, while it lasts."""
    return accounts.session_user(digest(session), clock.now()) if session else None


def sign_out(accounts: Accounts, session: str) -> None:
    """The session is over."""
    accounts.close_session(digest(session))


def sessions(accounts: Accounts, user_id: str) -> tuple[Session, ...]:
    """Where the user is signed in, newest first."""
    return accounts.sessions(user_id, clock.now())


def is_session(session: Session, key: str) -> bool:
    """Whether this is the session with that key."""
    return session.id == session_id(digest(key))


def end_session(accounts: Accounts, user_id: str, key: str) -> None:
    """The user's session with this id is over, wherever it is."""
    accounts.end_session(user_id, key)


# Tokens


def add_token(
    accounts: Accounts, user_id: str, name: str, scopes: tuple[Scope, ...] = SCOPES, *, days: float | None = None
) -> NewToken:
    """A token by which a program acts for the user, good for so many days or until it is revoked."""
    name = one_line(name)
    if not name or len(name) > _LONGEST_TOKEN_NAME:
        raise NotAllowed("A token needs a name.", suggestions=("Say in a few words which program it is for.",))
    if not scopes or not set(scopes) <= set(SCOPES):
        raise NotAllowed("That is nothing a token can be good for.", suggestions=(f"Take of: {', '.join(SCOPES)}.",))
    if len(accounts.tokens(user_id)) >= _MOST_TOKENS:
        raise NotAllowed(f"There are {_MOST_TOKENS} tokens already.", suggestions=("Revoke those no longer used.",))
    secret, now = TOKEN_PREFIX + secrets.token_urlsafe(32), clock.now()
    until = clock.after(now, days * 86_400) if days is not None else None
    kept = tuple(scope for scope in SCOPES if scope in scopes)
    return NewToken(accounts.add_token(digest(secret), user_id, name, kept, now, until), secret)


def token_holder(accounts: Accounts, secret: str, *, local: str | None = None) -> tuple[Token, str]:
    """The token with this secret, and its user's name; that it was used is noted once a minute.

    `local` is the user whom a server without accounts serves: they need none. `NotSignedIn` for all others.
    """
    now = clock.now()
    token = accounts.token(digest(secret), now)
    if token is None:
        raise NotSignedIn("The token is not known, or is good no more.")
    user = accounts.user(token.user_id)
    if user is None and token.user_id != local:
        raise NotSignedIn("The token's user is not known.")
    if user is not None and user.disabled:
        raise NotSignedIn("The token's user may not sign in.")
    if token.last_used_at is None or clock.after(token.last_used_at, _USED_EVERY) < now:
        accounts.mark_used(token.id, now)
    return token, user.name if user else token.user_id


def revoke_token(accounts: Accounts, user_id: str, key: str) -> Token:
    """The token with this id, or whose id begins so, is good no more."""
    found = [token for token in accounts.tokens(user_id) if key and token.id.startswith(key)]
    if len(found) != 1:
        raise NotFound("There is no such token." if not found else "Several tokens begin so.")
    accounts.revoke(user_id, found[0].id)
    return found[0]
