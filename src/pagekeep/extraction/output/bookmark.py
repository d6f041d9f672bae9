"""What is kept of a page whose content was not found, and why it was not."""

from __future__ import annotations

from collections.abc import Iterable

from pagekeep import dom
from pagekeep.model import Attempt, Caught, Metadata
from pagekeep.text import count_words


def has_summary(about: Metadata) -> bool:
    """Return whether the page's description says something: a single word does not."""
    return bool(about.description) and count_words(about.description or "") > 1


def make_content(about: Metadata) -> dom.Element:
    """Return what is kept of a page without content: its own description."""
    return dom.element("div", None, *([dom.element("p", None, about.description)] if about.description else []))


def explain_failure(caught: Caught | None, attempts: Iterable[Attempt]) -> str:
    """Return why there is no content: what came instead of the page, or why each strategy failed."""
    if caught:
        return f"{caught.reason.rstrip('.')}. {caught.suggestion}"
    return "; ".join(f"{attempt.strategy}: {attempt.reason}" for attempt in attempts if not attempt.passed)
