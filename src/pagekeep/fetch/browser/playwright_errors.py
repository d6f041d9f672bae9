"""Translate the errors of the browser."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
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

log = logging.getLogger(__name__)

_CODE: Final = re.compile(r"net::(ERR_[A-Z0-9_]+)")
_CRASH_MESSAGES: Final = ("has been closed", "crashed", "Connection closed", "Browser closed", "ERR_NETWORK_CHANGED")
_CODE_MESSAGES: Final = {
    "ERR_NAME_NOT_RESOLVED": "The host of this URL was not found.",
    "ERR_TOO_MANY_REDIRECTS": "The page redirects endlessly.",
    "ERR_SSL_PROTOCOL_ERROR": "The secure connection (TLS) to the server failed.",
}


class BrowserCrashed(Exception):
    """The browser or the page in it crashed; the page is tried once again before `message` is reported."""

    def __init__(self, message: str = "The browser crashed twice on this page.") -> None:
        super().__init__(message)
        self.message = message


def is_crash(error: Error) -> bool:
    """Return whether the error means that the browser or the page is gone."""
    return any(part in error.message for part in _CRASH_MESSAGES)


@contextmanager
def map_errors(is_usable: Callable[[], bool]) -> Iterator[None]:
    """Turn Playwright's errors into `BrowserCrashed` or `RenderError`; our own pass unchanged.

    `is_usable` returns whether the browser still works.
    """
    from playwright.async_api import Error

    try:
        yield
    except Error as error:
        if is_crash(error) or not is_usable():
            raise BrowserCrashed from None
        log.warning("The browser failed: %s", error.message)
        raise RenderError("The browser could not open this page.") from None


def navigation_error(error: Error | None, failures: Sequence[PagekeepError]) -> Exception:
    """Return the error for a page that could not be opened; the last failure of the proxy is the best explanation."""
    message = "" if error is None else error.message
    if error is not None and is_crash(error):
        return BrowserCrashed()
    if "Download is starting" in message or "ERR_ABORTED" in message:
        return UnsupportedContent("The URL leads to a download, not a page.")
    match = _CODE.search(message)
    code = match[1] if match else ""
    if code == "ERR_UNSAFE_REDIRECT":
        return BlockedAddress("The page redirects to a URL that is not a web page.", suggestions=())
    if failures:
        return failures[-1]
    if "TIMED_OUT" in code:
        return FetchTimeout("The server did not respond to the browser in time.")
    if "CERT" in code:
        return FetchNetworkError("The certificate of the server is not valid.")
    return FetchNetworkError(_CODE_MESSAGES.get(code, "The browser could not load the page."))
