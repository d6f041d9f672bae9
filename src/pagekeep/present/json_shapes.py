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

A shape is a `TypedDict` of a dataclass: `@same_as` gives it the fields of the dataclass, `@shape_of` says where the fields come
from that it declares itself. `to_json` then makes one of the other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, ForwardRef, Literal, TypeVar, cast

from pagekeep import model
from pagekeep.model import JobState, QualityLevel, Strategy, plain
from pagekeep.model.lists import edited_fields

if TYPE_CHECKING:
    from typing import TypedDict as TypedDict

    from pagekeep.rules.rule import Rule
else:
    try:  # FastAPI needs this one before Python 3.12; without FastAPI the package may be missing, and either will do
        from typing_extensions import TypedDict
    except ImportError:
        from typing import TypedDict

Shape = TypeVar("Shape")
ShapeClass = TypeVar("ShapeClass", bound=type)
_AS_THEY_ARE: Final = frozenset((str, int, float, bool, type(None)))
_READERS: Final[dict[type, _Reader]] = {}
"""How values become JSON: by shape, and by the dataclass of a value in another one."""


def to_json(shape: type[Shape], value: object, /, **named: object) -> Shape:
    """Return a dataclass as JSON in a shape; `named` are the fields that it does not have."""
    return cast("Shape", _READERS[shape].read(value, named))


def _value_to_json(value: Any) -> Any:
    """Return a value of a dataclass as JSON: other dataclasses in their shapes, tuples as lists."""
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if kind in _READERS:
        return _READERS[kind].read(value, {})
    if kind is tuple or kind is list:
        return [_value_to_json(one) for one in value]
    return {key: _value_to_json(one) for key, one in value.items()} if isinstance(value, Mapping) else value


def same_as(
    value: type, *, omit: str = "", **sources: str | Callable[[Any], object]
) -> Callable[[ShapeClass], ShapeClass]:
    """Give a shape the fields of a dataclass but for those in `omit`; what it declares itself has other types or is added."""

    def derive(shape: ShapeClass) -> ShapeClass:
        own, left_out = shape.__annotations__, omit.split()
        fields = {
            name: ForwardRef(annotation, module=value.__module__)
            for name, annotation in value.__annotations__.items()
            if name in value.__dataclass_fields__ and name not in left_out  # type: ignore[attr-defined]
        }
        shape.__annotations__ = {**fields, **own}
        shape.__required_keys__ = frozenset(shape.__annotations__)  # type: ignore[attr-defined]
        return shape_of(value, **sources)(shape)

    return derive


def shape_of(value: type, *parts: str, **sources: str | Callable[[Any], object]) -> Callable[[ShapeClass], ShapeClass]:
    """Make a `TypedDict` the shape of a dataclass, whose fields it has under the same names.

    `parts` are fields of the dataclass that are dataclasses: their fields count too. `sources` are attributes by another name,
    or functions of the value. A field that is found nowhere is `named` in calls of `to_json`.
    """

    def register(shape: ShapeClass) -> ShapeClass:
        _READERS[shape] = reader = _Reader(shape, value, parts, sources)
        _READERS.setdefault(value, reader)
        return shape

    return register


class _Reader:
    """Reads the fields of a shape from a dataclass."""

    def __init__(
        self, shape: type, value: type, parts: tuple[str, ...], sources: Mapping[str, str | Callable[[Any], object]]
    ) -> None:
        module = vars(sys.modules[value.__module__])
        holders = {"": value, **{f"{part}.": module[value.__annotations__[part]] for part in parts}}
        paths = {
            name: f"{prefix}{name}"
            for name in shape.__annotations__
            for prefix, holder in reversed(holders.items())
            if name in holder.__annotations__ or hasattr(holder, name)
        }
        paths |= {name: source for name, source in sources.items() if isinstance(source, str)}
        self._made = {name: source for name, source in sources.items() if not isinstance(source, str)}
        self._found = tuple(name for name in paths if name not in self._made)
        self._get = attrgetter(*(paths[name] for name in self._found))
        self._empty = dict.fromkeys(shape.__annotations__)
        self._named = self._empty.keys() - self._made.keys() - set(self._found)

    def read(self, value: Any, named: Mapping[str, object]) -> dict[str, Any]:
        if not self._named <= named.keys():
            raise TypeError(f"missing fields of {type(value).__name__}: {self._named - named.keys()}")
        shape: dict[str, Any] = self._empty.copy()
        for name, found in zip(self._found, self._get(value), strict=True):
            shape[name] = (
                found if type(found) in _AS_THEY_ARE else _value_to_json(found)
            )  # a call each doubles the time
        for name, make in self._made.items():
            shape[name] = _value_to_json(make(value))
        shape.update(named)
        return shape


@shape_of(
    model.Item,
    "metadata",
    pinned=lambda item: bool(item.metadata.pinned),
    archived=lambda item: bool(item.metadata.archived),
    edited_fields=edited_fields,
    suggested_tags="metadata.open_suggestions",
    link=lambda item: item.metadata.link or None,
    used_js_rendering=lambda item: bool(item.metadata.used_js_rendering),
)
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


@shape_of(model.ItemBlob, url="source", bytes="size", media_type=lambda picture: picture.media_type or None)
class Picture(TypedDict):
    """A picture of an item, kept or left out."""

    url: str
    state: Literal["kept", "left_out", "missing"]
    """`missing` until it was downloaded, or tried to."""
    reason: str | None
    """Why it was left out, as a code such as `not_found`; of a kept picture `downscaled`, or null."""
    message: str | None
    """The reason in words."""
    main: bool
    """Whether it is the picture that represents the page."""
    media_type: str | None
    width: int | None
    height: int | None
    bytes: int | None
    hash: str | None
    """SHA-256 of the kept file."""


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


@shape_of(
    model.Job,
    task=lambda job: job.options.get("task", "save"),
    item_id=lambda job: job.options.get("item"),
    report=lambda job: job.options.get("report"),
)
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


@same_as(model.Annotation)
class Annotation(TypedDict):
    """A highlight, or a note on the whole page."""


@same_as(model.Token, omit="user_id")
class Token(TypedDict):
    """An access token without its secret."""


@shape_of(model.RuleFault)
class Fault(TypedDict):
    """An error in a rule file."""

    file: str
    line: int
    path: str
    rule: str
    message: str
    suggestion: str


def whole_item_shape(item: model.Item, pictures: list[Picture]) -> WholeItem:
    """Return an item with its content and its pictures."""
    from pagekeep.present.item_content import shown_content  # it loads the YAML library

    return {**to_json(Item, item), "content": shown_content(item), "pictures": pictures}


def items_shape(items: Iterable[model.Item], next: str | None = None) -> Items:
    """Return a page of items and the key of the next page."""
    return {"items": [to_json(Item, item) for item in items], "next": next}


def hit_shape(hit: model.Hit) -> FoundItem:
    """Return a search result."""
    return {**to_json(Item, hit.item), "snippet": hit.snippet or "", "rank": hit.rank or 0.0}


def saved_shape(saved: model.SaveResult) -> SavedItem:
    """Return the result of a save."""
    warnings = [warning.text for warning in saved.warnings]
    result = {"outcome": saved.outcome, "note": saved.note, "warnings": warnings, "pictures_job": saved.pictures_job}
    return cast("SavedItem", {**to_json(Item, saved.item), **result})


def page_shape(page: model.Page) -> Page:
    """Return a page that was extracted and not stored."""
    return cast("Page", {**page.to_json(), "document": page.document})


def trace_shape(page: model.Page) -> dict[str, Any]:
    """Return how a page was extracted; the texts of its warnings are in `notes`."""
    shape: dict[str, Any] = plain(page.trace)
    return shape | {"notes": [warning["text"] for warning in shape.pop("warnings")]}


def rule_shape(rule: Rule) -> dict[str, Any]:
    """Return a rule as in a rule file, and where it is defined."""
    from pagekeep.rules.loading import rule_data

    source = rule.source
    where = {"file": source.name, "line": source.line, "shipped": source.shipped} if source else None
    return {**rule_data(rule), "source": where}
