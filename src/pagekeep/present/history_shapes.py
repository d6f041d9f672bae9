"""The JSON shapes of versions, differences, watched pages and changes; as all others, for the API, the CLI and MCP."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, cast

from pagekeep import model
from pagekeep.model import plain
from pagekeep.present.diff import BlockKind, Operation, WordDiff
from pagekeep.present.json_shapes import Annotation, annotation_shape

if TYPE_CHECKING:
    from typing import TypedDict
else:
    try:  # as in `json_shapes`
        from typing_extensions import TypedDict
    except ImportError:
        from typing import TypedDict


class Version(TypedDict):
    """A stored version of a page."""

    number: int
    fetched_at: str
    url: str
    """After redirects."""
    status: int
    rendered: bool
    source: str
    """How it was captured: as of an item, or `restored`."""
    size: int
    """Bytes of the raw page."""
    hash: str
    """SHA-256 of the raw page."""
    pinned: bool
    """Kept whatever the limits on the number and age of versions are."""
    current: bool


class WholeVersion(Version):
    """A version with its text, made by the current parser."""

    title: str
    content: str
    """Frontmatter and Markdown."""


class DiffPart(TypedDict):
    """Words that are the same in both versions, or only in one."""

    operation: Operation
    text: str


class DiffBlock(TypedDict):
    """A paragraph, or a number of unchanged ones that are left out."""

    kind: BlockKind
    parts: list[DiffPart]
    count: int
    """Blocks that are left out, if `kind` is `skipped`."""


class Diff(TypedDict):
    """The differences between two versions, both read by the current parser."""

    before: Version
    after: Version
    words_added: int
    words_removed: int
    blocks: list[DiffBlock]
    cut: bool
    """Whether only the first blocks are listed."""
    lost_annotations: list[Annotation]
    """Those whose words are in the version before and not in the one after."""


class Watch(TypedDict):
    """A watched page."""

    item_id: str
    url: str
    title: str
    every: str
    """Such as `6h` or `1d`."""
    next_at: str
    last_run_at: str | None
    failures: int
    """Visits that failed since the last that succeeded."""
    error: str | None


class Change(TypedDict):
    """A change of a watched page."""

    id: str
    item_id: str
    url: str
    title: str
    before: int
    """Number of the version before."""
    after: int
    words_added: int
    words_removed: int
    excerpt: str
    """The first words that are new, or else those that were removed."""
    found_at: str
    seen_at: str | None


class LinkCheck(TypedDict):
    """The result of checking an address."""

    item_id: str
    url: str
    title: str
    state: Literal["ok", "gone", "blocked", "unreachable"]
    """Of this check."""
    reason: str | None
    link: dict[str, str | None] | None
    """What several checks found: `state` (gone or blocked), `reason`, `since`, `archived`. Null if the address works."""


def version_shape(version: model.Snapshot) -> Version:
    """Return a version."""
    fields = plain(version)
    return cast("Version", {name: fields["final_url" if name == "url" else name] for name in Version.__annotations__})


def whole_version_shape(version: model.Snapshot, item: model.Item) -> WholeVersion:
    """Return a version with its text."""
    return {**version_shape(version), "title": item.title, "content": item.content}


def diff_shape(
    before: model.Snapshot, after: model.Snapshot, diff: WordDiff, lost: Iterable[model.Annotation] = ()
) -> Diff:
    """Return the differences between two versions."""
    return {
        "before": version_shape(before),
        "after": version_shape(after),
        "words_added": diff.added,
        "words_removed": diff.removed,
        "blocks": [
            {
                "kind": block.kind,
                "parts": [{"operation": part.operation, "text": part.text} for part in block.parts],
                "count": block.count,
            }
            for block in diff.blocks
        ],
        "cut": diff.cut,
        "lost_annotations": [annotation_shape(annotation) for annotation in lost],
    }


def watch_shape(item: model.Item, schedule: model.Schedule, every: str) -> Watch:
    """Return a watched page."""
    return {
        "item_id": item.id,
        "url": item.url_full,
        "title": item.title,
        "every": every,
        "next_at": schedule.next_at,
        "last_run_at": schedule.last_run_at,
        "failures": schedule.attempts,
        "error": schedule.state.get("error"),
    }


def change_shape(change: model.Change, item: model.Item) -> Change:
    """Return a change with the item it is of."""
    return {
        "id": change.id,
        "item_id": item.id,
        "url": item.url_full,
        "title": item.title,
        "before": change.before,
        "after": change.after,
        "words_added": change.added,
        "words_removed": change.removed,
        "excerpt": change.excerpt,
        "found_at": change.found_at,
        "seen_at": change.seen_at,
    }


def link_shape(item: model.Item, state: str, reason: str | None) -> LinkCheck:
    """Return the result of checking an item's address."""
    shape = {"item_id": item.id, "url": item.url_full, "title": item.title, "state": state, "reason": reason}
    return cast("LinkCheck", {**shape, "link": dict(item.metadata.link) if item.metadata.link else None})
