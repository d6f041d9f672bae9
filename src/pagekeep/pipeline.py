"""The whole way from HTML to Markdown, readable from top to bottom. Pure: same input, same output, byte for byte.

This module composes the rooms `extract` and `markdown`, which know nothing of each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple

from pagekeep import dom, markdown
from pagekeep.extraction import metadata, site_rules
from pagekeep.extraction.classify import browser_need, caught, kind
from pagekeep.extraction.clean import clean
from pagekeep.extraction.input import structured, urls
from pagekeep.extraction.input.decode import decode
from pagekeep.extraction.input.doctype import document_type
from pagekeep.extraction.locate import page_facts, survey
from pagekeep.extraction.locate.profiles import PROFILES
from pagekeep.extraction.locate.strategies import chain, full_page
from pagekeep.extraction.metadata import language, tags
from pagekeep.extraction.output import losses, quality, references
from pagekeep.extraction.output.quality import Written
from pagekeep.extraction.output.sanitise import sanitise
from pagekeep.extraction.prune import cut, prune
from pagekeep.model import Attempt, Caught, Metadata, NeedRender, Options, Page, PageWarning, Removal, Trace
from pagekeep.rules import shipped
from pagekeep.rules.rule import Rendering
from pagekeep.rules.rulebook import Rulebook
from pagekeep.text import count_words, reading_time

_DEFAULTS: Final = Options()
_NO_ADDRESS: Final = PageWarning(
    "unknown_address", "the page's own address is not known: relative links and pictures were left out"
)
_HEAD: Final = 1_024
"""Characters of the source in which a doctype is looked for."""


def extract(
    html: str | bytes, url: str | None = None, *, rules: Rulebook | None = None, options: Options = _DEFAULTS
) -> Page:
    """The page's content as Markdown, with everything the page says about itself.

    Raises `TooLarge`, `UnsupportedContent` or `ParseError` for input that is no page; any page gives a result, if only a
    bookmark.
    """
    rules = shipped() if rules is None else rules
    clock = _Clock(options.timer)

    source, warnings = decode(html, options)
    document = dom.parse(source)
    body = _body(document)
    clock.lap("parse")

    data = structured.read(document)
    about = metadata.read(document, data, url)
    base = urls.base(document, url or about.canonical)  # a file without an address may still say where it came from
    clock.lap("metadata")

    before = site_rules.before(rules, url, document, body)
    if before.discarded_by:
        told = Trace(document_type(source[:_HEAD], document), rules=before.matched, warnings=warnings)
        return _discarded(before.discarded_by, about, url, told)
    about = site_rules.with_overrides(about, before.metadata)
    clock.lap("rules")

    sought = _find(document, body, source, data, about, before, url, options, clock)
    found, outcome, verdict = sought.found, sought.outcome, sought.verdict

    if outcome.content and before.parts:
        kept_there, before = site_rules.keep_in_place(found, outcome.content, before)
        outcome = replace(outcome, content=kept_there, tried=kept_there)
    removed = cut.report_removals(found, outcome.tried) if outcome.tried else ()
    # A bookmark without a description shows the few words the page has.
    shown = outcome.content or (None if about.description else outcome.tried)
    content = cut.cut(found, shown) if shown else _bookmark(about)
    after = site_rules.after(rules, url, content, source, before if outcome.content else before.without_parts())
    about = site_rules.with_overrides(about, after.metadata)
    told = Trace(
        document_type=document_type(source[:_HEAD], document),
        kind_reasons=verdict.reasons,
        removals=(*before.removals, *after.removals, *removed),
        rules=after.matched,
        warnings=(*warnings, *sought.warnings),
    )
    if after.discarded_by:
        return _discarded(after.discarded_by, about, url, told)

    if base is None and urls.has_relative(content):
        told = replace(told, warnings=(*told.warnings, _NO_ADDRESS))
    written, cleaned = _write(content, base, options)
    told = replace(told, removals=(*told.removals, *cleaned))
    written, outcome, trap, need_render = _settle(written, sought, outcome, before, about, base, options)
    clock.lap("write")

    about = _with_language_and_tags(about, document, written.text, url)
    reason = None if outcome.content else _failure(outcome, trap)
    judged = quality.assess(written, outcome.strategy, about, reason)
    clock.lap("judge")

    return Page(
        url=url,
        markdown=written.markdown,
        document="",
        html=written.html,
        text=written.text,
        metadata=about,
        links=references.links(written.root),
        media=references.media(written.root),
        kind=verdict.kind,
        quality=judged,
        strategy=outcome.strategy,
        trace=replace(
            told,
            attempts=outcome.attempts,
            warnings=(*told.warnings, *losses.warnings(written.page, written.root)),
            seconds=MappingProxyType(clock.seconds),
        ),
        word_count=written.word_count,
        reading_time=reading_time(written.word_count),
        caught=trap,
        need_render=need_render,
        selector=outcome.content.selector if outcome.content else None,
    )


class _Sought(NamedTuple):
    """What is known of the page before anything is cut out of it."""

    found: survey.Survey
    warnings: tuple[PageWarning, ...]
    signals: caught.Signals
    verdict: kind.Verdict
    page: page_facts.PageFacts
    outcome: chain.Outcome


def _find(
    document: dom.Document,
    body: dom.Element,
    source: str,
    data: structured.Structured,
    about: Metadata,
    before: site_rules.Before,
    url: str | None,
    options: Options,
    clock: _Clock,
) -> _Sought:
    """Survey the page, tell its kind, and find its content there, or in the part that a rule chose."""
    found, warnings = _survey(body)
    signals = caught.look(document, found, data, source, url, options.status, before.gone)
    verdict = kind.classify(data, found, url)
    clock.lap("survey")

    if before.scope:
        found, warnings = _survey(before.scope.take())
    scope = before.scope.kind if before.scope else None
    skip = options.skip_steps
    page = page_facts.collect(
        found, data, about, PROFILES[verdict.kind], options.remembered, scope, before.bounds, skip=skip
    )
    outcome = chain.run(page, partial(prune, skip=skip), options.timer)
    clock.lap("chain")
    return _Sought(found, warnings, signals, verdict, page, outcome)


def _settle(
    written: Written,
    sought: _Sought,
    outcome: chain.Outcome,
    before: site_rules.Before,
    about: Metadata,
    base: str | None,
    options: Options,
) -> tuple[Written, chain.Outcome, Caught | None, NeedRender | None]:
    """What was written, seen once more: is it the page, or what was caught instead, or too little of it?"""
    trap = caught.judge(sought.signals, written.text, written.word_count, outcome.strategy)
    if trap and trap.kind == "empty_shell" and sought.page.scope == "article":
        trap = None  # few words as they are, a rule says that they are the page's own
    promised = browser_need.need_render(sought.signals.promise, written.text, written.word_count, outcome.strategy)
    need_render = _need_render(promised, before.rendering, options)
    if outcome.content and (trap or written.word_count < chain.min_words(sought.page)):
        left = f"only {written.word_count} words were left after the clean-up"
        outcome = chain.fall_back_to_bookmark(outcome, trap.reason if trap else left)
    if not outcome.content and not _may_show(written, about, trap, need_render):
        written, _ = _write(_bookmark(about), base, options)
    return written, outcome, trap, need_render


def keep_text(
    text: str | bytes,
    url: str | None = None,
    *,
    options: Options = _DEFAULTS,
    about: Metadata | None = None,
    plain: str | None = None,
) -> Page:
    """A page of a text that is no HTML (plain text, Markdown): kept as it is, under frontmatter of what it shows, or of
    what is known `about` it. `plain` are its words, where they are not the text itself."""
    source, warnings = decode(text, options)
    body = source.replace("\r\n", "\n").strip("\n") + "\n"
    root = dom.element("div", None, dom.element("pre", None, dom.element("code", None, body)))
    clean_html, root = sanitise(root)
    said = body if plain is None else plain
    written = Written(root, clean_html, said, body, count_words(said), {})
    about = about or Metadata(title=_first_line(body), origins=MappingProxyType({"title": "first line"}))
    about = _with_language_and_tags(about, dom.parse(""), said, url)
    judged = quality.assess(written, "verbatim", about, None)
    attempt = Attempt("verbatim", True, "not HTML, kept as it is", written.word_count)
    return Page(
        url=url,
        markdown=body,
        document="",
        html=clean_html,
        text=said,
        metadata=about,
        links=(),
        media=(),
        kind="article",
        quality=judged,
        strategy="verbatim",
        trace=Trace(attempts=(attempt,), warnings=warnings),
        word_count=written.word_count,
        reading_time=reading_time(written.word_count),
    )


def _first_line(text: str) -> str | None:
    """What a text is called: its first line that says something, without the marks of a heading."""
    for line in text.splitlines()[:50]:
        if any(map(str.isalnum, line)):
            return line.strip("#=*_- \t")[:200]
    return None


def _write(content: dom.Element, base: str | None, options: Options) -> tuple[Written, list[Removal]]:
    """Return the cut content in all its forms, sanitised, and what the clean-up removed."""
    page = losses.count_in_page(content)
    content, removals = clean(content, base, skip=options.skip_steps)
    html, root = sanitise(content)
    text = markdown.to_text(root)
    return Written(root, html, text, markdown.to_markdown(root), count_words(text), page), removals


@dataclass(slots=True)
class _Clock:
    """Seconds per stage, measured with the caller's timer or not at all."""

    timer: Callable[[], float] | None
    seconds: dict[str, float] = field(default_factory=dict)
    last: float = 0.0

    def __post_init__(self) -> None:
        self.last = self.timer() if self.timer else 0.0

    def lap(self, stage: str) -> None:
        if self.timer:
            now = self.timer()
            self.seconds[stage], self.last = now - self.last, now


def _body(document: dom.Document) -> dom.Element:
    """What is surveyed and changed; a page without a body still has an empty one."""
    return dom.first(document, "body") or document.root or dom.element("body")


def _survey(root: dom.Element) -> tuple[survey.Survey, tuple[PageWarning, ...]]:
    """The survey of a tree; deep nests are flattened, and what was not looked at is said."""
    warnings: list[PageWarning] = []
    found = survey.survey(root)
    if found.too_deep:
        flattened = dom.bound_depth(root)
        text = f"nested too deep: {flattened} elements were flattened, no text was lost"
        warnings.append(PageWarning("flattened", text))
        found = survey.survey(root)
    if found.truncated:
        dom.drop_after(found.nodes[-1])
        text = f"truncated: the page has more than {survey.MAX_NODES} nodes, the rest was left out"
        warnings.append(PageWarning("truncated", text))
    return found, tuple(warnings)


def _need_render(
    promised: NeedRender | None, asked: tuple[str, Rendering] | None, options: Options
) -> NeedRender | None:
    """A rule's word on the browser stands above what the markup promises."""
    if asked is None or asked[1].mode == "never":
        return None if asked else promised
    rule_id, wanted = asked
    if wanted.mode == "force":
        promised = None if options.rendered else NeedRender(f"the rule {rule_id} asks for it")
    return replace(promised, wait_for=wanted.wait_for, timeout=wanted.timeout) if promised else None


def _bookmark(about: Metadata) -> dom.Element:
    """What is kept of a page without content: its own description."""
    return dom.element("div", None, *([dom.element("p", None, about.description)] if about.description else []))


def _may_show(written: Written, about: Metadata, trap: Caught | None, need_render: NeedRender | None) -> bool:
    """Whether a bookmark keeps the text that was found.

    A paywall's teaser is the article's own beginning; a few words without a description are all the page says. What was
    caught instead of the page, or stands around an empty root, is not its text.
    """
    if trap:
        return trap.kind == "paywall"
    return not about.description and not need_render and written.word_count < full_page.MIN_WORDS


def _failure(outcome: chain.Outcome, trap: Caught | None) -> str:
    """Why there is no content: what was caught instead of the page, or why each level failed."""
    if trap:
        return f"{trap.reason.rstrip('.')}. {trap.suggestion}"
    tried = [f"{attempt.strategy}: {attempt.reason}" for attempt in outcome.attempts if not attempt.passed]
    return "; ".join(tried)


def _with_language_and_tags(about: Metadata, document: dom.Document, text: str, url: str | None) -> Metadata:
    told = about.origins.get("language", "")
    code, origin = (about.language, told) if told else language.detect(document, text)
    chosen = tags.choose(about, text, urls.domain(url), code)
    origins = {**about.origins, **({"language": origin} if code else {})}
    return replace(about, language=code, tags=chosen, origins=MappingProxyType(origins))


def _discarded(rule_id: str, about: Metadata, url: str | None, told: Trace) -> Page:
    """The record of a page that a rule wants none of: what it was and which rule it was, nothing of what it says."""
    judged = quality.discarded(f"Content discarded by rule {rule_id}")
    return Page(
        url=url,
        markdown="",
        document="",
        html="",
        text="",
        metadata=about,
        links=(),
        media=(),
        kind="article",
        quality=judged,
        strategy="discarded",
        trace=told,
        word_count=0,
        reading_time=reading_time(0),
        discarded_by=rule_id,
    )
