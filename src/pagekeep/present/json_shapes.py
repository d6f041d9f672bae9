"""The JSON shapes of the API, the CLI (`--json`) and MCP: one definition, which FastAPI uses to check and document responses.

    items       {"items": [item, ...], "next": key or null}; search results also have `snippet` and `rank`, a single item has
                `content` and `pictures`, a saved item has `outcome` (added, updated, kept), `note`, `warnings` and
                `pictures_job`
    saves       as above, and "errors": [{"url", "type", "message", "suggestions"}, ...] for the pages that failed; `item_id` is
                the bookmark that keeps the URL, or the item as it was before
    jobs        {"jobs": [job, ...]}
    over HTTP   a single object is under its name: {"item": item}, {"job": job}, {"token": token}, ...
    one error   {"success": false, "error": {"type", "message", "suggestions"}}, and `item_id` as above

Times are ISO 8601 in UTC. `next` is the value of `after` for the next page. Keys may be added, never renamed or removed.
The order of the fields here is the order in the JSON.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, cast

from pagekeep import model
from pagekeep.model import JobState, QualityLevel, Scope, Strategy, plain
from pagekeep.model.lists import edited_fields
from pagekeep.present.archive_shapes import Picture

if TYPE_CHECKING:
    from typing import TypedDict

    from pagekeep.rules.rule import Rule
else:
    try:  # FastAPI needs this one before Python 3.12; without FastAPI the package may be missing, and either will do
        from typing_extensions import TypedDict
    except ImportError:
        from typing import TypedDict


class Item(TypedDict):
    """A saved page."""

    id: str
    url: str
    """The normalised URL: two saves with the same one are the same item."""
    url_full: str
    """The URL as it was entered."""
    title: str
    domain: str
    author: str | None
    source: str
    """`web`; `html` if the caller sent the page; `import:...`."""
    pinned: bool
    archived: bool
    discarded: bool
    edited: bool
    """Whether the user edited the text; a new extraction does not replace it."""
    edited_fields: list[str]
    """Fields that the user edited: `title`, `author`, `published_at`, `site_name`. A new extraction does not replace them."""
    site_name: str | None
    tags: list[str]
    suggested_tags: list[str]
    """Those that are not tags yet."""
    quality: QualityLevel | None
    score: int | None
    """0 to 100."""
    strategy: str | None
    kind: str | None
    """What sort of page it is, such as article, forum or document."""
    file_type: str | None
    """Of a document, the type of its file, such as `PDF`. The file itself is at `/api/v1/items/{id}/file`."""
    page_count: int | None
    """Of a document with pages, how many there are."""
    word_count: int | None
    reading_time: str | None
    language: str | None
    reason: str | None
    """Why there is no content."""
    suggestion: str | None
    """What to do about it."""
    fetch_again: bool | None
    """If the page could not be fetched and only its URL is kept: whether trying again can help. Otherwise null."""
    failed: bool
    """Whether the page could not be saved, and the bookmark was not kept: it is in the list of failed saves only."""
    last_error: dict[str, Any] | None
    retry_count: int
    link: dict[str, Any] | None
    """If the page has gone from the web or blocks us: `state` (gone or blocked), `reason`, `since`, and `archived`, the URL
    of a copy in a web archive. Otherwise null."""
    part_of: str | None
    """Of an attachment: the id of the item of its message."""
    attachments: list[str]
    """Of a message: the ids of the items of its attachments."""
    parser_version: int | None
    used_js_rendering: bool
    saved_at: str
    published_at: str | None
    updated_at: str
    last_opened_at: str | None
    deleted_at: str | None


class WholeItem(Item):
    """An item with its content."""

    content: str
    """Frontmatter and Markdown."""
    pictures: list[Picture]
    """The pictures of the page in its order: kept, or left out and why."""


class SavedItem(Item):
    """An item with the result of a save."""

    outcome: Literal["added", "updated", "kept"]
    """`kept` if the new extraction is worse than the stored one, which stays."""
    note: str | None
    """Why the stored version was kept."""
    warnings: list[str]
    pictures_job: str | None
    """Id of the job that downloads the page's pictures; null when there is nothing to download."""


class FoundItem(Item):
    """An item found by a search."""

    snippet: str
    """Text around the matching words, which are between `[[` and `]]`."""
    rank: float


class Items(TypedDict):
    """A page of items."""

    items: list[Item]
    next: str | None
    """The value of `after` for the next page; null on the last page."""


class Hits(TypedDict):
    """A page of search results."""

    items: list[FoundItem]
    next: str | None
    """The value of `after` for the next page; null on the last page."""


class Job(TypedDict):
    """A save or reparse in the queue."""

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
    task: Literal[
        "save",
        "reparse",
        "import",
        "watch",
        "links",
        "webhook",
        "archive",
        "pictures",
        "copies",
        "feeds",
        "keep_entry",
        "mail",
    ]
    item_id: str | None
    """The item a save created or updated; for a save that failed, the bookmark that keeps its URL."""
    report: dict[str, Any] | None
    """Of a reparse: `updated`, `unchanged`, `kept`, `failed` and `notes`. Of an import: `added`, `updated`, `unchanged`,
    `skipped` and `failed` rows, `queued` pages, and `failures` and `remarks` with the place and the reason. Of a job that keeps
    pictures: `kept`, `left_out` and `bytes`."""
    options: dict[str, Any]


class Page(TypedDict):
    """A page that was extracted and not stored."""

    url: str | None
    title: str | None
    kind: str
    strategy: Strategy
    file_type: str | None
    """Of a document, the type of its file, such as `PDF`."""
    page_count: int | None
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
    rules: list[str]
    """Ids of the site rules that matched, in the order they ran."""
    document: str
    """Frontmatter and Markdown."""


class Annotation(TypedDict):
    """A highlight, or a note on the whole page."""

    id: str
    item_id: str
    quote: str
    before: str
    after: str
    note: str
    colour: str | None
    created_at: str
    updated_at: str


class Token(TypedDict):
    """An access token without its secret."""

    id: str
    name: str
    scopes: list[Scope]
    created_at: str
    last_used_at: str | None
    expires_at: str | None


class Fault(TypedDict):
    """An error in a rule file."""

    file: str
    line: int
    path: str
    rule: str
    message: str
    suggestion: str


def item_shape(item: model.Item) -> Item:
    """Return an item without its content."""
    known = item.metadata
    return {
        "id": item.id,
        "url": item.url,
        "url_full": item.url_full,
        "title": item.title,
        "domain": item.domain,
        "author": item.author,
        "source": item.source,
        "pinned": bool(known.pinned),
        "archived": bool(known.archived),
        "discarded": known.discarded,
        "edited": known.edited,
        "edited_fields": list(edited_fields(item)),
        "site_name": known.site_name,
        "tags": list(known.tags),
        "suggested_tags": list(known.open_suggestions),
        "quality": known.quality,
        "score": known.score,
        "strategy": known.strategy,
        "kind": known.kind,
        "file_type": known.file_type,
        "page_count": known.page_count,
        "word_count": known.word_count,
        "reading_time": known.reading_time,
        "language": known.language,
        "reason": known.reason,
        "suggestion": known.suggestion,
        "fetch_again": known.fetch_again,
        "failed": known.failed,
        "last_error": cast("dict[str, Any] | None", known.last_error),
        "retry_count": known.retry_count,
        "link": dict(known.link) if known.link else None,
        "part_of": known.part_of,
        "attachments": list(known.attachments),
        "parser_version": known.parser_version,
        "used_js_rendering": bool(known.used_js_rendering),
        "saved_at": item.saved_at,
        "published_at": item.published_at,
        "updated_at": item.updated_at,
        "last_opened_at": item.last_opened_at,
        "deleted_at": item.deleted_at,
    }


def whole_item_shape(item: model.Item, pictures: list[Picture]) -> WholeItem:
    """Return an item with its content and its pictures."""
    from pagekeep.present.item_content import shown_content  # it loads the YAML library

    return {**item_shape(item), "content": shown_content(item), "pictures": pictures}


def items_shape(items: Iterable[model.Item], next: str | None = None) -> Items:
    """Return a page of items and the key of the next page."""
    return {"items": [item_shape(item) for item in items], "next": next}


def hit_shape(hit: model.Hit) -> FoundItem:
    """Return a search result."""
    return {**item_shape(hit.item), "snippet": hit.snippet or "", "rank": hit.rank or 0.0}


def saved_shape(saved: model.SaveResult) -> SavedItem:
    """Return the result of a save."""
    warnings = [warning.text for warning in saved.warnings]
    result = {"outcome": saved.outcome, "note": saved.note, "warnings": warnings, "pictures_job": saved.pictures_job}
    return cast("SavedItem", {**item_shape(saved.item), **result})


def job_shape(job: model.Job) -> Job:
    """Return a job."""
    return {
        "id": job.id,
        "url": job.url,
        "url_full": job.url_full,
        "state": job.state,
        "attempts": job.attempts,
        "error": cast("dict[str, Any] | None", job.error),
        "run_after": job.run_after,
        "leased_by": job.leased_by,
        "leased_until": job.leased_until,
        "created_at": job.created_at,
        "task": job.options.get("task", "save"),
        "item_id": job.options.get("item"),
        "report": job.options.get("report"),
        "options": dict(job.options),
    }


def page_shape(page: model.Page) -> Page:
    """Return a page that was extracted and not stored."""
    return cast("Page", {**page.to_json(), "document": page.document})


def trace_shape(page: model.Page) -> dict[str, Any]:
    """Return how a page was extracted; the texts of its warnings are in `notes`."""
    shape: dict[str, Any] = plain(page.trace)
    return shape | {"notes": [warning["text"] for warning in shape.pop("warnings")]}


def annotation_shape(annotation: model.Annotation) -> Annotation:
    """Return an annotation."""
    return cast("Annotation", plain(annotation))


def token_shape(token: model.Token) -> Token:
    """Return a token without its secret and owner."""
    return cast("Token", {name: value for name, value in plain(token).items() if name != "user_id"})


def rule_shape(rule: Rule) -> dict[str, Any]:
    """Return a rule as in a rule file, and where it is defined."""
    from pagekeep.rules.loading import rule_data

    source = rule.source
    where = {"file": source.name, "line": source.line, "shipped": source.shipped} if source else None
    return {**rule_data(rule), "source": where}


def fault_shape(fault: model.RuleFault) -> Fault:
    """Return an error in a rule file."""
    return {
        "file": fault.file,
        "line": fault.line,
        "path": fault.path,
        "rule": fault.rule,
        "message": fault.message,
        "suggestion": fault.suggestion,
    }
