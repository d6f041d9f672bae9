"""The rules a command reads pages by; what is wrong with the user's own is said, and breaks nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pagekeep.config import Settings
    from pagekeep.rules import Rulebook


def rules_in_force(settings: Settings) -> Rulebook:
    """The shipped rules and the user's own, faults told on stderr."""
    from pagekeep.capture.active_rules import in_force
    from pagekeep.doors.cli.rules.rules import tell_faults

    book = in_force(settings)
    tell_faults(book.faults)
    return book
