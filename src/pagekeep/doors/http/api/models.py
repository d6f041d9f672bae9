"""What the API takes and gives, as types: checked on the way in, described in the OpenAPI page.

What goes out is made by `app/shape.py`; these describe it.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from pagekeep.model import JobState, QualityLevel, Scope, Strategy

MOST_TAGS: Final = 100


def _whole(value: object) -> object:
    """Text of a browser may hold halves of characters, which no encoding can: one must not cost the page."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


Html = Annotated[str, BeforeValidator(_whole)]
Address = Annotated[str, StringConstraints(min_length=1, max_length=8192)]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Tags = Annotated[list[Tag], Field(max_length=MOST_TAGS)]
Selector = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
Mode = Literal["auto", "force", "never"]


class Given(BaseModel):
    """What a caller sends. Unknown keys are refused: a typing mistake must not pass for a wish."""

    model_config = ConfigDict(extra="forbid")


class Asked(Given):
    """A page by its address, or as the caller has it."""

    url: Address | None = Field(None, examples=["https://example.com/post"])
    html: Html | None = Field(None, description="The page as the caller has it; then nothing is fetched.")
    rendered: bool = Field(True, description="Whether the HTML that is sent comes out of a browser.")
    selection: Html | None = Field(None, description="HTML of the part of the page that is wanted.")
    render: Mode | None = Field(None, description="Open it in a browser: when it needs it, always or never.")
    wait_for: Selector | None = Field(None, description="In the browser, wait until this is there.")

    @model_validator(mode="after")
    def _something_to_read(self) -> Asked:
        if self.url is None and self.html is None:
            raise ValueError("give `url` or `html`")
        if self.selection is not None and self.html is None:
            raise ValueError("`selection` goes with `html`")
        return self


class AskedToSave(Asked):
    """A page to be saved. Its address is what it is known by."""

    url: Address = Field(examples=["https://example.com/post"])
    tags: Tags = Field([], examples=[["harbour", "history"]])
    force: bool = Field(False, description="Replace what is stored even by a worse reading.")


class Changes(Given):
    """What a user may set on an item; what is left out stays as it is."""

    pinned: bool | None = None
    archived: bool | None = None
    tags: Tags | None = Field(None, description="All tags, in place of those there are.")
    add_tags: Tags = Field([], examples=[["harbour"]])
    remove_tags: Tags = []
    opened: Literal[True] | None = Field(None, description="It was read just now.")

    @model_validator(mode="after")
    def _one_way(self) -> Changes:
        if self.tags is not None and (self.add_tags or self.remove_tags):
            raise ValueError("give `tags`, or `add_tags` and `remove_tags`")
        return self


class AskedToRetry(Given):
    """How to fetch an item anew."""

    render: Mode | None = None
    wait_for: Selector | None = None


class AskedToReparse(Given):
    """How to read a kept page again."""

    force: bool = Field(False, description="Replace what is stored even by a worse reading.")
    dry_run: bool = Field(False, description="Only tell what would change.")


class AskedToReparseMany(Given):
    """Which kept pages to read again; one way of choosing, or none for those that are out of date."""

    ids: (
        Annotated[
            list[Annotated[str, StringConstraints(min_length=1, max_length=100)]], Field(min_length=1, max_length=1000)
        ]
        | None
    ) = Field(None, description="These.")
    domain: Annotated[str, StringConstraints(min_length=1, max_length=300)] | None = Field(
        None, description="The pages of this domain.", examples=["example.com"]
    )
    query: Annotated[str, StringConstraints(min_length=1, max_length=1000)] | None = Field(
        None, description="What a search finds."
    )
    limit: Annotated[int, Field(ge=1)] | None = Field(None, description="Only so many, the oldest first.")
    force: bool = Field(False, description="Replace what is stored even by a worse reading.")

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"domain": "example.com", "limit": 100}]})

    @model_validator(mode="after")
    def _one_choice(self) -> AskedToReparseMany:
        if sum(way is not None for way in (self.ids, self.domain, self.query)) > 1:
            raise ValueError("give `ids`, `domain` or `query`")
        return self


class AskedToPurge(Given):
    """Which deleted items to remove for good."""

    ids: Annotated[list[Annotated[str, StringConstraints(max_length=100)]], Field(max_length=1000)] | None = Field(
        None, description="These; without it, all that are deleted."
    )


class Shape(BaseModel):
    """What the server answers. Keys may be added."""

    model_config = ConfigDict(extra="allow")


class Failure(Shape):
    """What went wrong."""

    type: str = Field(examples=["NotFound"])
    message: str = Field(examples=["There is no item 3f2a."])
    suggestions: list[str] = []


class Error(Shape):
    """Every error has this shape."""

    success: Literal[False]
    error: Failure


class Item(Shape):
    """A saved page."""

    id: str = Field(examples=["3f2a7c1e-5b0d-4a51-9c1b-2f6f0a9d8e77"])
    url: str = Field(description="What makes two saves the same page.", examples=["https://example.com/post"])
    url_full: str = Field(description="As it was given.")
    title: str
    domain: str
    author: str | None
    source: str = Field(description="`web`, `html` when it was sent, `import:...`.")
    pinned: bool
    archived: bool
    discarded: bool
    edited: bool = Field(description="The text is the user's own version, which no reading replaces.")
    tags: list[str]
    quality: QualityLevel | None
    score: int | None = Field(description="0 to 100.")
    strategy: Strategy | None
    word_count: int | None
    reading_time: str | None
    language: str | None
    reason: str | None = Field(description="Why there is no content.")
    suggestion: str | None = Field(description="What to do about it.")
    last_error: dict[str, Any] | None
    retry_count: int
    parser_version: int | None
    used_js_rendering: bool
    saved_at: str
    published_at: str | None
    updated_at: str
    last_opened_at: str | None
    deleted_at: str | None


class WholeItem(Item):
    """With what it says."""

    content: str = Field(description="Frontmatter and Markdown.")


class SavedItem(Item):
    """As it came out of a save."""

    outcome: Literal["added", "updated", "kept"] = Field(description="`kept`: worse than what is stored, which stays.")
    note: str | None = Field(description="Why it was kept.")
    warnings: list[str]


class FoundItem(Item):
    """That a search found."""

    snippet: str = Field(description="Text around the words found, those between `[[` and `]]`.")
    rank: float


class OneItem(Shape):
    item: Item


class OneWholeItem(Shape):
    item: WholeItem


class OneSavedItem(Shape):
    item: SavedItem


class PerhapsAnItem(Shape):
    item: Item | None = Field(description="Nothing when the page is not in the library.")


class Items(Shape):
    items: list[Item]
    next: str | None = Field(description="Goes back as `after`; nothing on the last page.")


class Hits(Shape):
    items: list[FoundItem]
    next: str | None = Field(description="Goes back as `after`; nothing on the last page.")


class Job(Shape):
    """A save that waits, or waited, for its turn."""

    id: str
    url: str
    url_full: str
    state: JobState
    attempts: int
    error: dict[str, Any] | None
    run_after: str
    leased_by: str | None
    leased_until: str | None
    created_at: str
    task: Literal["save", "reparse"]
    item_id: str | None = Field(description="What came of a save.")
    report: dict[str, Any] | None = Field(
        description="What came of a reparse: `updated`, `unchanged`, `kept`, `failed`, and `notes`."
    )
    options: dict[str, Any]


class OneJob(Shape):
    job: Job


class Jobs(Shape):
    jobs: list[Job]


class Page(Shape):
    """A page that was read and not stored."""

    url: str | None
    title: str | None
    kind: str
    strategy: Strategy
    word_count: int
    reading_time: str
    quality: dict[str, Any]
    caught: dict[str, Any] | None
    need_render: dict[str, Any] | None
    metadata: dict[str, Any]
    markdown: str
    html: str
    text: str
    links: list[dict[str, Any]]
    media: list[dict[str, Any]]
    document: str = Field(description="Frontmatter and Markdown.")


class OnePage(Shape):
    page: Page


class Explanation(Shape):
    explanation: str = Field(description="For people.")
    trace: dict[str, Any] = Field(description="For programs.")
    page: dict[str, Any]


class Reparsed(Shape):
    outcome: Literal["updated", "unchanged", "kept", "failed"]
    note: str | None
    diff: list[str] = Field(description="Lines of a unified diff of the Markdown.")
    item: Item


class Purged(Shape):
    purged: int


class Health(Shape):
    status: Literal["ok"]


class Stats(Shape):
    stats: dict[str, Any]


class Fault(Shape):
    file: str
    line: int
    path: str
    rule: str
    message: str
    suggestion: str


class Rules(Shape):
    rules: list[dict[str, Any]]
    faults: list[Fault]


class Checked(Rules):
    good: bool


class Yaml(Given):
    """A file of rules."""

    yaml: Annotated[str, StringConstraints(max_length=1_000_000)] = Field(
        examples=["- id: mine\n  trigger: {host: {equals: example.com}}\n  remove: [.promo]\n"]
    )


class AskedToTry(Yaml):
    """Rules, and the page to try them on."""

    page: Address = Field(description="A page of the library, by id or address, or the address of one that is not.")


class Tried(Shape):
    before: Page
    after: Page
    diff: list[str] = Field(description="Lines of a unified diff of the Markdown.")
    matches: list[dict[str, Any]] = Field(description="What each of the rules did.")
    idle: list[str] = Field(description="Ids of rules that did not apply.")
    faults: list[Fault]


Text = Annotated[str, StringConstraints(max_length=10_000)]


class Passage(Given):
    """A passage to be marked, found again by its words."""

    quote: Text = Field("", description="The marked words; empty for a note on the whole page.")
    before: Text = Field("", description="A few words before them.")
    after: Text = Field("", description="A few words after them.")
    note: Text = ""
    colour: Annotated[str, StringConstraints(max_length=40)] | None = None


class ChangedPassage(Given):
    """What may change on a marked passage."""

    note: Text | None = None
    colour: Annotated[str, StringConstraints(max_length=40)] | None = None


class Annotation(Shape):
    """A marked passage."""

    id: str
    item_id: str
    quote: str
    before: str
    after: str
    note: str
    colour: str | None
    created_at: str
    updated_at: str


class OneAnnotation(Shape):
    annotation: Annotation


class Annotations(Shape):
    annotations: list[Annotation]


Password = Annotated[str, StringConstraints(max_length=1_000)]


class AskedForPassword(Given):
    """Another password in place of the one there is."""

    old: Password = Field(examples=["nine stoves and a kettle"])
    new: Password = Field(description="At least ten characters.", examples=["ten kettles and no stove"])


class AskedForToken(Given):
    """A token for a program."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)] = Field(examples=["phone"])
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=2)] = ["read"]
    days: Annotated[float, Field(gt=0, le=36_500)] | None = Field(
        None, description="So long is it good; else until revoked."
    )


class Token(Shape):
    """What is known of a token; the token itself is not."""

    id: str
    name: str
    scopes: list[Scope]
    created_at: str
    last_used_at: str | None
    expires_at: str | None


class Tokens(Shape):
    tokens: list[Token]


class NewToken(Shape):
    token: Token
    secret: str = Field(description="Shown this once.", examples=["pk_..."])


def failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors a route may answer with, for the OpenAPI page."""
    return {status: {"model": Error} for status in (400, 401, 403, 413, 422, 503, *statuses)}


FETCHING: Final = (415, 502, 504)
"""Statuses of what can go wrong with a page on the web."""
