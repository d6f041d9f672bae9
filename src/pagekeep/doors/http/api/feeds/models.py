"""The bodies of requests and responses about feeds."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from pagekeep.doors.http.api.request_models import RequestBody, Tag, Url
from pagekeep.present.feeds.shapes import Entry, Feed, FoundFeed, PublishedFeed, WholeEntry
from pagekeep.present.json_shapes import Job

Name = Annotated[str, StringConstraints(max_length=300)]
Words = Annotated[list[Annotated[str, StringConstraints(min_length=1, max_length=300)]], Field(max_length=50)]
Limit = Annotated[int, Field(ge=0, le=10_000)]


class FeedChanges(RequestBody):
    """Changes to a feed; what is not named stays."""

    name: Name | None = Field(None, description="Shown instead of the feed's title; empty for its title.")
    folder: Name | None = Field(
        None, description="Folders from the outermost, separated by `/`.", examples=["News/Sea"]
    )
    tags: Annotated[list[Tag], Field(max_length=50)] | None = Field(
        None, description="Tags of items kept from the feed."
    )
    include: Words | None = Field(None, description="An entry must have one of these words or phrases.")
    exclude: Words | None = Field(None, description="An entry may have none of these words or phrases.")
    content: Literal["feed", "page", "link"] | None = Field(
        None,
        description="What entries show: what the feed carries, the article from its page, or a summary and the link.",
    )
    keep_count: Limit | None = Field(None, description="Entries that stay in the inbox; 0 sets no limit.")
    keep_days: Limit | None = Field(
        None, description="Days that entries stay in the inbox, but for the newest 10; 0 sets no limit."
    )
    every: Annotated[int, Field(ge=0, le=7_776_000)] | None = Field(
        None, description="Seconds between two polls, 300 or more; 0 follows how often the feed has new entries."
    )
    status: Literal["active", "paused"] | None = None

    def settings(self) -> dict[str, Any]:
        """Return the settings that were sent."""
        names = ("name", "tags", "include", "exclude", "content", "keep_count", "keep_days", "every")
        sent = {name: value for name in names if (value := getattr(self, name)) is not None}
        for name in ("tags", "include", "exclude"):
            if name in sent:
                sent[name] = tuple(sent[name])
        return {name: value or None if name in ("every", "name") else value for name, value in sent.items()}


class NewFeed(FeedChanges):
    """A feed to subscribe to."""

    url: Url = Field(
        description="The address of a feed, or of a page that names its feed.", examples=["https://example.com/"]
    )
    guess: bool = Field(False, description="If the page names no feed, try the usual paths of its site.")


class PollRequest(RequestBody):
    """The feeds to poll."""

    ids: Annotated[list[Annotated[str, StringConstraints(max_length=100)]], Field(max_length=1000)] | None = Field(
        None, description="IDs of the feeds; without it, all of them."
    )


class OpmlRequest(RequestBody):
    """A list of feeds."""

    opml: Annotated[str, StringConstraints(min_length=1, max_length=5_000_000)]


class EntryChanges(RequestBody):
    """Changes to an entry."""

    read: bool


class ReadRequest(RequestBody):
    """The entries that were read: by `ids`, all of a `feed`, or all."""

    ids: Annotated[list[Annotated[str, StringConstraints(max_length=100)]], Field(max_length=1000)] | None = None
    feed: Annotated[str, StringConstraints(max_length=300)] | None = Field(None, description="ID, name or folder.")
    before: Annotated[str, StringConstraints(max_length=40)] | None = Field(
        None, description="Only entries that were in the inbox at this time."
    )


class PublishRequest(RequestBody):
    """A list or search to publish as a feed."""

    title: Annotated[str, StringConstraints(min_length=1, max_length=80)]
    query: Annotated[str, StringConstraints(max_length=1000)] = Field(
        "", description="Search whose results the feed has; empty for all items.", examples=["tag:reading"]
    )


class Feeds(TypedDict):
    feeds: list[Feed]


class OneFeed(TypedDict):
    feed: Feed


class AddedFeed(TypedDict):
    feed: Feed
    added: bool
    """False if it was there already; then it stays as it is."""
    found: list[FoundFeed]
    """All feeds that the page names; the first one was added."""


class Polled(TypedDict):
    feeds: int


class ImportedFailure(TypedDict):
    address: str
    reason: str


class ImportedFeeds(TypedDict):
    added: int
    known: int
    failed: list[ImportedFailure]


class Entries(TypedDict):
    entries: list[Entry]
    next: str | None


class OneEntry(TypedDict):
    entry: WholeEntry


class ReadEntries(TypedDict):
    read: int


class KeptEntry(TypedDict):
    entry: Entry
    job: Job


class Published(TypedDict):
    published: list[PublishedFeed]


class NewPublished(TypedDict):
    published: PublishedFeed
    atom: str
    """Its address as Atom, only in this response."""
    json: str
    """Its address as JSON Feed, only in this response."""
