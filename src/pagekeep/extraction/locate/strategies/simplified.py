"""The strategy `simplified`: usual places of content, and the data that a page embeds for its scripts.

Embedded data is used only when the tree itself has too little text: the state of a rendered page repeats it, with much that
is not shown.

The stream of React pages is rows of `id:value`, cut into pieces at any place. A value is JSON, in which
`["$", tag, key, props]` is an element and `"$1a"` the row of that id, or `T` with a length in bytes and a text.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from pagekeep import dom
from pagekeep.extraction.input import structured
from pagekeep.extraction.locate.page_facts import Content, Measure, PageFacts, measure
from pagekeep.extraction.locate.survey import Survey
from pagekeep.text import compile_lazily, number_of

# The checks of a candidate, as the design of the fallback chain states them.
MIN_WORDS: Final = 100
"""Words of a candidate, and of the result."""
_MIN_CHARS: Final = 100
"""Characters that a candidate must exceed."""
_MIN_PARAGRAPHS: Final = 2
"""Paragraphs that a candidate other than an `article` must exceed."""
_MAX_LINK_DENSITY: Final = 0.3
"""Share of text in links that a candidate must stay below."""
_MIN_TEXT_DENSITY: Final = 0.3
"""Share of text in its HTML that a block needs to be tried for its density."""

# Bounds on work, so that a page with thousands of candidates stays cheap.
_MAX_CANDIDATES: Final = 12
"""Candidates tried per selector, the largest first."""
_MAX_DENSE_CANDIDATES: Final = 4 * _MAX_CANDIDATES
"""Candidates tried for their density, the densest first."""

_TAG_CHARS: Final = 5
"""Characters of a pair of tags beside the two names: `<></>`."""
_ATTRIBUTE_CHARS: Final = 4
"""Characters of an attribute beside its name and value: ` =""`."""

_SEMANTIC: Final = (
    "article",
    "main",
    '[role="main"]',
    '[role="article"]',
    '[itemprop="articleBody"]',
)
_NAMED: Final = (
    ".post-content",
    ".entry-content",
    ".article-body",
    ".article-text",
    ".article-content",
    ".story-body",
    ".post-body",
    "#content",
    "#main-content",
    ".content",
)
_DENSE_TAGS: Final = ("main", "section", "div")
_MAX_SHELL_CHARS: Final = 2_500
"""Characters outside links from which on a page shows its text itself, so that its embedded state is not read."""
_MIN_STATE_RATIO: Final = 2
"""How many times the text of the page the text in its state must have to be more than a part of what is shown."""


def locate(facts: PageFacts) -> Content | None:
    """Return the first candidate that passes every check."""
    return next((candidate for candidate in _candidates(facts) if _find_fault(facts, candidate) is None), None)


def judge(facts: PageFacts, measured: Measure) -> str | None:
    """Return why the result is not good enough, or `None` when it is."""
    min_words = _min_words(facts)
    return None if measured.words >= min_words else f"{number_of(measured.words, 'word')}, under {min_words}"


def _min_words(facts: PageFacts) -> int:
    return MIN_WORDS if facts.bounds.min_words is None else facts.bounds.min_words


def _candidates(facts: PageFacts) -> Iterator[Content]:
    yield from _select(facts, facts.selectors)
    if facts.scope is None:  # where a rule chose a part of the page, only that part counts
        body = structured.article_body(facts.structured)
        if body:
            yield Content(0, {}, made=make_paragraphs(body))
        yield from _read_state(facts.survey)
    yield from _select(facts, (*_SEMANTIC, *_NAMED))
    yield from _densest_first(facts)


def _read_state(survey: Survey) -> Iterator[Content]:
    """Yield the article in the page's embedded state, where the page itself shows little."""
    if survey.chars[0] - survey.linked[0] < _MAX_SHELL_CHARS:
        document = _find_document(survey.nodes[0])
        for find_body in (find_state_body, find_stream_body):
            made = find_body(document)
            if made is not None and len(dom.text_of(made)) > _MIN_STATE_RATIO * survey.chars[0]:
                yield Content(0, {}, made=made)


def _find_document(node: dom.Node) -> dom.Node:
    """Return the root of the tree: a script may be in the head."""
    while node.parent is not None:
        node = node.parent
    return node


def _select(facts: PageFacts, selectors: Iterable[str]) -> Iterator[Content]:
    """Yield what each selector finds, in the order of the selectors."""
    for selector in selectors:
        indices = list(facts.survey.find_nodes(dom.select(facts.survey.nodes[0], selector)).values())
        for content in _largest_first(facts, indices):
            yield replace(content, selector=selector)


def _largest_first(facts: PageFacts, indices: list[int]) -> Iterator[Content]:
    chars = facts.survey.chars
    for index in sorted(indices, key=lambda index: (-chars[index], index))[:_MAX_CANDIDATES]:
        yield Content(index, facts.excluded)


def _densest_first(facts: PageFacts) -> Iterator[Content]:
    """Yield blocks by the share of text in their HTML, the densest first."""
    survey = facts.survey
    facts.check_time()
    blocks = [
        index for index in survey.find_tags(*_DENSE_TAGS) if survey.chars[index] > _MIN_CHARS and not facts.dead[index]
    ]
    if not any(_has_paragraphs(facts, index) for index in blocks):  # else none can pass, whatever its density is
        return
    markup = _measure_markup(survey)
    facts.check_time()
    density = {index: survey.chars[index] / (survey.chars[index] + markup[index]) for index in blocks}
    dense = [index for index, value in density.items() if value >= _MIN_TEXT_DENSITY]
    for index in sorted(dense, key=lambda index: (-density[index], index))[:_MAX_DENSE_CANDIDATES]:
        yield Content(index, facts.excluded)


def _has_paragraphs(facts: PageFacts, index: int) -> bool:
    """Return whether a block has enough paragraphs, those that are excluded too."""
    first = bisect_left(facts.sentences, index)
    return bisect_left(facts.sentences, facts.survey.end[index]) - first > _MIN_PARAGRAPHS


def _measure_markup(survey: Survey) -> list[int]:
    """Count the characters of tags and attributes in each subtree."""
    lengths = [0] * len(survey.nodes)
    for index in range(len(lengths) - 1, -1, -1):
        node = survey.nodes[index]
        if isinstance(node, dom.Element):
            attributes = dom.attributes(node)
            lengths[index] += 2 * len(node.tag) + _TAG_CHARS
            lengths[index] += sum(len(name) + len(value) + _ATTRIBUTE_CHARS for name, value in attributes.items())
        if index:
            lengths[survey.parent[index]] += lengths[index]
    return lengths


def _find_fault(facts: PageFacts, candidate: Content) -> str | None:
    """Return what is wrong with a candidate, or `None`."""
    measured = measure(facts, candidate)
    if measured.chars <= _MIN_CHARS:
        return f"only {measured.chars} characters"
    if measured.words < _min_words(facts):
        return f"{measured.words} words"
    if (
        measured.paragraphs <= _MIN_PARAGRAPHS
        and candidate.made is None
        and facts.survey.tag[candidate.root] != "article"
    ):
        return f"{measured.paragraphs} paragraphs"
    if measured.link_density >= (facts.bounds.max_link_density or _MAX_LINK_DENSITY):
        return f"{measured.link_density:.0%} of its text is in links"
    if not _has_indicator(facts):
        return "no date, author or headline"
    return None


def _has_indicator(facts: PageFacts) -> bool:
    """Return whether the page has a date, an author or a headline, as articles do."""
    metadata = facts.metadata
    return bool(metadata.author or metadata.published or metadata.title or "h1" in facts.survey.places)


_SCRIPTS: Final = 'script[type="application/json"], script#__NEXT_DATA__, script#__NUXT_DATA__'

# Bounds on work and memory, so that no page makes this expensive.
_MAX_SCRIPTS: Final = 20
"""Scripts of one page that are read."""
_MAX_STATE_CHARS: Final = 2_000_000
"""Characters of state read in all."""
_MAX_TEXT_CHARS: Final = 500_000
"""Characters of the longest text, about a novel."""
_MAX_STATE_VALUES: Final = 100_000
"""Values of a state that are looked at."""
_MAX_TEXT_BLOCKS: Final = 2_000
"""Blocks of one text."""
_MAX_BLOCK_CHILDREN: Final = 200
"""Children of one block."""
_MAX_BLOCK_DEPTH: Final = 4
"""Levels of children in a block: paragraph, mark, link, text."""
_MIN_ARTICLE_CHARS: Final = 400
"""Characters of the shortest article, to tell it from a description."""

# The names that publishing systems give to a text. Descriptions and summaries are not the text.
_NAMES: Final = frozenset(
    "articlebody body bodyhtml body_html content contenthtml content_html html markdown richtext text paragraphs blocks"
    " children rendered value".split()
)


def find_state_body(page: dom.Node) -> dom.Element | None:
    """Return the longest text in the page's state as an element, or `None` when there is no text long enough."""
    longest, chars_left = "", _MAX_STATE_CHARS
    for script in dom.select(page, _SCRIPTS)[:_MAX_SCRIPTS]:
        source = dom.text_of(script)
        chars_left -= len(source)
        if chars_left < 0:
            break
        longest = max(longest, _find_longest(_load(source)), key=len)
    return _make_element(longest) if len(longest) >= _MIN_ARTICLE_CHARS else None


def make_paragraphs(text: str) -> dom.Element:
    """Return plain text as an element with one paragraph per line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return dom.element("div", None, *[dom.element("p", None, line) for line in lines])


def _load(source: str) -> Any:
    try:
        return json.loads(source)
    except (ValueError, RecursionError):
        return None


def _find_longest(state: Any) -> str:
    """Return the longest text under one of the names; a list of blocks counts as one text."""
    longest = ""
    pending: list[tuple[str, Any]] = [("", state)]
    for _ in range(_MAX_STATE_VALUES):
        if not pending:
            break
        name, value = pending.pop()
        if isinstance(value, dict):
            pending.extend((str(key).lower(), inner) for key, inner in value.items())
        elif isinstance(value, list):
            longest = max(longest, _join_blocks(value), key=len) if name in _NAMES else longest
            pending.extend((name, inner) for inner in value)
        elif isinstance(value, str) and name in _NAMES and len(value) <= _MAX_TEXT_CHARS:
            longest = max(longest, value, key=len)
    return longest


def _join_blocks(values: list[Any]) -> str:
    """Return the texts of a list of blocks, one paragraph each."""
    return "\n".join(text for value in values[:_MAX_TEXT_BLOCKS] if (text := _read_block(value)))[:_MAX_TEXT_CHARS]


def _read_block(block: Any, depth: int = _MAX_BLOCK_DEPTH) -> str:
    """Return the text of one block, its own or its children's."""
    if isinstance(block, str):
        return block
    if isinstance(block, dict):
        texts = [value for key, value in block.items() if str(key).lower() in _NAMES and isinstance(value, str)]
        if texts:
            return max(texts, key=len)
        block = next((value for key, value in block.items() if str(key).lower() in _NAMES), None)
    if isinstance(block, list) and depth:
        return "".join(_read_block(inner, depth - 1) for inner in block[:_MAX_BLOCK_CHILDREN])
    return ""


def _make_element(text: str) -> dom.Element:
    if "</" not in text:
        return make_paragraphs(text)
    root = dom.parse_fragment(text)
    dom.bound_depth(root)
    return root


_PUSH: Final = compile_lazily(r"self\.__next_f\.push\((\[1,.*\])\)\s*;?\s*$", re.DOTALL)
_ROW: Final = compile_lazily(rb"([0-9a-f]{1,8}):(?:T([0-9a-f]{1,8}),)?")
_REFERENCE: Final = compile_lazily(r"\$[0-9a-f]{1,8}")

# Bounds on work and memory, so that no page makes this expensive.
_MAX_PIECES: Final = 2_000
"""Scripts of one page that are read."""
_MAX_STREAM_CHARS: Final = 2_000_000
"""Characters of the stream."""
_MAX_ROWS: Final = 10_000
"""Rows of the stream."""
_MAX_STREAM_VALUES: Final = 100_000
"""Values of all rows that are looked at."""
_MAX_STREAM_BLOCKS: Final = 5_000
"""Blocks of one text."""
_MAX_DEPTH: Final = 100
"""Levels of elements and references within each other."""

_BLOCKS: Final = frozenset("p h1 h2 h3 h4 h5 h6 li blockquote pre td th dt dd figcaption".split())
_SKIPPED: Final = frozenset(
    "head title meta link script style noscript template nav footer header aside form button svg select dialog iframe".split()
)


def find_stream_body(page: dom.Node) -> dom.Element | None:
    """Return the paragraphs, headings and lists in the stream as an element, or `None` when there are none."""
    reader = _Reader(_read_rows(_join_pieces(page)))
    blocks = reader.read_blocks()
    if not blocks:
        return None
    root = dom.element("div", None, *blocks)
    dom.bound_depth(root)
    return root


def _join_pieces(page: dom.Node) -> str:
    """Return the pieces of the stream as one text."""
    pieces: list[str] = []
    chars_left = _MAX_STREAM_CHARS
    for script in dom.select(page, "script:not([src])")[:_MAX_PIECES]:
        source = dom.text_of(script).strip()
        found = _PUSH.match(source)
        if not found:
            continue
        chars_left -= len(source)
        if chars_left < 0:
            break
        try:
            value = json.loads(found[1])
        except (ValueError, RecursionError):
            continue
        if len(value) > 1 and isinstance(value[1], str):
            pieces.append(value[1])
    return "".join(pieces)


def _read_rows(stream: str) -> dict[str, Any]:
    """Return the values by id, in order; texts have a length in bytes, all other rows end with a line break."""
    data = stream.encode("utf-8", "surrogatepass")
    rows: dict[str, Any] = {}
    place = 0
    for _ in range(_MAX_ROWS):
        found = _ROW.match(data, place)
        if found and found[2]:
            place = found.end() + int(found[2], 16)
            rows[found[1].decode()] = data[found.end() : place].decode("utf-8", "replace")
            continue
        end = data.find(b"\n", place)
        line = data[place : end if end >= 0 else len(data)]
        if found:
            # Rows with a letter before the value are modules, hints and errors, not JSON.
            with suppress(ValueError, RecursionError):
                rows[found[1].decode()] = json.loads(line[found.end() - place :].decode("utf-8", "replace"))
        if end < 0:
            break
        place = end + 1
    return rows


class _Reader:
    """Finds the blocks of text in the rows."""

    def __init__(self, rows: dict[str, Any]) -> None:
        self._rows = rows
        self._left = _MAX_STREAM_VALUES
        self._used: set[str] = set()

    def read_blocks(self) -> list[dom.Element]:
        """Return the blocks of all rows in the order in which the page shows them."""
        blocks: list[dom.Element] = []
        for name, value in self._rows.items():
            if name not in self._used and not isinstance(value, str):
                blocks += self._find_blocks(value, 0)
        return blocks[:_MAX_STREAM_BLOCKS]

    def _find_blocks(self, value: Any, depth: int) -> Iterator[dom.Element]:
        self._left -= 1
        if self._left < 0 or depth > _MAX_DEPTH:
            return
        if isinstance(value, str):
            if _REFERENCE.fullmatch(value) and value[1:] not in self._used:
                self._used.add(value[1:])
                target = self._rows.get(value[1:])
                if not isinstance(target, str):
                    yield from self._find_blocks(target, depth + 1)
        elif _is_element(value):
            yield from self._read_element(value, depth)
        elif isinstance(value, list):
            for inner in value:
                yield from self._find_blocks(inner, depth + 1)
        elif isinstance(value, dict):
            html = value.get("__html")
            if isinstance(html, str):
                yield from _parse(self._resolve(html))
            else:
                for inner in value.values():
                    yield from self._find_blocks(inner, depth + 1)

    def _read_element(self, value: list[Any], depth: int) -> Iterator[dom.Element]:
        tag, props = value[1], value[3]
        if tag in _SKIPPED:
            return
        if tag in _BLOCKS:
            if text := " ".join(self._read_text(props.get("children"), 0).split()):
                yield dom.element(tag if tag not in ("td", "th", "dt", "dd", "figcaption") else "p", None, text)
            return
        yield from self._find_blocks(props, depth + 1)

    def _read_text(self, value: Any, depth: int) -> str:
        """Return the text of an element's children."""
        self._left -= 1
        if self._left < 0 or depth > _MAX_DEPTH:
            return ""
        if isinstance(value, str):
            return self._resolve(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
        if _is_element(value):
            return "" if value[1] in _SKIPPED else self._read_text(value[3].get("children"), depth + 1)
        if isinstance(value, list):
            return "".join(self._read_text(inner, depth + 1) for inner in value)
        return ""

    def _resolve(self, text: str) -> str:
        """Return the text that a reference names, or the text itself; a leading `$$` is a dollar sign."""
        if _REFERENCE.fullmatch(text):
            target = self._rows.get(text[1:])
            return target if isinstance(target, str) else ""
        return text[1:] if text.startswith("$$") else "" if text.startswith("$") else text


def _is_element(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) >= 4
        and value[0] == "$"
        and isinstance(value[1], str)
        and isinstance(value[3], dict)
    )


def _parse(html: str) -> list[dom.Element]:
    """Return HTML as elements, without what is never text."""
    if "<" not in html:
        return [dom.element("p", None, line) for line in html.splitlines() if line.strip()]
    root = dom.parse_fragment(html)
    for node in dom.select(root, ", ".join(sorted(_SKIPPED))):
        dom.drop(node)
    return [root]
