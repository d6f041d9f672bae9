"""From HTML to Markdown, as a list of steps over one state. Pure: the same input gives the same bytes.

This module joins the rooms `extraction` and `markdown`, which do not import each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Final

from pagekeep import dom, markdown
from pagekeep.extraction import clean, locate, metadata, pages, prune, site_rules
from pagekeep.extraction.classify import browser_need, caught, kind
from pagekeep.extraction.input import structured, urls
from pagekeep.extraction.input.decode import decode, document_type
from pagekeep.extraction.locate import page_facts, strategies, survey
from pagekeep.extraction.locate.profiles import PROFILES
from pagekeep.extraction.output import quality, result_parts
from pagekeep.extraction.output.quality import Output
from pagekeep.extraction.output.result_parts import find_skipped, leave_out, list_on_demand, sanitise_content
from pagekeep.extraction.prune.cut import cut, report_doubts, report_removals
from pagekeep.extraction.state import State
from pagekeep.extraction.steps import Phase, Step, Stopwatch, check_skippable, run_steps
from pagekeep.model import Options, Page, PageWarning, Removal, Trace
from pagekeep.rules import shipped
from pagekeep.rules.rulebook import Rulebook
from pagekeep.text import count_words

_DEFAULTS: Final = Options()
_MAX_REVERTS: Final = 3
"""Parts of rules after which a page is not extracted again: behind a selector for the article there may be another."""


def _decode(state: State) -> None:
    """Decode the bytes of the page to text; refuse what is too large, empty or not a page."""
    state.source, warnings = decode(state.html, state.options)
    state.warnings += warnings


def _parse(state: State) -> None:
    """Parse the text to a tree."""
    state.document, simplified = dom.parse_bounded(state.source)
    state.warnings += tuple(PageWarning("flattened", text) for text in simplified)
    if state.inspect:
        state.inspect(state.document)
    state.document_type = document_type(state.source, state.document)
    state.body = dom.first(state.document, "body") or state.document.root or dom.element("body")  # a page may have none


def _record_structures(state: State) -> None:
    """Note the code blocks, tables, lists, images and formulas of the page as it arrived, for the loss check."""
    state.arrived = quality.record(state.body)


def _read_structured_data(state: State) -> None:
    """Read JSON-LD and microdata."""
    state.structured = structured.read(state.document)


def _read_metadata(state: State) -> None:
    """Read title, author, dates and the rest of what the page says about itself."""
    state.names = site_rules.Names(state.document)
    state.metadata = metadata.read(state.document, state.structured, state.url, state.names)
    state.base_url = urls.base(state.document, state.url or state.metadata.canonical)
    state.continuation = pages.find(state.document, state.url, state.base_url, state.options.find_pages)


def _apply_rules_before(state: State) -> tuple[Removal, ...]:
    """Apply the site rules for the page as it came; a rule may discard the page."""
    given = (state.rules, state.url, state.document, state.body, state.reverts, state.names)
    state.before = before = site_rules.apply_before(*given, state.options.site.rules if state.options.site else ())
    state.rule_matches, state.discarded_by = before.matched, before.discarded_by
    state.metadata = site_rules.apply_overrides(state.metadata, before.metadata)
    return before.removals


def _survey_page(state: State) -> None:
    """Number the nodes of the page and measure their text; flatten deep nesting and cut off huge pages."""
    state.survey, state.survey_warnings = survey.survey_page(state.body)


def _collect_wall_signs(state: State) -> None:
    """Collect signs of a wall, an error page or an empty shell while the page is still whole."""
    status, removed = state.options.status, state.before.removed
    state.signals = caught.collect(
        state.document, state.survey, state.structured, state.source, state.url, status, removed
    )


def _classify(state: State) -> None:
    """Decide what kind of page it is: an article, a forum thread, a product..."""
    verdict = kind.classify(state.structured, state.survey, state.url)
    state.kind, state.kind_reasons = verdict.kind, verdict.reasons
    if state.before.scope and state.before.scope.thread:
        state.kind, state.kind_reasons = "forum", ("a rule found the messages of a thread",)


def _locate(state: State) -> None:
    """Find the content by one of the strategies, in the whole page or the part that a rule chose."""
    scope, options = state.before.scope, state.options
    if scope:
        state.whole_survey = state.survey
        state.survey, state.survey_warnings = survey.survey_page(scope.take())
    state.facts = page_facts.collect(
        state.survey, state.structured, state.metadata, PROFILES[state.kind],
        scope.kind if scope else None, state.before.bounds,
        skip=options.skip_steps, selectors=options.selectors, site=options.site,
    )  # fmt: skip
    state.warnings += state.survey_warnings
    state.outcome = strategies.run(state.facts, partial(prune.prune, skip=options.skip_steps), options.timer, options)


def _keep_included_parts(state: State) -> None:
    """Keep the parts within the content that rules include, where they are."""
    if state.outcome.content and state.before.parts:
        content, state.before = site_rules.keep_in_place(state.survey, state.outcome.content, state.before)
        state.rule_matches = state.before.matched
        state.outcome = replace(state.outcome, content=content, candidate=content)


def _report_removals(state: State) -> tuple[Removal, ...]:
    """Report what is left out of the content or nearly was, and why."""
    if not state.outcome.candidate:
        return ()
    state.doubts = report_doubts(state.survey, state.outcome.candidate)
    return report_removals(state.survey, state.outcome.candidate)


def _cut(state: State) -> None:
    """Cut the content out of the tree."""
    outcome = state.outcome
    # A bookmark without a description shows the few words the page has.
    shown = outcome.content or (None if result_parts.has_summary(state.metadata) else outcome.candidate)
    state.content = cut(state.survey, shown) if shown else result_parts.make_bookmark_content(state.metadata)


def _expect_structures(state: State) -> None:
    """Decide which of the page's structures belong to the content and must be in the result."""
    found, nodes = state.outcome.content, state.survey.nodes
    if state.arrived and found and found.made is None:
        removed = {*state.before.removed, *(nodes[index] for index in found.excluded)}
        state.expected = quality.expect(state.arrived, state.content, nodes[found.root], removed)


def _apply_rules_after(state: State) -> tuple[Removal, ...]:
    """Apply the site rules for the content that was found; a rule may still discard the page."""
    before = state.before if state.outcome.content else state.before.without_parts()
    after = site_rules.apply_after(state.rules, state.url, state.content, state.source, before, state.reverts)
    state.after = after
    state.rule_matches, state.discarded_by = after.matched, after.discarded_by
    state.metadata = site_rules.apply_overrides(state.metadata, after.metadata)
    state.changes.removed.update(after.removed)
    return after.removals


def _warn_of_relative_links(state: State) -> None:
    """Warn of relative links and images when the page's address is not known."""
    if state.base_url is None and urls.has_relative(state.content):
        text = "the page's own address is not known: relative links and pictures were left out"
        state.warnings.append(PageWarning("unknown_address", text))


def _clean(state: State) -> list[Removal]:
    """Turn the content into clean HTML, by the steps of the clean-up."""
    skip, changes = state.options.skip_steps, state.changes
    state.content, removals = clean.clean(state.content, state.base_url, skip=skip, changes=changes)
    return removals


def _sanitise(state: State) -> None:
    """Remove everything outside the vocabulary of clean HTML; nothing executable passes."""
    state.clean = sanitise_content(state.content)


def _write_markdown(state: State) -> None:
    """Write the clean HTML as Markdown and as plain text."""
    tree, html, root = state.clean
    text = markdown.to_text(tree)
    state.output = Output(root, html, text, markdown.to_markdown(tree), count_words(text))


def _recognise_walls(state: State) -> None:
    """Recognise a wall, an error page or an empty shell that came instead of the page."""
    output = state.output
    found = caught.judge(state.signals, output.text, output.word_count, state.outcome.strategy)
    if found and found.kind == "empty_shell" and state.facts.scope == "article":
        found = None  # a rule says that these are the page's own words, few as they are
    if found and found.kind == "login_wall" and state.before.scope and state.before.scope.thread:
        found = None  # guests see the first messages of a thread, and an invitation to see more
    state.caught = found


def _decide_on_browser(state: State) -> None:
    """Decide whether a browser would show more; a rule's decision comes first."""
    output, strategy = state.output, state.outcome.strategy
    need = browser_need.need_render(state.signals.render_signs, output.text, output.word_count, strategy)
    state.need_render = browser_need.apply_rule(need, state.before.rendering, rendered=state.options.rendered)


def _fall_back_to_bookmark(state: State) -> None:
    """Keep a bookmark when something else came instead of the page, or too few words are left of it."""
    words, wall = state.output.word_count, state.caught
    if state.outcome.content and (wall or words < strategies.min_words(state.facts)):
        reason = wall.reason if wall else f"only {words} words were left after the clean-up"
        state.outcome = strategies.fall_back_to_bookmark(state.outcome, reason)
    if not state.outcome.content and not _may_show(state):
        state.content = result_parts.make_bookmark_content(state.metadata)
        for write in (_clean, _sanitise, _write_markdown):
            write(state)


def _choose_hero_image(state: State) -> None:
    """Choose the picture that represents the page: the first real one of the content, else the one it declares."""
    if state.outcome.content:
        state.metadata = metadata.choose_hero_image(state.metadata, state.output.root, state.kind, state.structured)


def _detect_language(state: State) -> None:
    """Detect the language, unless the page names it."""
    state.metadata = metadata.add_language(state.metadata, state.document, state.output.text)


def _choose_tags(state: State) -> None:
    """Choose tags from keywords, categories, the domain and the text."""
    state.metadata = metadata.add_tags(state.metadata, state.output.text, state.url)


def _assess(state: State) -> None:
    """Score the result and check that nothing was lost."""
    output, outcome, comparison = state.output, state.outcome, quality.NOT_COMPARED
    if state.expected and outcome.content:
        comparison = quality.compare(state.expected, state.content, state.changes, output.root, output.markdown)
        state.warnings += comparison.warnings
    reason = None if outcome.content else result_parts.explain_failure(state.caught, outcome.attempts)
    is_cut = any(warning.code == "truncated" for warning in state.warnings)
    state.quality = quality.assess(output, outcome.strategy, state.metadata, reason, comparison, is_cut=is_cut)


def _list_links_and_media(state: State) -> None:
    """List the links, images, videos and audio of the content."""
    state.links, state.media = list_on_demand(state.clean.html)


STEPS: Final[list[Step[State]]] = [
    Step("decode", _decode, required=True),
    Step("parse", _parse, required=True),
    Step("record-structures", _record_structures, may_fail=True),
    Step("structured-data", _read_structured_data, required=True),
    Step("metadata", _read_metadata, required=True),
    Step("rules-before", _apply_rules_before),
    Step("survey", _survey_page, required=True),
    Step("wall-signs", _collect_wall_signs, required=True),
    Step("kind", _classify),
    Step("locate", _locate, required=True),
    Step("rules-include", _keep_included_parts),
    Step("report-removals", _report_removals, may_fail=True),
    Step("cut", _cut, required=True),
    Step("expect-structures", _expect_structures, may_fail=True),
    Step("rules-after", _apply_rules_after),
    Step("relative-links", _warn_of_relative_links),
    Step("clean", _clean, required=True),
    Step("sanitise", _sanitise, required=True),
    Step("markdown", _write_markdown, required=True),
    Step("walls", _recognise_walls),
    Step("browser-need", _decide_on_browser),
    Step("bookmark", _fall_back_to_bookmark),
    Step("hero-image", _choose_hero_image, may_fail=True),
    Step("language", _detect_language, may_fail=True),
    Step("tags", _choose_tags, may_fail=True),
    Step("quality", _assess, required=True, may_fail=True),
    Step("links-and-media", _list_links_and_media, may_fail=True),
]
"""What happens to a page, in this order."""
_UP_TO_CUT: Final = STEPS[: 1 + next(place for place, step in enumerate(STEPS) if step.run is _cut)]

PHASES: Final = (
    Phase("pipeline", "The whole way of a page; its steps `locate` and `clean` have the lists below.", STEPS),
    Phase("locate", "Before a strategy looks for the content, what is surely not content is left out.", locate.STEPS),
    Phase("prune", "What a strategy found is narrowed down.", prune.STEPS),
    Phase("clean", "The content is turned into clean HTML, the form that Markdown is written from.", clean.STEPS),
)
"""Every list of steps: what `--skip-step` takes and docs/steps.md lists."""


def extract(
    html: str | bytes,
    url: str | None = None,
    *,
    rules: Rulebook | None = None,
    options: Options = _DEFAULTS,
    inspect: Callable[[dom.Document], None] | None = None,
) -> Page:
    """Return the page's content as Markdown, with its metadata; its `document` is left to `markdown.write_document`.

    `rules` defaults to the shipped rules; `inspect` gets the page's tree before anything in it is changed. Raises `TooLarge`,
    `UnsupportedContent` or `ParseError` for input that is not a page; every page gives a result, if only a bookmark. Raises
    `NotFound` or `NotOffered` for a step that cannot be skipped.
    """
    if options.skip_steps:
        check_skippable(options.skip_steps, PHASES)
    timer = options.timer or options.stopwatch
    stopwatch = Stopwatch(timer) if timer else None
    rules = shipped() if rules is None else rules
    state, removals = _run(State(html, url, rules, options, inspect=inspect), stopwatch)
    if (suspects := _find_suspects(state)) and _is_worth_reverting(state):
        state, removals = _revert(state, removals, suspects, stopwatch)
    trace = Trace(
        document_type=state.document_type,
        kind_reasons=state.kind_reasons,
        attempts=state.outcome.attempts,
        removals=tuple(removals),
        doubts=state.doubts,
        rules=state.rule_matches,
        warnings=tuple(state.warnings),
        seconds=MappingProxyType(stopwatch.seconds if stopwatch else {}),
    )
    output, outcome = state.output, state.outcome
    assessed = state.quality or quality.unassessed(outcome.strategy)
    page = result_parts.make_page(
        url,
        output,
        state.metadata,
        state.kind,
        assessed,
        outcome.strategy,
        trace,
        links=state.links,
        media=state.media,
        caught=state.caught,
        need_render=state.need_render,
        selector=outcome.content.selector if outcome.content else None,
        discarded_by=state.discarded_by,
        continuation=state.before.continuation or state.continuation,
    )
    return leave_out(page, options)


def _is_worth_reverting(state: State) -> bool:
    """Return whether the page without any rule has so much more prose that rules may have taken its content."""
    trial = State(state.html, state.url, Rulebook(), state.options)
    run_steps(_UP_TO_CUT, trial, skip=find_skipped(state.options), warn=trial.warnings.append)
    return site_rules.is_destructive(_found(state), trial.content if trial.outcome.content else None)


def _revert(
    state: State, removals: list[Removal], suspects: tuple[site_rules.Revert, ...], stopwatch: Stopwatch | None
) -> tuple[State, list[Removal]]:
    """Extract the page again without the suspected parts of rules, and without those behind them; return the better one."""
    other, other_removals = state, removals
    while suspects and len(other.reverts) < _MAX_REVERTS:
        reverts = (*other.reverts, *suspects)
        other, other_removals = _run(State(state.html, state.url, state.rules, state.options, reverts), stopwatch)
        suspects = _find_suspects(other)
    if not site_rules.is_destructive(_found(state), _found(other)):
        return state, removals
    other.warnings.append(site_rules.warn_of_reverts(other.reverts))
    return other, other_removals


def _run(state: State, stopwatch: Stopwatch | None) -> tuple[State, list[Removal]]:
    """Run all steps over the page; return the state, and what the steps removed."""
    removals = run_steps(
        STEPS, state, skip=find_skipped(state.options), record=stopwatch.record if stopwatch else None,
        until=lambda state: bool(state.discarded_by), warn=state.warnings.append,
    )  # fmt: skip
    if state.discarded_by:
        _empty(state)
    return state, removals


def _find_suspects(state: State) -> tuple[site_rules.Revert, ...]:
    """Return the parts of rules that took more prose than the result has."""
    return site_rules.find_suspects(state.before, state.after, state.whole_survey, _found(state))


def _found(state: State) -> dom.Element | None:
    """Return the content that was found, or `None` for a bookmark or a discarded page."""
    return state.output.root if state.outcome.content else None


def _may_show(state: State) -> bool:
    """Return whether a bookmark keeps the text that was found.

    The teaser of a paywall is the beginning of the article; a few words without a description are all that the page
    says. What came instead of the page, or is around an empty root, is not its text.
    """
    if state.caught:
        return state.caught.kind == "paywall"
    has_summary = result_parts.has_summary(state.metadata)
    return not has_summary and not state.need_render and state.output.word_count < strategies.FULL_PAGE_MIN_WORDS


def _empty(state: State) -> None:
    """Leave only a record of a discarded page: what it was and which rule discarded it."""
    state.kind = "article"
    state.outcome = strategies.Outcome("discarded", None, ())
    state.output = Output(dom.element("div"), "", "", "", 0)
    state.quality = quality.discarded(f"Content discarded by rule {state.discarded_by}")
