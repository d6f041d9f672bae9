"""Values of a shared server: users, their sessions and their tokens. All frozen."""

from __future__ import annotations

from typing import Literal

from pagekeep.values import dataclass

Scope = Literal["read", "write", "feed", "wallabag", "linkding", "opds", "refresh", "published", "pairing"]
SCOPES: tuple[Scope, ...] = ("read", "write")
"""What a token allows: `read` only reads, `write` also saves and changes."""
FEED: Scope = "feed"
"""The scope of a token that is part of a feed's address: it allows to read that feed, and nothing else."""
DIALECTS: tuple[Scope, ...] = ("wallabag", "linkding", "opds")
"""A token with one of these is for programs that speak that dialect, and opens nothing but the routes under its name."""
REFRESH: Scope = "refresh"
"""The scope of a token that only gets other tokens of its dialect."""
PUBLISHED: Scope = "published"
"""The scope of a token that is part of the address of a published list or search: it allows to read that list alone."""

PAIRING: Scope = "pairing"
"""The scope of a code that waits to be exchanged for a token: it allows nothing else."""


Purpose = Literal["sign_in", "refresh", "feed", "published", "pairing"]
"""What a secret opens. One that was made for one purpose is refused for every other."""


@dataclass(frozen=True, slots=True)
class Session:
    """A browser in which a user is signed in."""

    id: str
    """Identifies the session when it is ended; it is not the secret that signs in."""
    created_at: str
    expires_at: str


@dataclass(frozen=True, slots=True)
class User:
    """An account with its own library on a shared server."""

    id: str
    """UUID as text; the `user_id` of the library."""
    name: str
    password: str | None
    """Argon2 hash; `None` when the account has no password."""
    disabled: bool
    created_at: str


@dataclass(frozen=True, slots=True)
class Token:
    """Lets a program act for a user. The token itself is shown once; only its digest is stored."""

    id: str
    user_id: str
    name: str
    scopes: tuple[Scope, ...]
    created_at: str
    last_used_at: str | None
    expires_at: str | None

    @property
    def purpose(self) -> Purpose:
        """What the token is for: signing in, unless its scope says otherwise."""
        for purpose in ("refresh", "feed", "published", "pairing"):
            if purpose in self.scopes:
                return purpose
        return "sign_in"

    @property
    def dialect(self) -> Scope | None:
        """The dialect that the token is for; `None` for one that opens everything."""
        return next((scope for scope in self.scopes if scope in DIALECTS), None)
