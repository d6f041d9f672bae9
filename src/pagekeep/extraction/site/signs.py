"""Read how a page of a site is made: which element has its content, and which platform made it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate import prose
from pagekeep.extraction.locate.survey import Survey, survey_page
from pagekeep.extraction.site.shingles import make_shingles, split_words
from pagekeep.model.site import PageSigns, SiteKnowledge
from pagekeep.rules.rulebook import Rulebook
from pagekeep.text import compile_lazily

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
    blocks = prose.find_blocks(prose.measure_own_text(survey, links=True), 1)
    for block in islice((block for block in blocks if prose.has_no_block(survey, block)), _MAX_BLOCKS):
        found = split_words(dom.text_of(survey.nodes[block]))
        shingles = make_shingles(found)
        needed = _KNOWN_SHARE * max(1, len(shingles))
        if sum(map(content.__contains__, shingles)) >= needed > sum(map(repeated.__contains__, shingles)):
            words[block] = len(found)
    mass = prose.sum_blocks(survey, words, 1)
    return prose.find_innermost(survey, mass, _CONTENT_SHARE) if mass[0] else 0


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
