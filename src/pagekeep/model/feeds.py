"""Values of feeds and of mailboxes that are polled for newsletters: sources, their entries, and what others read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal

from pagekeep.model.library import RawPage
from pagekeep.values import dataclass

FeedKind = Literal["web", "mail"]
"""`web`: RSS, Atom or JSON Feed, which we poll; `mail`: a newsletter, whose entries are added as its messages arrive."""
FeedStatus = Literal["active", "paused", "gone"]
"""`gone`: the server says that the feed has ended, so it is not polled any more."""
FeedContent = Literal["feed", "page", "link"]
"""What an entry shows: what the feed carries, the article fetched from the entry's address, or a summary with the link."""
EntryState = Literal["unread", "read", "kept", "all"]


@dataclass(frozen=True, slots=True)
class FeedSettings:
    """What the user set for a feed."""

    name: str | None = None
    """Shown in place of the feed's own title."""
    tags: tuple[str, ...] = ()
    """Tags of items that are kept from this feed."""
    include: tuple[str, ...] = ()
    """Words or phrases of which an entry must have one in its title, author, categories or text; none sets no condition."""
    exclude: tuple[str, ...] = ()
    """Words or phrases of which an entry may have none."""
    content: FeedContent = "feed"
    keep_count: int = 200
    """Entries that stay in the inbox, the newest; 0 sets no limit."""
    keep_days: int = 90
    """Days after which an entry leaves the inbox, unless it is one of the newest of its feed; 0 sets no limit."""
    every: int | None = None
    """Seconds between two polls; `None` follows how often the feed has new entries."""


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed that the user subscribed to."""

    id: str
    user_id: str
    kind: FeedKind
    address: str
    """Where it is polled; for a newsletter, what identifies it, such as its list id."""
    title: str
    """As the feed names itself; empty until it was read."""
    site: str | None
    """The address of the pages that the feed is about."""
    folder: str
    """Folders from the outermost, separated by `/`; empty for none."""
    settings: FeedSettings
    status: FeedStatus
    attempts: int
    """Failed polls since the last that succeeded."""
    next_at: str
    """When it is polled next."""
    polled_at: str | None
    created_at: str
    updated_at: str
    state: Mapping[str, Any] = field(default_factory=dict)
    """What polling remembers from one time to the next, such as `etag` and the last `error`."""

    @property
    def label(self) -> str:
        """The name that is shown."""
        return self.settings.name or self.title or self.address

    @property
    def error(self) -> str | None:
        """Why the last poll failed, if it did."""
        found: str | None = self.state.get("error")
        return found


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry as a feed or a mailbox gives it, to be put into the feed inbox."""

    guid: str
    """What identifies the entry in its feed, such as a `guid`, an Atom id or a Message-ID."""
    title: str
    url: str | None = None
    author: str | None = None
    published_at: str | None = None
    content: str = ""
    """Clean Markdown, without frontmatter."""
    page: RawPage | None = None
    """What the content was made of, from which the item is made when the entry is kept."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """`categories`, `enclosures`, `comments`, `image`, `full` (whether `page` is the whole article)..."""
    fingerprint: str | None = None
    """Changes when the entry does; `None` derives it from the other fields."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry in the feed inbox."""

    id: str
    feed_id: str
    guid: str
    url: str | None
    title: str
    author: str | None
    published_at: str | None
    found_at: str
    updated_at: str
    """When its text last changed."""
    sorted_at: str
    """When it was published, but not after it was found: the order of the inbox."""
    read_at: str | None
    kept_at: str | None
    item_id: str | None
    """The item that was made of it."""
    extra: Mapping[str, Any]
    content: str = ""


@dataclass(frozen=True, slots=True)
class EntryQuery:
    """Which entries to find, newest first."""

    feed_ids: tuple[str, ...] | None = None
    """`None` for all feeds."""
    state: EntryState = "all"
    words: tuple[str, ...] = ()
    """Search words that must all occur, each a text of one or more folded words."""
    excluded: tuple[str, ...] = ()
    limit: int = 50
    after: str | None = None
    """`next` of the page before."""
    content: bool = False
    """Whether the texts are needed, or only what lists show."""


@dataclass(frozen=True, slots=True)
class EntryPage:
    """One page of entries."""

    entries: tuple[Entry, ...]
    next: str | None
    """Opaque key of the next page; `None` at the end."""


@dataclass(frozen=True, slots=True)
class EntryCounts:
    """How many entries of a feed are in the inbox."""

    unread: int = 0
    total: int = 0
    left_out: int = 0
    """Entries that the feed lists and the inbox does not have, by the feed's limits on number and age."""


@dataclass(frozen=True, slots=True)
class AddedEntries:
    """What became of entries that were put into the inbox."""

    added: tuple[str, ...] = ()
    """Ids of the new ones that are in the inbox."""
    updated: tuple[str, ...] = ()
    """Ids of those whose text changed."""
    unchanged: int = 0
    left_out: tuple[str, ...] = ()
    """Ids of the new ones that are over the feed's limits on number or age."""


@dataclass(frozen=True, slots=True)
class PollOutcome:
    """What a poll of a feed changes about the feed itself."""

    feed_id: str
    due_at: str
    """The feed's `next_at` as the poll began. When it is another now, a poll was requested in the meantime, which stays."""
    state: Mapping[str, Any]
    next_at: str
    attempts: int = 0
    status: FeedStatus = "active"
    title: str | None = None
    site: str | None = None
    address: str | None = None
    """`None` leaves what is stored."""


MAX_ENTRIES: Final = 1_000
"""Entries of one document that are read, the first ones: feeds are written newest first. Real ones have 10 to 100."""


@dataclass(frozen=True, slots=True)
class ParsedEntry:
    """An entry as its feed gives it: addresses are absolute, the title is text, the body is HTML."""

    guid: str
    title: str = ""
    url: str | None = None
    author: str | None = None
    published_at: str | None = None
    html: str = ""
    base: str | None = None
    """What addresses in the HTML are relative to."""
    summary: str = ""
    """HTML, where the feed has a summary besides the whole text."""
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """Changes when what a reader sees of the entry changes."""
        marks = [self.title, self.url, self.author, self.html, self.summary, self.extra]
        text = json.dumps(marks, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class ParsedFeed:
    """A feed's document."""

    format: str
    """`rss20`, `atom10`, `json11`...: feedparser's names, and ours for JSON."""
    title: str = ""
    site: str | None = None
    language: str | None = None
    ttl_seconds: int | None = None
    """How long the feed says that it does not change."""
    hub: str | None = None
    next_url: str | None = None
    """Where older entries are (JSON Feed, RFC 5005)."""
    entries: tuple[ParsedEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class CleanEntry:
    """The texts of an entry."""

    markdown: str
    page: str | None
    """The HTML that the Markdown is made of, as a document; `None` where the feed has no text."""


@dataclass(frozen=True, slots=True)
class FoundFeed:
    """A feed that can be subscribed to."""

    address: str
    title: str
    site: str | None = None


@dataclass(frozen=True, slots=True)
class Outline:
    """A feed in a list of feeds."""

    address: str
    title: str
    site: str | None
    folder: str


@dataclass(frozen=True, slots=True)
class PublishedFeed:
    """A list or search that others can read as a feed, under an address with a secret in it."""

    id: str
    """The id of the token that is part of the address."""
    title: str
    query: str
    """In the language of searches; empty for all items."""
    created_at: str


@dataclass(frozen=True, slots=True)
class MailFolder:
    """A folder of a mailbox on a server."""

    host: str
    port: int
    user: str
    folder: str = "INBOX"
    security: Literal["tls", "plain"] = "tls"
    """`plain` is without encryption, and only to this machine."""


@dataclass(frozen=True, slots=True)
class MailPosition:
    """How far a folder was read."""

    validity: int = 0
    """Changes when the server numbers the messages of the folder again."""
    uid: int = 0
    """The last message that was read; 0 for none."""


@dataclass(frozen=True, slots=True)
class MailSource:
    """A folder of a mailbox that is polled."""

    id: str
    """UUID as text."""
    folder: MailFolder
    senders: tuple[str, ...]
    """Addresses and domains whose messages are taken; `*` takes all."""
    every: int
    """Seconds between two polls."""
    created_at: str
    next_at: str
    polled_at: str | None
    attempts: int
    """Failed polls since the last that succeeded."""
    error: str | None = None
    """Why the last poll failed, if it did."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Messages since the source was added: `added`, `unwanted` (of other senders), `too_large`, `failed`, `paused`."""
    others: Mapping[str, int] = field(default_factory=dict)
    """Other senders, the latest, and how many messages they sent."""
    position: MailPosition = field(default_factory=MailPosition)
    schedule_id: str = ""

    @property
    def account(self) -> str:
        """User name and host: what its password is looked up by."""
        return f"{self.folder.user}@{self.folder.host}"

    @property
    def label(self) -> str:
        """How it is shown."""
        return f"{self.account}/{self.folder.folder}"
