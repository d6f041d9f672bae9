"""Site knowledge: what many pages of one site have in common, learned from their texts and their trees."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Final
from zlib import crc32

from pagekeep import dom
from pagekeep.extraction.locate.survey import (
    Survey,
    find_blocks,
    find_innermost,
    has_no_block,
    measure_own_text,
    sum_blocks,
    survey_page,
)
from pagekeep.model.page import PageSigns, SiteKnowledge
from pagekeep.rules.rulebook import Rulebook
from pagekeep.text import compile_lazily

__all__ = [
    "MAX_SAMPLE",
    "MAX_SHINGLES",
    "MAX_SIGNS",
    "MIN_PAGES",
    "MIN_SHARE",
    "SHINGLE_WORDS",
    "fingerprint",
    "learn",
    "learn_signs",
    "make_shingles",
    "read_signs",
    "split_words",
]


MIN_PAGES: Final = 8
"""Pages that must show a text before it is taken for furniture of the site, and that are needed to learn at all."""
MIN_SHARE: Final = 0.25
"""Share of the pages that must show it: a section may have its own furniture, but a quotation may be on a few pages."""
MAX_SAMPLE: Final = 400
"""Pages from which is learned; more bring nothing, and cost memory."""
_MAJORITY: Final = 0.5
"""Share of the pages from which on they are taken for most of a site's pages; a site may have two kinds of page."""


def learn(fingerprints: Iterable[frozenset[int]]) -> SiteKnowledge:
    """Return what at least eight pages, and a quarter of them, have in common. The order of the pages does not matter.

    Pages with the same text count once. At most `MAX_SAMPLE` pages are looked at.
    """
    sample = set(islice(filter(None, fingerprints), MAX_SAMPLE))
    counts: Counter[int] = Counter()
    for shingles in sample:
        counts.update(shingles)
    needed = max(MIN_PAGES, MIN_SHARE * len(sample))
    return SiteKnowledge(len(sample), frozenset(shingle for shingle, count in counts.items() if count >= needed))


def learn_signs(site: SiteKnowledge, signs: Iterable[PageSigns]) -> SiteKnowledge:
    """Return the knowledge with the selector and the platform's rules that most of the pages agree on, at least eight."""
    pages = list(signs)
    needed = max(MIN_PAGES, _MAJORITY * len(pages))
    selectors = Counter(selector for page in pages for selector in page.selectors)
    rules = Counter(rule for page in pages for rule in page.rules)
    # The one that most pages agree on; of several, the shortest.
    best = min(selectors, key=lambda selector: (-selectors[selector], len(selector), selector), default=None)
    return replace(
        site,
        selector=best if best is not None and selectors[best] >= needed else None,
        rules=tuple(sorted(rule for rule, count in rules.items() if count >= needed)),
    )


MAX_SIGNS: Final = 40
"""Pages of a site whose signs are worth reading: most of its pages are made alike."""
_CONTENT_SHARE: Final = 0.9
"""Share of the content's words that its element must have; a lead may be above it."""
_KNOWN_SHARE: Final = 0.8
"""Share of a block's shingles that the content has, from which on the block is a part of it."""
_MAX_BLOCKS: Final = 5_000
_MAX_NAMES: Final = 6
"""Classes of one element that are tried."""
_MAX_LEVELS: Final = 2
"""Elements between one with a name and the content, which may have none itself."""
_NAME: Final = compile_lazily(r"-?[A-Za-z_][A-Za-z0-9_-]{1,60}", re.ASCII)
_LONE_TAGS: Final = frozenset({"main", "article"})
"""Elements that are names by themselves."""


def read_signs(
    document: dom.Document, url: str | None, content: frozenset[int], site: SiteKnowledge, rules: Rulebook
) -> PageSigns:
    """Return the signs of a page; `content` is the fingerprint of its extracted text, `site` knows what of it is furniture."""
    matched = rules.match("pre", url, document)
    platform = tuple(match.rule.id for match in matched if match.rule.trigger.host is None and not match.rule.discard)
    body = dom.first(document, "body")
    if body is None or not content:
        return PageSigns(rules=platform)
    survey, _ = survey_page(body)
    root = _find_root(survey, content, site.repeated)
    return PageSigns(tuple(_describe(survey, root)) if root else (), platform)


def _find_root(survey: Survey, content: frozenset[int], repeated: frozenset[int]) -> int:
    """Return the innermost element that has the content; 0, the whole body, says nothing."""
    words = [0] * len(survey.nodes)
    blocks = find_blocks(measure_own_text(survey, links=True), 1)
    for block in islice((block for block in blocks if has_no_block(survey, block)), _MAX_BLOCKS):
        found = split_words(dom.text_of(survey.nodes[block]))
        shingles = make_shingles(found)
        needed = _KNOWN_SHARE * max(1, len(shingles))
        if sum(map(content.__contains__, shingles)) >= needed > sum(map(repeated.__contains__, shingles)):
            words[block] = len(found)
    mass = sum_blocks(survey, words, 1)
    return find_innermost(survey, mass, _CONTENT_SHARE) if mass[0] else 0


def _describe(survey: Survey, root: int) -> Iterator[str]:
    """Yield selectors that find the element and nothing else, by its own names or by those of one around it."""
    path, index = "", root
    for _ in range(_MAX_LEVELS + 1):
        node = survey.nodes[index]
        if not index or not isinstance(node, dom.Element):
            return
        found = False
        for name in _names(node):
            if len(dom.select(survey.nodes[0], name + path)) == 1:
                found = True
                yield name + path
        if found:
            return
        path = f" > {node.tag}{path}"
        index = survey.parent[index]


def _names(node: dom.Element) -> Iterator[str]:
    """Yield selectors for an element by its names; those of one page only do not matter, as no other page has them."""
    if (name := node.attr("id")) and _NAME.fullmatch(name):
        yield f"#{name}"
    classes = (node.attr("class") or "").split()[:_MAX_NAMES]
    yield from (f"{node.tag}.{name}" for name in classes if _NAME.fullmatch(name))
    if node.attr("role") == "main":
        yield "[role=main]"
    if node.tag in _LONE_TAGS:
        yield node.tag


SHINGLE_WORDS: Final = 4
MAX_SHINGLES: Final = 20_000
"""Shingles of one page that are looked at; a page of 20,000 words is long."""
_WORD: Final = compile_lazily(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+"
)
"""A word, or one character of a script without spaces between words."""
_DIGITS: Final = compile_lazily(r"\d+")


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case; numbers are all the same, because counters and dates change."""
    return [_DIGITS.sub("0", word) for word in _WORD.findall(text.lower())]


def make_shingles(words: list[str]) -> list[int]:
    """Return the shingles of a block; one with fewer words is a single shingle."""
    if not words:
        return []
    count = max(1, len(words) - SHINGLE_WORDS + 1)
    return [crc32(" ".join(words[first : first + SHINGLE_WORDS]).encode("utf-8", "replace")) for first in range(count)]


def fingerprint(text: str) -> frozenset[int]:
    """Return the shingles of a page's text (`Page.text`), block by block."""
    found: set[int] = set()
    for line in text.splitlines():
        found.update(make_shingles(split_words(line)))
        if len(found) >= MAX_SHINGLES:
            break
    return frozenset(found)
