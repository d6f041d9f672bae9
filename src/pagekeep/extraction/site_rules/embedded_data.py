"""Read a text that a page has as data, for its scripts, and put it into the page."""

from __future__ import annotations

import html
import json
from typing import Any, Final

from pagekeep import dom
from pagekeep.extraction.site_rules import bbcode
from pagekeep.rules.rule import Action, DataFormat

_MAX_CHARS: Final = 5_000_000
"""Characters of data that are read."""


def insert_data(node: dom.Element, action: Action) -> bool:
    """Insert the text after the element that has it as data; return whether there is one."""
    source = (node.attr(action.attr) if action.attr else dom.text_of(node)) or ""
    value = _follow(_load(source[:_MAX_CHARS], action.after or ""), action.path or "")
    if not isinstance(value, str) or not value.strip():
        return False
    box = dom.parse_fragment(_write(value, action.format))
    dom.bound_depth(box)
    attributes = {"class": action.class_} if action.class_ else None
    dom.add_after(node, dom.element("div", attributes, *box.children))
    return True


def _load(source: str, after: str) -> Any:
    """Return the first JSON value after the given text."""
    begin = source.find(after) if after else 0
    if begin < 0:
        return None
    begin += len(after)
    starts = [place for place in (source.find("{", begin), source.find("[", begin)) if place >= 0]
    try:
        return json.JSONDecoder().raw_decode(source, min(starts))[0] if starts else None
    except (ValueError, RecursionError):
        return None


def _follow(value: Any, path: str) -> Any:
    """Return the value at a path of keys and indexes, such as `0.body`."""
    for key in path.split("."):
        if isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, dict):
            value = value.get(key)
        else:
            return None
    return value


def _write(text: str, data_format: DataFormat) -> str:
    if data_format == "html":
        return text
    if data_format == "bbcode":
        return bbcode.to_html(text)
    return html.escape(text, quote=False).replace("\n", "<br>")
