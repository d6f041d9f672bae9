"""Accounts of a shared server: users, their sessions and tokens, and failed sign-ins.

They are used before the user is known, so they are separate from the libraries: on PostgreSQL a special role can read these
tables, and nothing else. Secrets are passed in as digests and never returned.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any, Final

from pagekeep.errors import NotFound, StoreError
from pagekeep.model import Scope, Session, Token, User
from pagekeep.store.engine import Engine, Row, Transaction
from pagekeep.store.storable import clean_id, clean_text

_USER: Final = "SELECT id, name, password, disabled, created_at FROM users"
_TOKEN: Final = "SELECT id, user_id, name, scopes, created_at, last_used_at, expires_at FROM tokens"
_SESSION_ID_CHARS: Final = 16
"""64 bits: enough to tell sessions of one user apart."""


def session_id(digest: str) -> str:
    """Return the id of a session: a part of its digest, too short to be used as the session's key."""
    return digest[:_SESSION_ID_CHARS]


class Accounts:
    """All accounts of a database. Times are ISO 8601 in UTC and come from the caller."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def close(self) -> None:
        """Close files and connections."""
        self._engine.close()

    # Users

    def add_user(self, name: str, password: str | None, now: str, *, user_id: str | None = None) -> User:
        """Add a user; `StoreError` when the name is taken."""
        user = User(user_id or str(uuid.uuid4()), clean_text(name), password, False, now)
        return self._engine.write(lambda tx: _add_user(tx, user))

    def users(self) -> tuple[User, ...]:
        """Return all users by name."""
        return tuple(map(_user, self._rows(f"{_USER} ORDER BY name")))

    def find_user(self, name: str) -> User | None:
        """Return the user with this name."""
        return _first_user(self._rows(f"{_USER} WHERE name = :name", name=clean_text(name)))

    def user(self, user_id: str) -> User | None:
        """Return the user with this id."""
        return _first_user(self._rows(f"{_USER} WHERE id = :id", id=clean_text(user_id)))

    def set_password(self, user_id: str, password: str | None) -> None:
        """Change the password hash and end all sessions of the user."""
        self._change(
            user_id,
            "UPDATE users SET password = :password WHERE id = :id",
            "DELETE FROM sessions WHERE user_id = :id",
            password=password,
        )

    def set_disabled(self, user_id: str, disabled: bool) -> None:
        """Disable or enable the user and end all their sessions."""
        self._change(
            user_id,
            "UPDATE users SET disabled = :disabled WHERE id = :id",
            "DELETE FROM sessions WHERE user_id = :id",
            disabled=disabled,
        )

    def _change(self, user_id: str, sql: str, also: str, **values: Any) -> None:
        def change(tx: Transaction) -> None:
            if not tx.run(sql, id=clean_text(user_id), **values):
                raise NotFound("There is no such user.")
            tx.run(also, id=clean_text(user_id))

        self._engine.write(change)

    # Sessions

    def open_session(self, digest: str, user_id: str, now: str, until: str) -> None:
        """Store a new session, and delete those that have expired."""

        def work(tx: Transaction) -> None:
            tx.run("DELETE FROM sessions WHERE expires_at <= :now", now=now)
            tx.run(
                "INSERT INTO sessions (digest, user_id, created_at, expires_at) VALUES (:digest, :user, :now, :until)",
                digest=digest,
                user=user_id,
                now=now,
                until=until,
            )

        self._engine.write(work)

    def session_user(self, digest: str, now: str) -> User | None:
        """Return the user of a session that has not expired."""
        rows = self._rows(
            "SELECT u.id, u.name, u.password, u.disabled, u.created_at FROM sessions s JOIN users u ON u.id = s.user_id "
            "WHERE s.digest = :digest AND s.expires_at > :now AND NOT u.disabled",
            digest=digest,
            now=now,
        )
        return _first_user(rows)

    def close_session(self, digest: str) -> None:
        """End the session with this digest."""
        self._engine.write(lambda tx: tx.run("DELETE FROM sessions WHERE digest = :digest", digest=digest))

    def sessions(self, user_id: str, now: str) -> tuple[Session, ...]:
        """Return the user's sessions that have not expired, newest first."""
        rows = self._rows(
            "SELECT digest, created_at, expires_at FROM sessions WHERE user_id = :user AND expires_at > :now "
            "ORDER BY created_at DESC, digest",
            user=clean_text(user_id),
            now=now,
        )
        return tuple(Session(session_id(digest), created_at, expires_at) for digest, created_at, expires_at in rows)

    def end_session(self, user_id: str, key: str) -> None:
        """End the user's session with this id; `NotFound` when there is none."""
        sql = "DELETE FROM sessions WHERE user_id = :user AND substr(digest, 1, :length) = :key"
        values = {"user": clean_text(user_id), "key": clean_text(key), "length": _SESSION_ID_CHARS}
        if not self._engine.write(lambda tx: tx.run(sql, **values)):
            raise NotFound("There is no such session.")

    # Tokens

    def add_token(
        self, digest: str, user_id: str, name: str, scopes: Iterable[Scope], now: str, expires_at: str | None = None
    ) -> Token:
        """Add a token, of which only the digest is stored."""
        token = Token(str(uuid.uuid4()), user_id, clean_text(name), tuple(scopes), now, None, expires_at)
        self._engine.write(lambda tx: _add_token(tx, token, digest))
        return token

    def tokens(self, user_id: str) -> tuple[Token, ...]:
        """Return the user's tokens, oldest first."""
        rows = self._rows(f"{_TOKEN} WHERE user_id = :user ORDER BY created_at, id", user=user_id)
        return tuple(map(_token, rows))

    def token(self, digest: str, now: str) -> Token | None:
        """Return the token with this digest, unless it has expired."""
        rows = self._rows(
            f"{_TOKEN} WHERE digest = :digest AND (expires_at IS NULL OR expires_at > :now)", digest=digest, now=now
        )
        return _token(rows[0]) if rows else None

    def mark_used(self, token_id: str, now: str) -> None:
        """Store when the token was last used; the caller does not do this at every request."""
        self._engine.write(
            lambda tx: tx.run("UPDATE tokens SET last_used_at = :now WHERE id = :id", now=now, id=token_id)
        )

    def revoke(self, user_id: str, token_id: str) -> None:
        """Delete the user's token; `NotFound` when there is none with this id."""
        sql = "DELETE FROM tokens WHERE id = :id AND user_id = :user"
        if not self._engine.write(lambda tx: tx.run(sql, id=clean_id(token_id), user=user_id)):
            raise NotFound("There is no such token.")

    # Users of an OpenID Connect provider

    def linked_user(self, issuer: str, subject: str) -> str | None:
        """Return the id of the user whose account this user of a provider opens."""
        sql = "SELECT user_id FROM identities WHERE issuer = :issuer AND subject = :subject"
        rows = self._rows(sql, issuer=clean_text(issuer), subject=clean_text(subject))
        return str(rows[0][0]) if rows else None

    def is_linked(self, issuer: str, user_id: str) -> bool:
        """Return whether a user of the provider opens this account."""
        sql = "SELECT 1 FROM identities WHERE issuer = :issuer AND user_id = :user"
        return bool(self._rows(sql, issuer=clean_text(issuer), user=clean_text(user_id)))

    def link_user(self, issuer: str, subject: str, user_id: str, now: str) -> None:
        """Let a user of a provider open this account, and no other."""
        values = {"issuer": clean_text(issuer), "subject": clean_text(subject), "user": clean_text(user_id), "now": now}
        self._engine.write(
            lambda tx: tx.run(
                "INSERT INTO identities (issuer, subject, user_id, created_at) VALUES (:issuer, :subject, :user, :now) "
                "ON CONFLICT (issuer, subject) DO UPDATE SET user_id = excluded.user_id",
                **values,
            )
        )

    def unlink_user(self, user_id: str) -> None:
        """Let no user of a provider open this account, and end all its sessions; `NotFound` when none could."""

        def work(tx: Transaction) -> None:
            if not tx.run("DELETE FROM identities WHERE user_id = :user", user=clean_text(user_id)):
                raise NotFound("The user is not linked to a provider.")
            tx.run("DELETE FROM sessions WHERE user_id = :user", user=clean_text(user_id))

        self._engine.write(work)

    # Failed sign-ins

    def failures(self, key: str, since: str) -> int:
        """Return the failed sign-ins for this key in a window that began after `since`."""
        rows = self._rows(
            "SELECT failures FROM sign_in_failures WHERE key = :key AND since > :since", key=key, since=since
        )
        return int(rows[0][0]) if rows else 0

    def note_failure(self, key: str, now: str, since: str) -> None:
        """Count a failed sign-in; a window that began before `since` ends, and a new one begins."""

        def work(tx: Transaction) -> None:
            tx.run("DELETE FROM sign_in_failures WHERE since <= :since", since=since)
            tx.run(
                "INSERT INTO sign_in_failures (key, failures, since) VALUES (:key, 1, :now) "
                "ON CONFLICT (key) DO UPDATE SET failures = sign_in_failures.failures + 1",
                key=key,
                now=now,
            )

        self._engine.write(work)

    def forget_failures(self, key: str) -> None:
        """Reset the count after a successful sign-in."""
        self._engine.write(lambda tx: tx.run("DELETE FROM sign_in_failures WHERE key = :key", key=key))

    def _rows(self, sql: str, **values: Any) -> list[Row]:
        return self._engine.read(lambda tx: tx.all(sql, **values))


def _add_user(tx: Transaction, user: User) -> User:
    tx.lock(f"name {user.name}")
    if tx.all("SELECT 1 FROM users WHERE name = :name", name=user.name):
        raise StoreError(f"There is already a user {user.name}.", suggestions=("Choose another name.",))
    tx.run(
        "INSERT INTO users (id, name, password, disabled, created_at) VALUES (:id, :name, :password, :disabled, :now)",
        id=user.id,
        name=user.name,
        password=user.password,
        disabled=False,
        now=user.created_at,
    )
    return user


def _add_token(tx: Transaction, token: Token, digest: str) -> None:
    tx.run(
        "INSERT INTO tokens (id, digest, user_id, name, scopes, created_at, expires_at) "
        "VALUES (:id, :digest, :user, :name, :scopes, :now, :expires)",
        id=token.id,
        digest=digest,
        user=token.user_id,
        name=token.name,
        scopes=" ".join(token.scopes),
        now=token.created_at,
        expires=token.expires_at,
    )


def _user(row: Row) -> User:
    user_id, name, password, disabled, created_at = row
    return User(user_id, name, password, bool(disabled), created_at)


def _first_user(rows: list[Row]) -> User | None:
    return _user(rows[0]) if rows else None


def _token(row: Row) -> Token:
    token_id, user_id, name, scopes, created_at, last_used_at, expires_at = row
    return Token(token_id, user_id, name, tuple(scopes.split()), created_at, last_used_at, expires_at)
