"""The one seam where foreign errors become ours: no resolved address, path or stack comes through."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import h2.exceptions
import hpack
import httpcore

from pagekeep.errors import FetchHttpError, FetchNetworkError, FetchTimeout

_TIMEOUTS = (httpcore.TimeoutException, TimeoutError)
_BROKEN = (httpcore.NetworkError, OSError)
_NONSENSE = (
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
    h2.exceptions.H2Error,
    hpack.HPACKError,
)
_RESETS = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)


@contextmanager
def translated(host: str) -> Iterator[None]:
    """Everything that the libraries below raise comes out as a `FetchError`; ours pass unchanged."""
    try:
        yield
    except _TIMEOUTS:
        raise FetchTimeout(f"`{host}` did not answer in time.") from None
    except ssl.SSLCertVerificationError:
        raise FetchNetworkError(
            f"`{host}` could not prove who it is: its certificate is not valid.",
            suggestions=("Check the address. If the site is yours, renew its certificate.",),
        ) from None
    except ssl.SSLError:
        raise FetchNetworkError(f"No secure connection to `{host}` could be made.") from None
    except _BROKEN:
        raise FetchNetworkError(f"The connection to `{host}` broke off.") from None
    except _NONSENSE:
        raise FetchNetworkError(f"`{host}` hung up or did not answer in HTTP.") from None


def was_reset(error: BaseException) -> bool:
    """Whether the server hung up before it answered: worth another try, unlike a refusal or an answer in no HTTP."""
    if isinstance(error, (httpcore.ReadError, httpcore.WriteError)):
        # The HTTP library drops the cause on the way, so our backend hands it over as an argument.
        return bool(error.args) and isinstance(error.args[0], _RESETS)
    # The library tells a hang-up and HTTP/2's goodbye from nonsense by their words alone.
    hung_up = ("Server disconnected", "<ConnectionTerminated")
    return isinstance(error, httpcore.RemoteProtocolError) and str(error).startswith(hung_up)


_WORDS: Final = {
    401: ("asks for a login", "Open the page in your browser and send it from there."),
    403: ("refuses to show this page", "Open the page in your browser and send it from there."),
    404: ("has no such page", "Check the address."),
    410: ("has removed this page", "Look for a copy in a web archive."),
    429: ("was asked too often", "Try again later."),
    451: ("may not show this page for legal reasons", "Look for a copy in a web archive."),
}


def http_error(host: str, status: int) -> FetchHttpError:
    """The error for a status, in words."""
    fallback = (
        ("is out of order", "Try again later.") if status >= 500 else ("did not give the page", "Check the address.")
    )
    words, suggestion = _WORDS.get(status, fallback)
    return FetchHttpError(f"`{host}` {words} (status {status}).", status=status, suggestions=(suggestion,))
