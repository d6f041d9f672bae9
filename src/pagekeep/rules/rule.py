"""The fields of a rule as typed values; `loading` reads them from YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Literal, NamedTuple

from pagekeep.model import RuleFault
from pagekeep.values import dataclass

Phase = Literal["pre", "post", "both"]
"""Before extraction (on the raw tree), after it (on the extracted tree), or both."""

TriggerMode = Literal["all", "any"]
RenderMode = Literal["auto", "force", "never"]
Position = Literal["append", "prepend", "before", "after", "index"]
ReorderMethod = Literal["move_to_top", "move_to_bottom"]
MetadataField = Literal[
    "title", "author", "published", "modified", "description", "site_name", "canonical", "hero_image", "language"
]

Basis = Literal["measured", "platform knowledge"]
"""Why a rule is shipped: it gains on corpus pages that it was not written with, or its site or platform is one that many
people save pages of, and its test page shows what it does."""

ThreadStyle = Literal["comments", "messages", "chat"]
"""A post with comments below it, messages of equal rank (a mail thread), or turns of a chat."""

DataFormat = Literal["text", "html", "bbcode"]

Op = Literal[
    "retag",
    "wrap",
    "unwrap",
    "remove_container",
    "remove_children",
    "remove_parent",
    "remove_outer_parent",
    "remove_to_parent",
    "move",
    "remove_attrs",
    "set_attr",
    "replace_with_text",
    "group_siblings",
    "reorder",
    "break_lines",
    "insert_data",
]


@dataclass(frozen=True, slots=True)
class HostTrigger:
    """The hosts a rule applies to; one matching form is enough."""

    equals: tuple[str, ...] = ()
    """The host without a leading `www.` label."""
    equals_www: tuple[str, ...] = ()
    """The exact host, `www.` included."""
    ends_with: tuple[str, ...] = ()
    """The host itself or any host below it, by whole labels."""
    etld_plus_one: tuple[str, ...] = ()
    """The registrable domain by the public suffix list."""


@dataclass(frozen=True, slots=True)
class DomTrigger:
    """What the page must contain; every form in use must match."""

    any: tuple[str, ...] = ()
    """At least one of these selectors matches."""
    all: tuple[str, ...] = ()
    """Every one of these selectors matches."""
    any_text_contains: tuple[str, ...] = ()
    """At least one of these texts occurs in the page."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """When a rule applies; at least one of `host` and `dom` is set."""

    host: HostTrigger | None = None
    dom: DomTrigger | None = None
    mode: TriggerMode = "all"
    """Whether host and DOM must both match, when both are set."""


@dataclass(frozen=True, slots=True)
class Rendering:
    """How to fetch the page."""

    mode: RenderMode = "auto"
    wait_for: str | None = None
    """CSS selector that must match before a rendered page is read."""
    timeout: int | None = None
    """Milliseconds."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of the page that the extractor sees."""

    wrapper: str | None = None
    article: str | None = None
    """Preferred over the wrapper where both match."""


@dataclass(frozen=True, slots=True)
class MessageSource:
    """Where a message states something about itself."""

    selector: str | None = None
    """An element in the message; without one, the message itself."""
    attrs: tuple[str, ...] = ()
    """The attributes that contain it, the first one present; without any, the element's text."""
    unit: str | None = None
    """A word to write after a bare number."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """The name to show for the messages that a selector matches."""

    selector: str
    name: str


@dataclass(frozen=True, slots=True)
class Thread:
    """Where a page has its messages, and what each states about itself."""

    message: str
    """Each message; one inside another is a reply to it."""
    text: str
    """The text in a message."""
    style: ThreadStyle = "comments"
    post: str | None = None
    """What the comments are about; without it, the first message."""
    self_replies: bool = False
    """Whether the messages that follow the first by the same author belong to it."""
    author: MessageSource | None = None
    speakers: tuple[Speaker, ...] = ()
    date: MessageSource | None = None
    link: MessageSource | None = None
    """Its own address; without it, the link at its date."""
    score: MessageSource | None = None
    depth: MessageSource | None = None
    """How far it is indented, a number, where replies are not inside each other."""
    citations: str | None = None
    """Links to sources, which become footnotes."""


@dataclass(frozen=True, slots=True)
class Action:
    """One change to the tree; `schema` defines the fields of each operation."""

    op: Op
    selector: str
    tag: str | None = None
    wrapper_tag: str | None = None
    class_: str | None = None
    """`class` in the file."""
    parent: str | None = None
    target: str | None = None
    position: Position = "append"
    index: int | None = None
    attrs: tuple[str, ...] = ()
    attr: str | None = None
    value: str | None = None
    template: str | None = None
    method: ReorderMethod | None = None
    after: str | None = None
    path: str | None = None
    format: DataFormat = "text"


@dataclass(frozen=True, slots=True)
class MetadataSource:
    """Where the page states a metadata field."""

    selector: str
    attr: str | None = None
    """The attribute that contains it; without one, the element's text."""


NoSource = Literal["none"]
"""In place of a source, for a field that the site states wrongly: the page's own value is ignored."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Quality thresholds for a site where the general ones are wrong."""

    min_words: int | None = None
    max_link_density: float | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Where a rule is defined, for messages."""

    name: str
    """File name, without its folder."""
    line: int
    shipped: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """What is special about a site or platform, and what to do about it."""

    id: str
    phase: Phase
    trigger: Trigger
    priority: int = 50
    """Higher runs first within a phase; ties run in file order, users' rules before shipped ones."""
    rendering: Rendering | None = None
    selector_overrides: Scope | None = None
    thread: Thread | None = None
    remove: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    next_page: tuple[str, ...] = ()
    """Selectors of the link to the next page of an article."""
    single_page: tuple[str, ...] = ()
    """Selectors of the link to all of an article on one page."""
    metadata: Mapping[MetadataField, MetadataSource | NoSource] = field(default_factory=lambda: MappingProxyType({}))
    quality: Thresholds | None = None
    discard: bool = False
    basis: Basis | None = None
    source: Source | None = None


class Loaded(NamedTuple):
    """The valid rules of a file, in file order, and what is wrong with the others."""

    rules: tuple[Rule, ...]
    faults: tuple[RuleFault, ...]
