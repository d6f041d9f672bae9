"""Detect what was caught instead of the page: a wall, an error page, a parked domain or an empty shell.

`collect` runs before the content is pruned, `judge` decides afterwards. Much content rules it out: a long article about
captchas, with a cookie notice and a login link, is an article.
"""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.classify import browser_need
from pagekeep.extraction.classify.caught import no_page, walls
from pagekeep.extraction.classify.caught.signals import Extracted, Signals, collect_signals, normalise
from pagekeep.extraction.input.structured import Structured
from pagekeep.extraction.locate.survey import Survey
from pagekeep.model import Caught, Strategy

__all__ = ["Signals", "collect", "judge"]

_MAX_WORDS: Final = 600
"""Extracted words that rule out every wall and error page."""
_MAX_PROSE: Final = 15_000
"""Characters outside links that rule it out even when no strategy found the content."""

# The most certain first: a challenge is often also an empty shell, and a login form may be behind a bot wall.
_DETECTORS: Final = (
    walls.detect_bot_wall,
    no_page.detect_parked_domain,
    no_page.detect_soft_404,
    walls.detect_paywall,
    walls.detect_login_wall,
    walls.detect_consent_wall,
    no_page.detect_empty_shell,
)


def collect(
    document: dom.Document,
    survey: Survey,
    structured: Structured,
    source: str,
    url: str | None,
    status: int | None,
    removed: tuple[dom.Element, ...] = (),
) -> Signals:
    """Collect the signals of a page before its content is pruned.

    `removed` are the elements that rules removed before the survey.
    """
    signs = browser_need.collect(document, survey)
    return collect_signals(document, survey, structured, signs, source, url, status, removed)


def judge(signals: Signals, text: str, words: int, strategy: Strategy) -> Caught | None:
    """Return what was caught instead of the page, or `None` when this is the page."""
    if strategy == "bookmark":
        text, words = "", 0
    if words >= _MAX_WORDS or signals.render_signs.prose >= _MAX_PROSE:
        return None
    extracted = Extracted(normalise(text), words, strategy)
    return next((caught for detect in _DETECTORS if (caught := detect(signals, extracted))), None)
