"""Join the extracted pages of an article to one page: what they repeat is kept once, notes are numbered through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from pagekeep import dom
from pagekeep.capture.joined_file import Part, unpack
from pagekeep.capture.page_output import replace_content, write_output
from pagekeep.errors import PagekeepError
from pagekeep.extraction import pages as labels
from pagekeep.extraction.output import quality
from pagekeep.extraction.output.result_parts import leave_out
from pagekeep.model import Check, Fetched, Options, Page, PageWarning, Quality, Trace
from pagekeep.model.page import JoinedPage
from pagekeep.text import count_words, normalise_tokens, number_of

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
    output = write_output(root)
    is_cut = any(warning.code == "truncated" for page in pages for warning in page.trace.warnings)
    return replace_content(
        first,
        output,
        quality=quality.assess(output, first.strategy, first.metadata, None, _compare(pages), is_cut=is_cut),
        trace=_merge_traces(first.trace, pages, notes),
        need_render=None,
        continuation=None,
    )


def _compare(pages: tuple[Page, ...]) -> quality.Comparison:
    """Return what was lost on any of the pages."""
    checks = [check for page in pages for check in page.quality.checks if check.name == "nothing_lost"]
    lost = tuple(dict.fromkeys(check.reason for check in checks if not check.passed))
    return quality.Comparison(lost=lost, note=_COMPARED)


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


_LEADING: Final = 8
"""Blocks at the beginning of a page that may be repeated: headline, byline, date, picture, introduction."""
_EDGE: Final = 4
"""Blocks at both ends of a page that may be links to other pages."""
_WRAPPERS: Final = frozenset({"div", "section"})
_BLOCKS: Final = frozenset(
    "p h1 h2 h3 h4 h5 h6 ul ol dl blockquote hr div section details address pre table figure".split()
)


def join_blocks(roots: list[dom.Element], title: str) -> tuple[dom.Element, list[list[str]]]:
    """Return one element with the blocks of all pages, and the texts of what was left out of each."""
    pages = [_flatten(root) for root in roots]
    notes = _take_notes(pages)
    dropped: list[list[str]] = [[] for _ in pages]
    for page, left_out in zip(pages, dropped, strict=True):
        _drop_page_links(page, left_out)
    for number in range(len(pages) - 1):  # the last copy of what every page ends with is at the end
        _drop_end(pages[number], pages[number + 1], dropped[number])
    known = {_key(block) for block in pages[0]}
    heading = " ".join(normalise_tokens(title))
    for page, left_out in zip(pages[1:], dropped[1:], strict=True):
        _drop_beginning(page, known, heading, left_out)
        known.update(_key(block) for block in page)
    root = dom.element("div", None, *(dom.copy(block) for page in pages for block in page))
    if notes is not None:
        dom.append(root, notes)
    return root, dropped


def _flatten(root: dom.Element) -> list[dom.Element]:
    """Return the blocks of a page, without elements that only hold others."""
    found: list[dom.Element] = []
    waiting: list[dom.Node] = list(reversed(root.children))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dom.Element):
            if dom.text_of(node).strip():
                found.append(dom.element("p", None, dom.text_of(node)))
        elif node.tag in _WRAPPERS and not dom.attributes(node).get("class") and _holds_only_blocks(node):
            waiting.extend(reversed(node.children))
        else:
            found.append(node)
    return found


def _holds_only_blocks(node: dom.Element) -> bool:
    for child in node.children:
        is_block = isinstance(child, dom.Element) and child.tag in _BLOCKS
        if not is_block and dom.text_of(child).strip():
            return False
    return True


def _key(block: dom.Element) -> str:
    """Return what makes two blocks the same: their words, or the addresses of their pictures."""
    words = " ".join(normalise_tokens(dom.text_of(block)))
    images = " ".join(str(image.attr("src") or "") for image in _images(block))
    return f"{words} {images}".strip()


def _images(block: dom.Element) -> list[dom.Element]:
    return [block] if block.tag == "img" else dom.tagged(block, ("img",))


def _drop_end(page: list[dom.Element], following: list[dom.Element], left_out: list[str]) -> None:
    """Drop the blocks at the end of a page that its next page ends with too."""
    while len(page) > 1 and following and _key(page[-1]) and _key(page[-1]) == _key(following[-1]):
        left_out.append(dom.text_of(page.pop()))
        following = following[:-1]


def _drop_beginning(page: list[dom.Element], known: set[str], heading: str, left_out: list[str]) -> None:
    """Drop what the beginning of a page repeats."""
    kept = []
    for place, block in enumerate(page[:_LEADING]):
        key = _key(block)
        is_title = (
            block.tag in ("h1", "h2") and bool(heading) and key.startswith(heading) and len(key) <= len(heading) + 20
        )
        if key and (key in known or (is_title and place < 3)):
            left_out.append(dom.text_of(block))
        else:
            kept.append(block)
    page[:_LEADING] = kept


def _drop_page_links(page: list[dom.Element], left_out: list[str]) -> None:
    """Drop blocks at both ends of a page that only lead to other pages."""
    for side in (0, -1):
        for _ in range(_EDGE):
            if len(page) > 1 and labels.is_page_list(" ".join(dom.text_of(page[side]).split())):
                left_out.append(dom.text_of(page.pop(side)))


def _take_notes(pages: list[list[dom.Element]]) -> dom.Element | None:
    """Take the footnotes out of all pages, numbered through, and return them as one section."""
    items: list[dom.Element] = []
    for page in pages:
        sections = [block for block in page if _is_notes(block)]
        page[:] = [block for block in page if not _is_notes(block)]
        own = [item for section in sections for item in dom.select(section, "ol > li")]
        names: dict[str, str] = {}
        for number, item in enumerate(own, start=len(items) + 1):
            if name := dom.attributes(item).get("id", ""):
                names[name] = f"fn-{number}"
                dom.set_attr(item, "id", names[name])
        for block in (*page, *own):
            _renumber(block, names)
        items += own
    if not items:
        return None
    return dom.element("section", {"class": "footnotes"}, dom.element("ol", None, *(dom.copy(item) for item in items)))


def _is_notes(block: dom.Element) -> bool:
    return block.tag == "section" and "footnotes" in dom.attributes(block).get("class", "").split()


def _renumber(block: dom.Element, names: dict[str, str]) -> None:
    """Let the references to footnotes in a block lead to their new numbers."""
    for link in dom.select(block, "sup.footnote-ref a[href]"):
        new = names.get(dom.attributes(link)["href"].removeprefix("#"))
        if new:
            dom.set_attr(link, "href", f"#{new}")
            for child in list(link.children):
                dom.drop(child)
            dom.append(link, new.removeprefix("fn-"))
