"""The TeX source of formulas: where tools keep it, and what they wrap it in."""

from __future__ import annotations

import json
import re
from typing import Final

from pagekeep import dom
from pagekeep.text import compile_lazily

_DECLARED: Final = ("data-latex", "data-tex")
"""Attributes that hold nothing but TeX."""
_POSSIBLE: Final = (
    "data-math",
    "data-katex",
    "data-formula",
    "data-equation",
    "data-expr",
    "data-value",
    "data-original",
)
"""Attributes that hold TeX on an element whose class says so, or where the value is surely TeX."""
SOURCES: Final = "[data-latex],[data-tex],[data-math],[data-katex],[data-formula],[data-equation],[data-expr]"
"""Elements that may carry their TeX in an attribute; the other attributes are only read where a class says formula."""
_NOT_TEX: Final = frozenset(("", "true", "false", "inline", "block", "display", "0", "1", "math", "tex", "latex"))
_MATH_CLASS: Final = compile_lazily(r"(?i)math|katex|latex|formula|equation|(?:^|[\s_-])tex(?:$|[\s_-])")
_SURELY_TEX: Final = compile_lazily(r"\\[a-zA-Z]{2,}|[\^_]\{|\\[({\[]")
_STYLE: Final = compile_lazily(r"\\(?:displaystyle|textstyle)(?![a-zA-Z])\s*")
_DELIMITERS: Final = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))
_DOCUMENT: Final = compile_lazily(r"\\begin\{document\}(.*?)\\end\{document\}", re.S)
_JSON_KEYS: Final = ("persistentExpression", "latex", "tex", "expression", "formula")
_MAX_JSON_CHARS: Final = 20_000


def is_surely_tex(text: str) -> bool:
    """Return whether a text has TeX commands, so that it cannot be words."""
    return _SURELY_TEX.search(text) is not None


def tex_in_attributes(node: dom.Element) -> str:
    """Return the TeX that an element carries in its attributes; empty without any."""
    for name in _DECLARED:
        if (value := (node.attr(name) or "").strip()) and value not in _NOT_TEX:
            return plain_tex(value)
    named = _MATH_CLASS.search(node.attr("class") or "") is not None
    for name in _POSSIBLE:
        value = (node.attr(name) or "").strip()
        if value not in _NOT_TEX and (named or is_surely_tex(value)):
            return plain_tex(value)
    return _tex_in_json(node.attr("data-attrs") or "") if named else ""


def _tex_in_json(data: str) -> str:
    """Return the TeX in the attributes that an editor keeps as JSON."""
    if not data.startswith("{") or len(data) > _MAX_JSON_CHARS:
        return ""
    try:
        values = json.loads(data)
    except ValueError:
        return ""
    found = next((values[key] for key in _JSON_KEYS if isinstance(values.get(key), str)), "")
    return plain_tex(found)


def plain_tex(tex: str) -> str:
    """Return the TeX without delimiters, and without the document or style command that some tools wrap it in."""
    tex = tex.strip()
    if tex.startswith("\\documentclass") and (document := _DOCUMENT.search(tex)):
        tex = document.group(1).strip()
    for opening, closing in _DELIMITERS:
        inner = tex[len(opening) : -len(closing)]
        if tex.startswith(opening) and tex.endswith(closing) and inner and opening not in inner:
            tex = inner.strip()
            break
    if tex.startswith("{") and _STYLE.match(tex[1:].lstrip()) and _closes_at_end(tex):
        tex = tex[1:-1].strip()
    style = _STYLE.match(tex)
    return tex[style.end() :].strip() if style else tex


def _closes_at_end(tex: str) -> bool:
    """Return whether the brace that opens the text is closed by its last character."""
    depth, place = 0, 0
    while place < len(tex):
        character = tex[place]
        if character == "\\":
            place += 1
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if not depth:
                return place == len(tex) - 1
        place += 1
    return False
