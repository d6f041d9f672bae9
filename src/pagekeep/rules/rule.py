"""What a rule says, as typed values. `loading` makes them from YAML; nothing here reads a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Phase = Literal["pre", "post", "both"]
"""Before the extractor (on the raw tree), on its result, or both."""

TriggerMode = Literal["all", "any"]
RenderMode = Literal["auto", "force", "never"]
Position = Literal["append", "prepend", "before", "after", "index"]
ReorderMethod = Literal["move_to_top", "move_to_bottom"]
MetadataField = Literal[
    "title", "author", "published", "modified", "description", "site_name", "canonical", "hero_image", "language"
]

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
]


@dataclass(frozen=True, slots=True)
class HostTrigger:
    """Hosts a rule is for. One form that matches is enough."""

    equals: tuple[str, ...] = ()
    """The host without a leading `www.` label."""
    equals_www: tuple[str, ...] = ()
    """The host exactly as it is, `www.` included."""
    ends_with: tuple[str, ...] = ()
    """The host itself or any host below it, by whole labels."""
    etld_plus_one: tuple[str, ...] = ()
    """The registrable domain by the public suffix list."""


@dataclass(frozen=True, slots=True)
class DomTrigger:
    """What the page must hold. Each form that is given must hold."""

    any: tuple[str, ...] = ()
    """At least one of these selectors matches."""
    all: tuple[str, ...] = ()
    """Every one of these selectors matches."""
    any_text_contains: tuple[str, ...] = ()
    """At least one of these texts stands in the page."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """When a rule applies. At least one of the two is given."""

    host: HostTrigger | None = None
    dom: DomTrigger | None = None
    mode: TriggerMode = "all"
    """Whether host and DOM must both hold, when both are given."""


@dataclass(frozen=True, slots=True)
class Rendering:
    """How the page is to be fetched."""

    mode: RenderMode = "auto"
    wait_for: str | None = None
    """CSS selector that must be there before a rendered page is read."""
    timeout: int | None = None
    """Milliseconds."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of the page that is all the extractor sees."""

    wrapper: str | None = None
    article: str | None = None
    """Preferred over the wrapper where both match."""


@dataclass(frozen=True, slots=True)
class Action:
    """One change of the tree. Which fields an operation needs and takes is in `schema`."""

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


@dataclass(frozen=True, slots=True)
class MetadataSource:
    """Where the page states a field."""

    selector: str
    attr: str | None = None
    """The attribute that holds it; the element's text without one."""


Unstated = Literal["none"]
"""Stands in the place of a source for a field that the page states wrongly: what it says is not believed."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What a good result of this site looks like, where the general bounds are wrong."""

    min_words: int | None = None
    max_link_density: float | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Where a rule was written, for messages."""

    name: str
    """File name, without its folder."""
    line: int
    shipped: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """One piece of knowledge about a site or platform."""

    id: str
    phase: Phase
    trigger: Trigger
    priority: int = 50
    """Higher runs first within a phase; ties in file order, users' rules before shipped ones."""
    rendering: Rendering | None = None
    selector_overrides: Scope | None = None
    remove: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    metadata: Mapping[MetadataField, MetadataSource | Unstated] = field(default_factory=lambda: MappingProxyType({}))
    quality: Thresholds | None = None
    discard: bool = False
    source: Source | None = None
