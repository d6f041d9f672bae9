"""Syntax highlighting: code as HTML with classes that the style sheet colours."""

from __future__ import annotations

from html import escape
from typing import Final

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

MAX_CHARS: Final = 20_000
"""Longer blocks are not highlighted: a lexer's time on hostile code is unknown."""
CODE_CLASSES: Final = frozenset(name for name in STANDARD_TYPES.values() if name)
"""All classes that the highlighter uses."""

_FORMATTER: Final = HtmlFormatter(nowrap=True)
_PLAIN: Final = frozenset({"", "text", "plain", "plaintext", "txt", "none", "output"})


def highlight_code(code: str, language: str) -> str:
    """Return the code as HTML, highlighted if the language is known."""
    if len(code) > MAX_CHARS or language.lower() in _PLAIN:
        return escape(code)
    try:
        lexer = get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return escape(code)
    html: str = highlight(code, lexer, _FORMATTER)
    return html if code.endswith("\n") else html.removesuffix("\n")
