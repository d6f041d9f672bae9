"""The article in the state that a page carries for its script, as `__NEXT_DATA__` and its like do.

Read only when the tree itself holds too little: the state of a page that was rendered repeats it, with much that is not shown.
"""

from __future__ import annotations

import json
from typing import Any, Final

from pagekeep import dom

_SCRIPTS: Final = 'script[type="application/json"], script#__NEXT_DATA__, script#__NUXT_DATA__'
_MAX_SCRIPTS: Final = 20
_MAX_CHARACTERS: Final = 2_000_000
"""Characters of state read in all."""
_LONGEST_TEXT: Final = 500_000
_MAX_VALUES: Final = 100_000
_FEWEST_CHARACTERS: Final = 400
# The names that publishing systems give to a text. A description or a summary is none.
_NAMES: Final = frozenset(
    "articlebody body bodyhtml body_html content contenthtml content_html html markdown richtext text paragraphs blocks"
    " children rendered value".split()
)


def body(page: dom.Node) -> dom.Element | None:
    """The longest text that the page's state names as one, as an element; `None` when there is none worth the name."""
    best, left = "", _MAX_CHARACTERS
    for script in dom.select(page, _SCRIPTS)[:_MAX_SCRIPTS]:
        source = dom.text_of(script)
        left -= len(source)
        if left < 0:
            break
        best = max(best, _longest(_load(source)), key=len)
    return _element(best) if len(best) >= _FEWEST_CHARACTERS else None


def _load(source: str) -> Any:
    try:
        return json.loads(source)
    except (ValueError, RecursionError):
        return None


def _longest(state: Any) -> str:
    """The longest text under one of the names; a list of blocks counts as one text."""
    best = ""
    pending: list[tuple[str, Any]] = [("", state)]
    for _ in range(_MAX_VALUES):
        if not pending:
            break
        name, value = pending.pop()
        if isinstance(value, dict):
            pending.extend((str(key).lower(), inner) for key, inner in value.items())
        elif isinstance(value, list):
            best = max(best, _blocks(value), key=len) if name in _NAMES else best
            pending.extend((name, inner) for inner in value)
        elif isinstance(value, str) and name in _NAMES and len(value) <= _LONGEST_TEXT:
            best = max(best, value, key=len)
    return best


def _blocks(values: list[Any]) -> str:
    """The texts of a list of blocks, a paragraph each."""
    return "\n".join(text for value in values[:2_000] if (text := _text(value)))[:_LONGEST_TEXT]


def _text(block: Any, depth: int = 4) -> str:
    """What one block says, from its own text or its children's."""
    if isinstance(block, str):
        return block
    if isinstance(block, dict):
        texts = [value for key, value in block.items() if str(key).lower() in _NAMES and isinstance(value, str)]
        if texts:
            return max(texts, key=len)
        block = next((value for key, value in block.items() if str(key).lower() in _NAMES), None)
    if isinstance(block, list) and depth:
        return "".join(_text(inner, depth - 1) for inner in block[:200])
    return ""


def _element(text: str) -> dom.Element:
    if "</" in text:
        root = dom.parse_fragment(text)
        dom.bound_depth(root)
        return root
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return dom.element("div", None, *[dom.element("p", None, line) for line in lines])
