"""What a caller wants to see of a page. Apart from what does it, which a server need not load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from pagekeep.errors import RuleError


@dataclass(frozen=True, slots=True)
class View:
    """What is wanted of a page."""

    whole: bool = False
    """All of it, not its content alone."""
    only: tuple[str, ...] = ()
    """CSS selectors: these parts alone."""
    without: tuple[str, ...] = ()
    """CSS selectors: not these."""
    overlays: bool = True
    """Whether what lies over the page may stay."""
    images: Literal["all", "none", "alt"] = "all"
    links: Literal["all", "none", "text"] = "all"

    def __post_init__(self) -> None:
        """`RuleError` for what is no selector."""
        if not self.only and not self.without:
            return
        from pagekeep.rules import selectors

        for selector in (*self.only, *self.without):
            try:
                selectors.check(selector)
            except selectors.SelectorFault as fault:
                raise RuleError(str(fault), suggestions=filter(None, [fault.suggestion])) from None


AS_IT_IS: Final = View()
