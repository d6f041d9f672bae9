"""The state of one page on its way through the steps of the pipeline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

from pagekeep import dom
from pagekeep.extraction import clean, site_rules
from pagekeep.extraction.classify import caught
from pagekeep.extraction.input import structured
from pagekeep.extraction.locate import page_facts, strategies, survey
from pagekeep.extraction.output.quality import Arrived, Expected, Output
from pagekeep.extraction.output.result_parts import Content
from pagekeep.model import (
    Caught,
    DocumentType,
    Doubt,
    Kind,
    Metadata,
    NeedRender,
    Options,
    PageWarning,
    Quality,
    RuleMatch,
)
from pagekeep.model.page import Continuation
from pagekeep.rules.rulebook import Names, Rulebook
from pagekeep.values import dataclass


@dataclass(slots=True)
class State:
    """One page on its way through the steps. Each field is set by the step named before it."""

    html: str | bytes
    url: str | None
    rules: Rulebook
    options: Options
    reverts: tuple[site_rules.Revert, ...] = ()
    """Parts of rules that are not applied, because they took most of the prose."""
    warnings: list[PageWarning] = field(default_factory=list)
    inspect: Callable[[dom.Document], None] | None = None
    """Gets the page's tree before anything in it is changed."""

    # decode, parse
    source: str = ""
    document: dom.Document = field(init=False)
    document_type: DocumentType = "html5"
    body: dom.Element = field(init=False)

    # record-structures, expect-structures: for the loss check
    arrived: Arrived | None = None
    expected: Expected | None = None

    # structured-data, metadata; rules, language and tags change the metadata
    structured: structured.Structured = field(init=False)
    names: Names = field(init=False)
    """The class and id names of the page as it arrived."""
    metadata: Metadata = field(init=False)
    base_url: str | None = None
    """What relative links are resolved against; `None` when the page's address is not known. A file without an address may
    still name the one it came from."""
    continuation: Continuation | None = None

    # rules-before, rules-after
    before: site_rules.Before = field(default_factory=site_rules.Before)
    after: site_rules.After = field(default_factory=site_rules.After)
    rule_matches: tuple[RuleMatch, ...] = ()
    discarded_by: str | None = None
    """Id of the rule that discarded the page: no further step runs."""

    # survey, wall-signs, kind, locate
    whole_survey: survey.Survey | None = None
    """The survey of the whole page, where a rule chose a part of it."""
    survey: survey.Survey = field(init=False)
    survey_warnings: tuple[PageWarning, ...] = ()
    signals: caught.Signals = field(init=False)
    kind: Kind = "article"
    kind_reasons: tuple[str, ...] = ()
    facts: page_facts.PageFacts = field(init=False)
    outcome: strategies.Outcome = field(init=False)
    doubts: tuple[Doubt, ...] = ()

    # cut, clean, sanitise, markdown
    content: dom.Element = field(init=False)
    changes: clean.Changes = field(default_factory=clean.Changes)
    """What rules and clean-up did to the content on purpose, for the loss check."""
    clean: Content = field(init=False)
    output: Output = field(init=False)

    # walls, browser-need, quality, links-and-media
    caught: Caught | None = None
    need_render: NeedRender | None = None
    quality: Quality | None = None
    links: Any = ()
    """Of type `tuple[Link, ...]`, or makes one when it is read from the page; so are the media."""
    media: Any = ()
