"""The JSON shapes of versions, differences, watched pages and changes; as all others, for the API, the CLI and MCP."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, cast

from pagekeep import model
from pagekeep.present import diff as changes
from pagekeep.present.json_shapes import Annotation, TypedDict, same_as, shape_of, to_json


@shape_of(model.Snapshot, url="final_url")
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


@shape_of(model.Snapshot, url="final_url")
class WholeVersion(Version):
    """A version with its text, made by the current parser."""

    title: str
    content: str
    """Frontmatter and Markdown."""


@same_as(changes.Part)
class DiffPart(TypedDict):
    """Words that are the same in both versions, or only in one."""


@same_as(changes.Block)
class DiffBlock(TypedDict):
    """A paragraph, or a number of unchanged ones that are left out."""

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


@shape_of(model.Change, words_added="added", words_removed="removed")
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


def diff_shape(
    before: model.Snapshot, after: model.Snapshot, diff: changes.WordDiff, lost: Iterable[model.Annotation] = ()
) -> Diff:
    """Return the differences between two versions."""
    return {
        "before": to_json(Version, before),
        "after": to_json(Version, after),
        "words_added": diff.added,
        "words_removed": diff.removed,
        "blocks": [to_json(DiffBlock, block) for block in diff.blocks],
        "cut": diff.cut,
        "lost_annotations": [to_json(Annotation, annotation) for annotation in lost],
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
    return to_json(Change, change, url=item.url_full, title=item.title)


def link_shape(item: model.Item, state: str, reason: str | None) -> LinkCheck:
    """Return the result of checking an item's address."""
    link = dict(item.metadata.link) if item.metadata.link else None
    about = {"item_id": item.id, "url": item.url_full, "title": item.title}
    return cast("LinkCheck", {**about, "state": state, "reason": reason, "link": link})
