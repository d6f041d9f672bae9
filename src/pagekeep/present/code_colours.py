"""Code for the browser: its words in classes that the style sheet colours."""

from __future__ import annotations

from html import escape
from typing import Final

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

LONGEST: Final = 20_000
"""Characters of a block that is coloured: a lexer's time on hostile code is not known to anyone."""
CLASSES: Final = frozenset(name for name in STANDARD_TYPES.values() if name)
"""All classes that can come of it."""

_FORMATTER: Final = HtmlFormatter(nowrap=True)
_PLAIN: Final = frozenset({"", "text", "plain", "plaintext", "txt", "none", "output"})


def highlighted(code: str, language: str) -> str:
    """The code as HTML: coloured when the language is known, else as it is."""
    if len(code) > LONGEST or language.lower() in _PLAIN:
        return escape(code)
    try:
        lexer = get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return escape(code)
    coloured: str = highlight(code, lexer, _FORMATTER)
    return coloured if code.endswith("\n") else coloured.removesuffix("\n")
