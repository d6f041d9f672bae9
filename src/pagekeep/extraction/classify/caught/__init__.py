"""What was caught instead of the page: a wall, an error page, a parked domain or an empty shell.

`look` gathers before the content is cut out, `judge` decides after. The weight of the content acquits: a long article about
captchas, with a cookie notice and a login link, is an article.
"""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.classify import browser_need
from pagekeep.extraction.classify.caught import (
    bot_wall,
    consent_wall,
    empty_shell,
    login_wall,
    parked_domain,
    paywall,
    soft_404,
)
from pagekeep.extraction.classify.caught.signals import Found, Signals, gather, normal
from pagekeep.extraction.input.structured import Structured
from pagekeep.extraction.locate.survey import Survey
from pagekeep.model import Caught, Strategy

__all__ = ["Signals", "judge", "look"]

_HEAVY_WORDS: Final = 600
_HEAVY_PROSE: Final = 15_000
"""Characters outside links that acquit a page even when no level found its content."""

# The surest first: a challenge is often an empty shell as well, and its login form hides behind a bot wall.
_DETECTORS: Final = (
    bot_wall.detect,
    parked_domain.detect,
    soft_404.detect,
    paywall.detect,
    login_wall.detect,
    consent_wall.detect,
    empty_shell.detect,
)


def look(
    document: dom.Document,
    survey: Survey,
    structured: Structured,
    source: str,
    url: str | None,
    status: int | None,
    gone: tuple[dom.Element, ...] = (),
) -> Signals:
    """What the page shows before its content is cut out; its `promise` serves `promise.need_render`.

    `gone` is what rules removed from it before the survey.
    """
    return gather(document, survey, structured, browser_need.look(document, survey, source), source, url, status, gone)


def judge(signals: Signals, text: str, words: int, strategy: Strategy) -> Caught | None:
    """What was caught instead of the page, or `None` when the page is the page."""
    if strategy == "bookmark":
        text, words = "", 0
    if words >= _HEAVY_WORDS or signals.promise.prose >= _HEAVY_PROSE:
        return None
    found = Found(normal(text), words, strategy)
    return next((caught for detect in _DETECTORS if (caught := detect(signals, found))), None)
