"""The one seam where the browser's errors become ours."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from pagekeep.errors import (
    BlockedAddress,
    FetchNetworkError,
    FetchTimeout,
    PagekeepError,
    RenderError,
    UnsupportedContent,
)

if TYPE_CHECKING:
    from playwright.async_api import Error

    from pagekeep.fetch.browser.engine import Engine

log = logging.getLogger(__name__)

_CODE: Final = re.compile(r"net::(ERR_[A-Z0-9_]+)")
_GONE: Final = ("has been closed", "crashed", "Connection closed", "Browser closed", "ERR_NETWORK_CHANGED")
_WORDS: Final = {
    "ERR_NAME_NOT_RESOLVED": "No server was found for this address.",
    "ERR_TOO_MANY_REDIRECTS": "The page redirects without end.",
    "ERR_SSL_PROTOCOL_ERROR": "No secure connection to the server could be made.",
}


class Crashed(Exception):
    """The browser, or the page in it, died. Worth another try; `words` tell of it when that fails too."""

    def __init__(self, words: str = "The browser crashed on this page, and again when it was tried anew.") -> None:
        super().__init__(words)
        self.words = words


def is_crash(error: Error) -> bool:
    """Whether the browser or the page went away under what we did."""
    return any(words in error.message for words in _GONE)


@contextmanager
def translated(engine: Engine) -> Iterator[None]:
    """What Playwright raises comes out as `Crashed` or `RenderError`; ours passes unchanged."""
    from playwright.async_api import Error

    try:
        yield
    except Error as error:
        if is_crash(error) or not engine.usable:
            raise Crashed from None
        log.warning("The browser failed: %s", error.message)
        raise RenderError("The browser could not show this page.") from None


def failed_navigation(error: Error | None, failures: Sequence[PagekeepError]) -> Exception:
    """What to raise when the page could not be opened: the proxy knows best why, as the last thing it noted."""
    message = "" if error is None else error.message
    if error is not None and is_crash(error):
        return Crashed()
    if "Download is starting" in message or "ERR_ABORTED" in message:
        return UnsupportedContent("The address leads to a download, not to a page.")
    found = _CODE.search(message)
    code = found[1] if found else ""
    if code == "ERR_UNSAFE_REDIRECT":
        return BlockedAddress("The page redirects to something that is not a web page.")
    if failures:
        return failures[-1]
    if "TIMED_OUT" in code:
        return FetchTimeout("The server did not answer the browser in time.")
    if "CERT" in code:
        return FetchNetworkError("The server could not prove who it is: its certificate is not valid.")
    return FetchNetworkError(_WORDS.get(code, "The browser could not load the page."))
