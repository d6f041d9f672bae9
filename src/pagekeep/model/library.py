"""Values of the library: items, annotations, jobs, counts, and the filters and pages of a list. All frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

from pagekeep.model.page import PageWarning, QualityLevel
from pagekeep.model.tags import without_tags
from pagekeep.values import dataclass

if TYPE_CHECKING:
    from pagekeep.model.reading import ReadingState


@dataclass(frozen=True, slots=True)
class ItemMetadata:
    """What is known about an item besides its text: set by the user, derived by extraction, or noted by the library."""

    # Set by the user; a new extraction of the page never changes these.
    pinned: bool | None = None
    """`None` until the user decides."""
    archived: bool | None = None
    """`None` until the user, or a rule that discards the page, decides."""
    tags: tuple[str, ...] = ()
    notes: str | None = None
    join_pages: bool | None = None
    """Whether the pages of an article over several pages are joined; `None` uses the settings."""
    edited: bool = False
    """The text is the user's own version, which no extraction replaces."""
    edits: Mapping[str, Any] | None = None
    """Title, author, published_at and site_name as the user set them; the item has these values."""
    page_values: Mapping[str, Any] | None = None
    """What the page says, of the fields in `edits`."""
    refused_tags: tuple[str, ...] = ()
    """Suggested tags that the user does not want."""
    keep_pictures: str | None = None
    """Which pictures to keep (all, hero or none), in place of the setting."""

    # Derived by extraction.
    parser_version: int | None = None
    rules_hash: str | None = None
    """Fingerprint of the rules that were active."""
    used_js_rendering: bool | None = None
    content_hash: str | None = None
    """SHA-256 of the Markdown without frontmatter."""
    raw_hash: str | None = None
    """SHA-256 of the raw page that the Markdown was made from."""
    options: Mapping[str, Any] | None = None
    """Options of the extraction that can change its result."""
    quality: QualityLevel | None = None
    """`None` for a page that was never extracted."""
    score: int | None = None
    strategy: str | None = None
    kind: str | None = None
    file_type: str | None = None
    """Of a document, the type of its file, such as "PDF"."""
    page_count: int | None = None
    """Of a document with pages, how many there are."""
    heading_pages: tuple[int, ...] = ()
    """Of a document with pages, the page of each heading, in order."""
    word_count: int | None = None
    reading_time: str | None = None
    language: str | None = None
    site_name: str | None = None
    description: str | None = None
    hero_image: str | None = None
    favicon: str | None = None
    suggested_tags: tuple[str, ...] = ()
    """Tags that the user may want, none of them in `tags` by itself: a click, or the setting `auto_tags`, adds them."""
    reason: str | None = None
    """Why the quality level is not better."""
    caught: str | None = None
    """What came instead of the page, such as a consent wall."""
    suggestion: str | None = None
    """What the user can do about it."""
    discarded: bool = False
    fetch_again: bool | None = None
    """Set while only the address is kept because the page could not be fetched: whether trying again can help."""
    failed: bool = False
    """The page could not be saved, and the user has not kept its bookmark: the item is in the list of failed saves, and in no
    other."""

    # Noted by the library.
    applied_rules: tuple[str, ...] = ()
    """Ids of the save rules that were applied to the item."""
    part_of: str | None = None
    """Of an attachment: the id of the item of its message."""
    attachments: tuple[str, ...] = ()
    """Of a message: the ids of the items of its attachments."""
    text_hash: str | None = None
    """SHA-256 of the item's text as it was stored last, frontmatter included."""
    signature: Mapping[str, Any] | None = None
    """The receipt as the library signed it when the text was stored: `statement`, `key` and `signature`, and `timestamp`."""
    retry_count: int = 0
    """Retries by hand since the last success."""
    last_error: Mapping[str, Any] | None = None
    """`type`, `message` and `at` of the last fetch that failed or was worse than what is stored."""
    imported: bool = False
    link: Mapping[str, Any] | None = None
    """What the last checks found if the address does not work: `state` (gone or blocked), `reason`, `since`, and `archived`,
    the address of a copy in a web archive."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Stored keys that this version does not know: kept, and written back."""

    @property
    def has_only_address(self) -> bool:
        """Whether the page was never fetched: the text has only what is known about it from elsewhere."""
        return self.quality == "bookmark" and self.content_hash is None and not self.edited

    @property
    def open_suggestions(self) -> tuple[str, ...]:
        """The suggested tags that are neither tags yet nor refused."""
        return without_tags(self.suggested_tags, (*self.tags, *self.refused_tags))


DERIVED_METADATA: Final = (
    *("parser_version", "rules_hash", "used_js_rendering", "content_hash", "raw_hash", "options"),
    *("quality", "score", "strategy", "kind", "file_type", "page_count", "heading_pages"),
    *("word_count", "reading_time", "language", "site_name", "description", "hero_image", "favicon", "reason"),
    "suggested_tags",
    *("caught", "suggestion", "discarded", "fetch_again", "failed"),
)
"""Fields of `ItemMetadata` that every extraction of the page replaces."""


class MetadataChanges(TypedDict, total=False):
    """Fields of `ItemMetadata` that change without a new extraction."""

    pinned: bool | None
    archived: bool | None
    tags: tuple[str, ...]
    notes: str | None
    edited: bool
    refused_tags: tuple[str, ...]
    keep_pictures: str | None
    parser_version: int | None
    retry_count: int
    last_error: Mapping[str, Any] | None
    fetch_again: bool | None
    failed: bool
    link: Mapping[str, Any] | None
    part_of: str | None
    attachments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A page in a user's library."""

    id: str
    """UUID as text."""
    user_id: str
    url: str
    """Normalised: what makes two saves the same page."""
    url_full: str
    """As the user gave it."""
    domain: str
    title: str
    content: str
    """Frontmatter and Markdown."""
    source: str
    """How it was captured: `web`, `html` (uploaded), `import:pocket`..."""
    author: str | None
    saved_at: str
    published_at: str | None
    metadata: ItemMetadata
    created_at: str
    updated_at: str
    last_opened_at: str | None = None
    deleted_at: str | None = None


@dataclass(frozen=True, slots=True)
class RawPage:
    """The page as it was fetched, stored with its item so that a later version can extract it again."""

    body: bytes
    encoding: str | None
    content_type: str
    final_url: str
    status: int
    rendered: bool
    fetched_at: str
    etag: str | None = None
    last_modified: str | None = None
    headers: Mapping[str, str] | None = None
    """Headers of the response, names in lower case, without cookies; `None` when there was no response, or they were not
    kept."""


PutResult = Literal["added", "updated", "unchanged"]
"""What happened to one item of a batch."""


FilterName = Literal[
    "is",
    "domain",
    "tag",
    "author",
    "lang",
    "list",
    "before",
    "after",
    "changed",
    "published",
    "published-after",
    "published-before",
    "quality",
    "feed",
]
Order = Literal["saved", "opened", "title", "published", "updated"]


@dataclass(frozen=True, slots=True)
class Term:
    """Words to find next to each other; usually one."""

    words: tuple[str, ...]
    prefix: bool = False
    """Whether the last word may continue."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on an item, as the query language writes it: `tag:energy`, `-is:archived`."""

    name: FilterName
    value: str
    """For `is`: pinned, archived, deleted, unread, reading, read, fetch-again, failed or gone."""
    negated: bool = False


@dataclass(frozen=True, slots=True)
class ItemQuery:
    """Which items to find, in which order, and which page of them. `parse_query` makes one from text.

    Deleted items are found only with the filter `is:deleted`, failed saves only with `is:failed` and `is:fetch-again`.
    """

    terms: tuple[Term, ...] = ()
    """All must occur in title, author, tags or content."""
    excluded: tuple[Term, ...] = ()
    """None may occur."""
    filters: tuple[Filter, ...] = ()
    """All must hold."""
    order: Order | Literal["relevance"] = "saved"
    """`relevance` for every query with terms or excluded terms."""
    descending: bool = True
    """Relevance is always best first."""
    limit: int = 50
    offset: int = 0
    """Items to skip, for programs that count pages; not with `after`."""
    after: str | None = None
    """`next` of the page before."""
    text: str = ""
    """The text that was parsed. A key of one text does not fit another."""


def item_filters(
    *,
    domain: str | None = None,
    tags: tuple[str, ...] = (),
    pinned: bool | None = None,
    archived: bool | None = None,
    deleted: bool = False,
    quality: QualityLevel | None = None,
    fetch_again: bool | None = None,
    failed: bool = False,
    gone: bool | None = None,
    saved_after: str | None = None,
    saved_before: str | None = None,
    changed_since: str | None = None,
    published_after: str | None = None,
    published_before: str | None = None,
) -> tuple[Filter, ...]:
    """Return the filters for these conditions; `None` sets no condition. An item must have all `tags`."""
    flags = (
        ("pinned", pinned),
        ("archived", archived),
        ("deleted", deleted or None),
        ("fetch-again", fetch_again),
        ("failed", failed or None),
        ("gone", gone),
    )
    values: tuple[tuple[FilterName, str | None], ...] = (
        ("domain", domain),
        ("quality", quality),
        ("after", saved_after),
        ("before", saved_before),
        ("changed", changed_since),
        ("published-after", published_after),
        ("published-before", published_before),
        *(("tag", tag) for tag in tags),
    )
    return (
        *(Filter("is", name, negated=not flag) for name, flag in flags if flag is not None),
        *(Filter(name, value) for name, value in values if value is not None),
    )


@dataclass(frozen=True, slots=True)
class Hit:
    """An item that a query found."""

    item: Item
    snippet: str | None = None
    """Text around the words found, these between `[[` and `]]`; `None` unless ordered by relevance."""
    rank: float | None = None
    """How well the item fits the words; `None` unless ordered by relevance."""


@dataclass(frozen=True, slots=True)
class ItemPage:
    """One page of the items that a query found."""

    hits: tuple[Hit, ...]
    next: str | None
    """Opaque key of the next page; `None` at the end."""

    @property
    def items(self) -> tuple[Item, ...]:
        """The items without snippets."""
        return tuple(hit.item for hit in self.hits)


JobState = Literal["queued", "running", "done", "dead"]


@dataclass(frozen=True, slots=True)
class Job:
    """A save or another task in the queue. At most one unfinished job per user and normalised URL."""

    id: str
    user_id: str
    url: str
    """Normalised."""
    url_full: str
    options: Mapping[str, Any]
    """`render`, `tags`...; `task` names a task other than a save."""
    state: JobState
    attempts: int
    error: Mapping[str, Any] | None
    """JSON form of the last failure."""
    run_after: str
    """It does not run before this time (backoff)."""
    leased_by: str | None
    leased_until: str | None
    created_at: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """A highlight or note, found again by its words: positions would not survive a new extraction of the page."""

    id: str
    """UUID as text."""
    item_id: str
    quote: str
    """The highlighted words; empty for a note on the whole page."""
    before: str
    """A few words before the quote; with `after`, they distinguish equal quotes."""
    after: str
    note: str
    colour: str | None
    created_at: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class NewItem:
    """One item of a batch to be stored, with its page and annotations."""

    item: Item
    raw: RawPage | None = None
    annotations: tuple[Annotation, ...] = ()
    """Their `item_id` follows the item."""
    reading: ReadingState | None = None
    """How far it has been read; a newer state that is stored stays."""


@dataclass(frozen=True, slots=True)
class SaveResult:
    """The result of saving a page."""

    item: Item
    """As it is in the library now."""
    outcome: Literal["added", "updated", "kept"]
    """`kept`: the new page is worse than the stored one, which stays."""
    note: str | None = None
    """Why the stored page was kept."""
    warnings: tuple[PageWarning, ...] = ()
    """Problems that did not prevent the save, such as a missing browser."""
    unchanged: bool = False
    """Whether the update has the same text as before."""
    pictures_job: str | None = None
    """Id of the job that keeps the page's pictures, if there are any to keep."""


CountedKind = Literal[
    "state", "tag", "site", "author", "language", "quality", "saved", "read", "words_saved", "words_read"
]
"""What items are counted by; the last four by month, `words_saved` and `words_read` in words."""


@dataclass(frozen=True, slots=True)
class ItemCount:
    """How many items have a tag, are from a site..."""

    key: str
    """What the library calls it: of a tag, without case and accents."""
    name: str
    """What it is called when shown."""
    count: int


@dataclass(frozen=True, slots=True)
class CountPage:
    """One page of the counts of a kind."""

    counts: tuple[ItemCount, ...]
    total: int
    """How many counts all pages have."""
