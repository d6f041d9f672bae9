"""The options of a view of a page; separate from `view.py`, so that a server need not import the pipeline."""

from __future__ import annotations

from typing import Final, Literal

from pagekeep.errors import RuleError
from pagekeep.values import dataclass


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """Which parts of a page to show."""

    whole: bool = False
    """Show the whole page, not only its main content."""
    only: tuple[str, ...] = ()
    """CSS selectors of the only parts to show."""
    without: tuple[str, ...] = ()
    """CSS selectors of parts to leave out."""
    overlays: bool = True
    """Whether to keep dialogs, cookie banners and other overlays."""
    images: Literal["all", "none", "alt"] = "all"
    links: Literal["all", "none", "text"] = "all"

    def __post_init__(self) -> None:
        """Raise `RuleError` for an invalid selector."""
        if not self.only and not self.without:
            return
        from pagekeep.rules import selectors

        for selector in (*self.only, *self.without):
            try:
                selectors.check(selector)
            except selectors.SelectorFault as fault:
                raise RuleError(str(fault), suggestions=filter(None, [fault.suggestion])) from None


DEFAULT_VIEW: Final = ViewOptions()
