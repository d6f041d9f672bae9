"""An empty shell: an app that writes its page only in a browser."""

from __future__ import annotations

from typing import Final

from pagekeep.extraction.classify import browser_need
from pagekeep.extraction.classify.caught.signals import Found, Signals
from pagekeep.model import Caught

SUGGESTION: Final = "Retry with the browser."

_MAX_WORDS: Final = 40
"""More words than this may be a short page with a widget in it: worth a browser, but not to be thrown away."""
_MAX_WORDS_OF_NOTICES: Final = 200
"""Unless they stand in the header, the footer or a cookie notice."""


def detect(signals: Signals, found: Found) -> Caught | None:
    """The shell, when a browser is needed and hardly a word was found."""
    if found.words >= (_MAX_WORDS if signals.promise.filled else _MAX_WORDS_OF_NOTICES):
        return None
    need = browser_need.need_render(signals.promise, found.text, found.words, found.strategy)
    return Caught("empty_shell", need.reason, SUGGESTION) if need else None
