"""Join the extracted pages of an article to one page: what they repeat is kept once, notes are numbered through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from pagekeep import dom, markdown
from pagekeep.capture.joining.blocks import join_blocks
from pagekeep.capture.joining.parts import Part, unpack
from pagekeep.errors import PagekeepError
from pagekeep.extraction.output import losses, quality, references
from pagekeep.extraction.output.quality import Output
from pagekeep.extraction.output.sanitise import sanitise
from pagekeep.extraction.output.switches import leave_out
from pagekeep.model import Check, Fetched, Options, Page, PageWarning, Quality, Trace
from pagekeep.model.continuation import JoinedPage
from pagekeep.text import count_words, number_of, reading_time

Extract = Callable[[Fetched], Page]
_COMPARED: Final = "code, tables, lists, images, math and links of all pages are there"


def extract_joined(fetched: Fetched, options: Options, extract: Extract) -> Page:
    """Extract every page of a joined article, and return them as one page with the metadata of the first."""
    pages = unpack(fetched.body)
    first = extract(pages.parts[0].fetched)
    if first.strategy in ("bookmark", "discarded"):
        return first
    read = [(pages.parts[0], first)]
    for part in pages.parts[1:]:
        try:
            page = extract(part.fetched)
        except PagekeepError:
            continue
        if page.strategy not in ("bookmark", "discarded"):
            read.append((part, page))
    whole = next((entry for entry in read if entry[0].role == "whole"), None)
    joined = _use_whole(first, *whole) if whole else _join(read)
    return leave_out(_warn(joined, pages.missing), options)


def _use_whole(first: Page, part: Part, whole: Page) -> Page:
    """Return the first page with the content of the page that has all of the article."""
    note = JoinedPage(part.fetched.final_url, whole.word_count, f"all of the article: {part.note}")
    return _with_content(first, dom.parse_fragment(whole.html), (first, whole), (note,))


def _join(read: list[tuple[Part, Page]]) -> Page:
    first = read[0][1]
    roots = [dom.parse_fragment(page.html) for _, page in read]
    root, dropped = join_blocks(roots, first.metadata.title or "")
    notes = []
    for number, ((part, page), left_out) in enumerate(zip(read, dropped, strict=True), start=1):
        repeated = f"; left out what it repeats: {number_of(len(left_out), 'block')}" if left_out else ""
        words = page.word_count - sum(count_words(text) for text in left_out)
        notes.append(
            JoinedPage(part.fetched.final_url, words, f"page {number}: {part.note or 'the first page'}{repeated}")
        )
    return _with_content(first, root, tuple(page for _, page in read), tuple(notes)).copy_with(page_count=len(read))


def _with_content(first: Page, root: dom.Element, pages: tuple[Page, ...], notes: tuple[JoinedPage, ...]) -> Page:
    html, tree = sanitise(root)
    text = markdown.to_text(tree)
    output = Output(tree, html, text, markdown.to_markdown(tree), count_words(text))
    is_cut = any(warning.code == "truncated" for page in pages for warning in page.trace.warnings)
    assessed = quality.assess(output, first.strategy, first.metadata, None, _compare(pages), is_cut=is_cut)
    return first.copy_with(
        markdown=output.markdown,
        html=html,
        text=text,
        links=references.links(tree),
        media=references.media(tree),
        quality=assessed,
        word_count=output.word_count,
        reading_time=reading_time(output.word_count),
        trace=_merge_traces(first.trace, pages, notes),
        need_render=None,
        continuation=None,
    )


def _compare(pages: tuple[Page, ...]) -> losses.Comparison:
    """Return what was lost on any of the pages."""
    checks = [check for page in pages for check in page.quality.checks if check.name == "nothing_lost"]
    lost = tuple(dict.fromkeys(check.reason for check in checks if not check.passed))
    return losses.Comparison(lost=lost, note=_COMPARED)


def _merge_traces(first: Trace, pages: tuple[Page, ...], notes: tuple[JoinedPage, ...]) -> Trace:
    traces = [page.trace for page in pages]
    rules = {match.id: match for trace in reversed(traces) for match in trace.rules}
    return replace(
        first,
        removals=tuple(removal for trace in traces for removal in trace.removals),
        doubts=tuple(doubt for trace in traces for doubt in trace.doubts),
        rules=tuple(rules[name] for name in dict.fromkeys(match.id for trace in traces for match in trace.rules)),
        warnings=tuple(dict.fromkeys(warning for trace in traces for warning in trace.warnings)),
        pages=notes,
    )


def _warn(page: Page, missing: str | None) -> Page:
    """Return the page with a warning that pages are missing; an article that lacks its end is not complete."""
    if missing is None:
        return page
    checks = tuple(
        Check("whole_page", False, missing) if one.name == "whole_page" else one for one in page.quality.checks
    )
    old = page.quality
    reason = "; ".join(filter(None, (old.reason, missing)))
    lowered = Quality(old.score, "simplified", "yellow", "Article captured (simplified)", checks, reason)
    judged = lowered if old.level == "article" else replace(old, checks=checks)
    return page.copy_with(quality=judged).with_warnings(PageWarning("pages_missing", missing))
