"""Read the article from the state that a page embeds for its scripts, such as `__NEXT_DATA__`.

Used only when the tree itself has too little text: the state of a rendered page repeats it, with much that is not shown.
"""

from __future__ import annotations

import json
from typing import Any, Final

from pagekeep import dom

_SCRIPTS: Final = 'script[type="application/json"], script#__NEXT_DATA__, script#__NUXT_DATA__'

# Bounds on work and memory, so that no page makes this expensive.
_MAX_SCRIPTS: Final = 20
"""Scripts of one page that are read."""
_MAX_CHARS: Final = 2_000_000
"""Characters of state read in all."""
_MAX_TEXT_CHARS: Final = 500_000
"""Characters of the longest text, about a novel."""
_MAX_VALUES: Final = 100_000
"""Values of a state that are looked at."""
_MAX_BLOCKS: Final = 2_000
"""Blocks of one text."""
_MAX_BLOCK_CHILDREN: Final = 200
"""Children of one block."""
_MAX_BLOCK_DEPTH: Final = 4
"""Levels of children in a block: paragraph, mark, link, text."""
_MIN_CHARS: Final = 400
"""Characters of the shortest article, to tell it from a description."""

# The names that publishing systems give to a text. Descriptions and summaries are not the text.
_NAMES: Final = frozenset(
    "articlebody body bodyhtml body_html content contenthtml content_html html markdown richtext text paragraphs blocks"
    " children rendered value".split()
)


def find_body(page: dom.Node) -> dom.Element | None:
    """Return the longest text in the page's state as an element, or `None` when there is no text long enough."""
    longest, chars_left = "", _MAX_CHARS
    for script in dom.select(page, _SCRIPTS)[:_MAX_SCRIPTS]:
        source = dom.text_of(script)
        chars_left -= len(source)
        if chars_left < 0:
            break
        longest = max(longest, _find_longest(_load(source)), key=len)
    return _make_element(longest) if len(longest) >= _MIN_CHARS else None


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
    for _ in range(_MAX_VALUES):
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
    return "\n".join(text for value in values[:_MAX_BLOCKS] if (text := _read_block(value)))[:_MAX_TEXT_CHARS]


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
