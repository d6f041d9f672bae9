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
LANGUAGES: Final = frozenset(
    """
    bash bat c c# c++ clj clojure cmake console cpp cs csharp css dart diff docker dockerfile elixir erl erlang ex
    f# fortran fsharp go golang graphql groovy haskell hcl hs html ini java javascript jl js json json5 jsx
    julia kotlin latex less lua make makefile markdown matlab md nginx nix objc objective-c objectivec ocaml
    perl php pl postgres postgresql powershell properties proto protobuf ps1 py pycon python python3 r rb rs ruby rust
    sass scala scss sh shell shell-session sql swift terraform tex tf toml ts tsx typescript udiff vim vue xml
    yaml yml zig zsh
    """.split()
)
"""Languages that are highlighted. Pygments has about 600 lexers, and some of them take quadratic or exponential time (21 KB of
code in `agda` or `androidbp`: 13 s), so a language that a page names is used only if it is in this list."""


def highlight_code(code: str, language: str) -> str:
    """Return the code as HTML, highlighted if the language is in the list and the code is not too long."""
    if len(code) > MAX_CHARS or language.lower() not in LANGUAGES:
        return escape(code)
    try:
        lexer = get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return escape(code)
    html: str = highlight(code, lexer, _FORMATTER)
    return html if code.endswith("\n") else html.removesuffix("\n")
