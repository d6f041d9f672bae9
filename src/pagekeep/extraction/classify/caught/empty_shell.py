"""Detect an empty shell: an app that renders its page only in a browser."""

from __future__ import annotations

from typing import Final

from pagekeep.extraction.classify import browser_need
from pagekeep.extraction.classify.caught.signals import Extracted, Signals
from pagekeep.model import Caught

SUGGESTION: Final = "Retry with the browser."

_MAX_WORDS: Final = 40
"""A page with more words may be a short one with a widget: worth a browser, but not to be discarded."""
_MAX_CHROME_WORDS: Final = 200
"""The same when all words are in the header, the footer or a cookie notice."""


def detect(signals: Signals, extracted: Extracted) -> Caught | None:
    """Detect the shell when a browser is needed and hardly any text was extracted."""
    if extracted.words >= (_MAX_WORDS if signals.render_signs.filled else _MAX_CHROME_WORDS):
        return None
    need = browser_need.need_render(signals.render_signs, extracted.text, extracted.words, extracted.strategy)
    return Caught("empty_shell", need.reason, SUGGESTION) if need else None
