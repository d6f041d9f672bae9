"""Values of a shared server: users, their sessions and their tokens. All frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Scope = Literal["read", "write"]
SCOPES: tuple[Scope, ...] = ("read", "write")
"""What a token may do: look, or also save and change."""


@dataclass(frozen=True, slots=True)
class Session:
    """Somewhere that a user is signed in."""

    id: str
    """By which it is ended; nobody gets in with it."""
    created_at: str
    expires_at: str


@dataclass(frozen=True, slots=True)
class User:
    """Someone with a library of their own on a shared server."""

    id: str
    """UUID as text; the `user_id` of the library."""
    name: str
    password: str | None
    """Argon2 hash; `None` when nobody can sign in with a password."""
    disabled: bool
    created_at: str


@dataclass(frozen=True, slots=True)
class Token:
    """Lets a program act for a user. The token itself was shown once; only its digest is kept."""

    id: str
    user_id: str
    name: str
    scopes: tuple[Scope, ...]
    created_at: str
    last_used_at: str | None
    expires_at: str | None
