"""Translate the errors of the network libraries; no resolved address, path or stack trace remains."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import h2.exceptions
import hpack
import httpcore

from pagekeep.errors import FetchHttpError, FetchNetworkError, FetchTimeout

_TIMEOUTS: Final = (httpcore.TimeoutException, TimeoutError)
_CONNECTION_ERRORS: Final = (httpcore.NetworkError, OSError)
_PROTOCOL_ERRORS: Final = (
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
    h2.exceptions.H2Error,
    hpack.HPACKError,
)
_RESETS: Final = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)


@contextmanager
def map_errors(host: str) -> Iterator[None]:
    """Turn the errors of the libraries into `FetchError`; our own pass unchanged."""
    try:
        yield
    except _TIMEOUTS:
        raise FetchTimeout(f"`{host}` did not respond in time.") from None
    except ssl.SSLCertVerificationError:
        raise FetchNetworkError(
            f"The certificate of `{host}` is not valid.",
            suggestions=("Check the URL. If it is your site, renew its certificate.",),
        ) from None
    except ssl.SSLError:
        raise FetchNetworkError(f"The secure connection (TLS) to `{host}` failed.") from None
    except _CONNECTION_ERRORS:
        raise FetchNetworkError(f"The connection to `{host}` was lost.") from None
    except _PROTOCOL_ERRORS:
        raise FetchNetworkError(f"`{host}` closed the connection or did not respond with HTTP.") from None


def was_reset(error: BaseException) -> bool:
    """Return whether the server closed the connection before it responded, which is worth a retry."""
    if isinstance(error, (httpcore.ReadError, httpcore.WriteError)):
        # The HTTP library drops the cause, so our backend passes it as an argument.
        return bool(error.args) and isinstance(error.args[0], _RESETS)
    # Only the text of the library's error shows that it means a closed connection (also HTTP/2's GOAWAY).
    closed = ("Server disconnected", "<ConnectionTerminated")
    return isinstance(error, httpcore.RemoteProtocolError) and str(error).startswith(closed)


_SAVE_FROM_BROWSER: Final = (
    "Open the page in your browser and save it from there with the extension or the bookmarklet."
)
_STATUS_MESSAGES: Final = {
    401: ("requires a login", _SAVE_FROM_BROWSER),
    403: ("refuses to show this page", _SAVE_FROM_BROWSER),
    404: ("has no such page", "Check the URL."),
    410: ("has removed this page", "Look for a copy in a web archive."),
    429: ("received too many requests", "Try again later."),
    451: ("does not show this page for legal reasons", "Look for a copy in a web archive."),
}
"""What the server did and what to do next, by status."""


def make_http_error(host: str, status: int) -> FetchHttpError:
    """Return the error for an HTTP status."""
    fallback = ("has a problem", "Try again later.") if status >= 500 else ("did not return the page", "Check the URL.")
    problem, suggestion = _STATUS_MESSAGES.get(status, fallback)
    return FetchHttpError(f"`{host}` {problem} (status {status}).", status=status, suggestions=(suggestion,))
