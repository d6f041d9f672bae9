"""Whose account a user of the provider opens."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import accounts as app
from pagekeep import clock
from pagekeep.accounts import Accounts
from pagekeep.config import Settings
from pagekeep.errors import NotAllowed, StoreError
from pagekeep.model import User
from pagekeep.openid.id_token import Claims

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
