"""Which selectors a rule may use: correct ones that cannot be made slow.

The engine is linear in the page for all but a few forms. `:has()` looks through all that is in an element, `of` in
`:nth-child()` through all beside it: once for each element that may be meant is fine, but not once for each pair, as in one
another or before a space (`:first-child:has(.x) a` took 20 s on a page of half a megabyte).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pagekeep import dom

MAX_LENGTH: Final = 1_000
MAX_NESTING: Final = 3
MAX_COSTLY: Final = 3

_TOKEN: Final = re.compile(
    r"""(?P<skipped>\\.|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\[[^\]"']*)
    |(?P<open>:?[\w-]*+\()
    |(?P<word>[\w-]++)
    |(?P<close>\))
    |(?P<of>\s+of\s+)
    |(?P<comma>\s*,\s*)
    |(?P<between>\s*[>+~]\s*|\s+)""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_SLOW_WORDS: Final = (":dir(", ":lang(")
_EMPTY: Final = dom.element("div")


class SelectorFault(ValueError):
    """The selector is wrong or too much; the text says why."""

    def __init__(self, message: str, suggestion: str = "") -> None:
        super().__init__(message)
        self.suggestion = suggestion


def check(selector: str) -> None:
    """Raise `SelectorFault` unless the selector is correct CSS within bounds."""
    if not selector.strip():
        raise SelectorFault("The selector is empty.")
    if len(selector) > MAX_LENGTH:
        raise SelectorFault(f"The selector is longer than {MAX_LENGTH} characters.", "Part it into several.")
    try:
        dom.first(_EMPTY, selector)
    except ValueError as error:
        said = str(error).removeprefix(f'invalid CSS selector "{selector}": ')[:120]
        raise SelectorFault(f"`{selector[:80]}` is no selector: {said}.") from None
    if "(" in selector:
        check_cost(selector)


@dataclass(slots=True)
class _Bracket:
    """An open bracket: what it belongs to, and whether what was read in it so far is costly to ask."""

    name: str
    costly: bool = False
    """In the selector that is being read."""
    any_costly: bool = False
    """In any of the list so far."""


def check_cost(selector: str) -> None:
    """Raise `SelectorFault` for a form that multiplies."""
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
                raise _too_slow(selector, "Let `:has()` and `of` stand at the end.")
            case "between" if inner.name == ":has(" and token[0].isspace() and token.start() > 0:
                _refuse_space(selector, token)
        if len(opened) > MAX_NESTING + 1 or number > MAX_COSTLY or inner.name in _SLOW_WORDS:
            raise _too_slow(selector, "Say it more simply.")


def _close(opened: list[_Bracket], selector: str) -> None:
    """Leave a bracket; what it belongs to is costly if it says so itself or holds such."""
    closed = opened.pop()
    heavy = closed.name in (":has(", "of(")
    if heavy and closed.any_costly:
        raise _too_slow(selector, "Do not put `:has()` or `of` in one another.")
    if heavy or closed.any_costly:
        opened[-1].costly = opened[-1].any_costly = True


def _refuse_space(selector: str, token: re.Match[str]) -> None:
    """In `:has()` a space asks for everything around everything in it; one at its ends means nothing."""
    before, after = selector.strip()[token.start() - 1], selector.strip()[token.end() : token.end() + 1]
    if before not in "(," and after not in ">+~,)":
        raise _too_slow(selector, "Write `>` for the space in `:has()`, or less.")


def _too_slow(selector: str, suggestion: str) -> SelectorFault:
    return SelectorFault(f"`{selector[:80]}` could take very long on a large page.", suggestion)
