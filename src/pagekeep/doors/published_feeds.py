"""Published feeds: what a feed shows is in the library, and the secret of its address is a token of the accounts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pagekeep.errors import NotFound
from pagekeep.identity import accounts
from pagekeep.identity.accounts import Accounts
from pagekeep.library.items import lists
from pagekeep.library.open import Store
from pagekeep.model import PUBLISHED, PublishedFeed

_TOKEN_NAME: Final = "Feed: {}"


@dataclass(frozen=True, slots=True)
class ListedFeed:
    """A published feed, and when it was last read."""

    feed: PublishedFeed
    last_used_at: str | None


def publish(store: Store, known: Accounts, title: str, query: str = "") -> tuple[PublishedFeed, str]:
    """Publish what a query finds, or the whole library; return the feed and the secret of its address, shown once."""
    title, query = lists.describe_published(title, query)
    made = accounts.add_token(known, store.user_id, _TOKEN_NAME.format(title), (PUBLISHED,))
    return lists.add_published(store, made.token.id, title, query), made.secret


def list_published(store: Store, known: Accounts) -> tuple[ListedFeed, ...]:
    """Return the published feeds, oldest first, without those whose tokens were revoked."""
    tokens = {token.id: token for token in accounts.get_tokens(known, store.user_id)}
    feeds = store.feeds.published()
    return tuple(ListedFeed(feed, tokens[feed.id].last_used_at) for feed in feeds if feed.id in tokens)


def unpublish(store: Store, known: Accounts, key: str) -> PublishedFeed:
    """End a published feed by its id or the beginning of it: its address stops working at once."""
    found = [one.feed for one in list_published(store, known) if key and one.feed.id.startswith(key)]
    if len(found) != 1:
        raise NotFound(f"There is no published feed {key:.40}.", suggestions=("List the published feeds.",))
    accounts.revoke_token(known, store.user_id, found[0].id)
    store.feeds.unpublish(found[0].id)
    return found[0]
