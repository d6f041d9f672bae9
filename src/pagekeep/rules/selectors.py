"""Which selectors a rule may use: correct ones that cannot be made slow."""

from __future__ import annotations

from typing import Final

from pagekeep import dom

MAX_LENGTH: Final = 1_000


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
        raise SelectorFault(f"The selector is longer than {MAX_LENGTH} characters.")
    try:
        dom.first(_EMPTY, selector)
    except (dom.SelectorError, ValueError) as error:
        said = str(error).removeprefix(f'invalid CSS selector "{selector}": ')[:120]
        raise SelectorFault(f"`{selector[:80]}` is no selector: {said}.") from None


_EMPTY: Final = dom.element("div")
