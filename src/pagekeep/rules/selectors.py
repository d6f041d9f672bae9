"""Check the selectors of rules: they must be valid and must not be slow on any page.

The engine takes time linear in the page for all but a few forms. `:has()` searches everything in an element, and `of` in
`:nth-child()` everything beside it: once per candidate element is fine, but not once per pair of elements, as when
they are nested or followed by a space (`:first-child:has(.x) a` took 20 s on a page of half a megabyte).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pagekeep import dom
from pagekeep.text import compile_lazily

MAX_SELECTOR_CHARS: Final = 1_000
"""The longest selector of the shipped rules has 180; parsing and prefiltering take time linear in it."""
MAX_NESTING: Final = 3
"""Brackets within brackets; more has no use in a rule."""
MAX_COSTLY: Final = 3
"""`:has()` and `of` in one selector: each searches part of the page for every candidate element."""
_QUOTED_CHARS: Final = 80
"""Characters of a wrong selector that a message quotes."""
_MAX_PROBLEM_CHARS: Final = 120
"""Characters of the HTML library's message that are quoted."""

_TOKEN: Final = compile_lazily(
    r"""(?P<skipped>\\.|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\[[^\]"']*)
    |(?P<open>:?[\w-]*+\()
    |(?P<word>[\w-]++)
    |(?P<close>\))
    |(?P<of>\s+of\s+)
    |(?P<comma>\s*,\s*)
    |(?P<between>\s*[>+~]\s*|\s+)""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_SLOW_FUNCTIONS: Final = (":dir(", ":lang(")
_EMPTY: Final = dom.element("div")


class SelectorFault(ValueError):
    """The selector is invalid or too slow; the text is the reason."""

    def __init__(self, message: str, suggestion: str = "") -> None:
        super().__init__(message)
        self.suggestion = suggestion


def check(selector: str) -> None:
    """Raise `SelectorFault` unless the selector is valid CSS and fast on any page."""
    if not selector.strip():
        raise SelectorFault("The selector is empty.")
    if len(selector) > MAX_SELECTOR_CHARS:
        raise SelectorFault(f"The selector is longer than {MAX_SELECTOR_CHARS} characters.", "Split it into several.")
    try:
        dom.first(_EMPTY, selector)
    except ValueError as error:
        problem = str(error).removeprefix(f'invalid CSS selector "{selector}": ')[:_MAX_PROBLEM_CHARS]
        raise SelectorFault(f"`{selector[:_QUOTED_CHARS]}` is not a valid selector: {problem}.") from None
    if "(" in selector:
        check_cost(selector)


@dataclass(slots=True)
class _Bracket:
    """An open bracket: the function it belongs to, and whether its content so far is costly to match."""

    name: str
    costly: bool = False
    """Whether the current selector of the list is costly."""
    any_costly: bool = False
    """Whether any selector of the list so far is costly."""


def check_cost(selector: str) -> None:
    """Raise `SelectorFault` for a selector that takes more than linear time."""
    opened = [_Bracket("")]
    number = 0
    for token in _TOKEN.finditer(selector.strip()):
        inner = opened[-1]
        match token.lastgroup:
            case "open":
                opened.append(_Bracket(token[0].lower()))
                number += opened[-1].name == ":has("
            case "close" if len(opened) > 1:
                _close(opened, selector)
            case "of" if inner.name.startswith(":nth"):
                inner.name = "of("
                number += 1
            case "comma":
                inner.costly = False
            case "between" if inner.costly:
                raise _too_slow(selector, "Move `:has()` and `of` to the end of the selector.")
            case "between" if inner.name == ":has(" and token[0].isspace() and token.start() > 0:
                _refuse_space(selector, token)
        if len(opened) > MAX_NESTING + 1 or number > MAX_COSTLY or inner.name in _SLOW_FUNCTIONS:
            raise _too_slow(selector, "Use a simpler selector.")


def _close(opened: list[_Bracket], selector: str) -> None:
    """Close a bracket and mark what it belongs to as costly if it is, or contains something that is."""
    closed = opened.pop()
    is_costly = closed.name in (":has(", "of(")
    if is_costly and closed.any_costly:
        raise _too_slow(selector, "Do not nest `:has()` and `of`.")
    if is_costly or closed.any_costly:
        opened[-1].costly = opened[-1].any_costly = True


def _refuse_space(selector: str, token: re.Match[str]) -> None:
    """Refuse a descendant combinator in `:has()`, which tests every pair of elements; spaces at its ends are harmless."""
    before, after = selector.strip()[token.start() - 1], selector.strip()[token.end() : token.end() + 1]
    if before not in "(," and after not in ">+~,)":
        raise _too_slow(selector, "Use `>` instead of the space in `:has()`.")


def _too_slow(selector: str, suggestion: str) -> SelectorFault:
    return SelectorFault(f"`{selector[:_QUOTED_CHARS]}` could be very slow on a large page.", suggestion)
