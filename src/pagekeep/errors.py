"""Every error Pagekeep raises on purpose, in one tree.

    PagekeepError
    |-- InvalidUrl            not a URL
    |-- InvalidProtocol       a URL, but not http or https
    |-- BlockedAddress        a private address that is not allowed
    |-- FetchError
    |   |-- FetchTimeout      the server took longer than the deadline
    |   |-- FetchHttpError    the server returned an error status
    |   `-- FetchNetworkError no usable connection (DNS, TLS, reset)
    |-- TooLarge              more bytes than the limit
    |-- TooSlow               the request took too long to arrive
    |-- UnsupportedContent    not a page (binary, PDF, image)
    |-- RenderError           the browser is missing or failed
    |-- ParseError            the input cannot be read
    |-- RuleError             a site rule is malformed
    |-- NotFound              no such file, item or rule
    |-- RetryLimit            retried by hand too often
    |-- Conflict              conflicts with existing data or a running action
    |   `-- Outdated          changed by another request in the meantime
    |-- NotOffered            not supported by Pagekeep
    |-- Abandoned             a job whose processes were killed at each attempt
    |-- ServerStopped         the server was stopped while it answered
    |-- Unexpected            a fault of Pagekeep itself
    |-- StoreError            the library could not be read or written
    |   |-- InvalidQuery      the query cannot be understood
    |   `-- DatabaseUnreachable  the database server does not answer
    `-- AccessError
        |-- NotSignedIn       not signed in
        |-- NotAllowed        signed in, but not allowed
        `-- TooManyRequests   too many requests in a short time

`type` is stable and part of the public interface. A message says what happened and with which input, the suggestions what to
do next. They contain no file paths except the caller's own, no resolved IP addresses and no stack traces.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pagekeep.model import Fetched, RuleFault


class PagekeepError(Exception):
    """Base class: a message for people, a stable `type` for programs, and suggestions of what to do next."""

    default_suggestions: ClassVar[tuple[str, ...]] = ()

    def __init__(self, message: str, *, suggestions: Iterable[str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.suggestions = tuple(self.default_suggestions if suggestions is None else suggestions)
        self.item_id: str | None = None
        """The item that has the address of a page that could not be saved."""

    @property
    def type(self) -> str:
        """Stable name of this error, equal to the class name."""
        return type(self).__name__

    def to_json(self) -> dict[str, Any]:
        """Return the error as JSON types, as every interface reports it."""
        error: dict[str, Any] = {
            "type": self.type,
            "message": self.message,
            "suggestions": list(self.suggestions),
        }
        if self.item_id is not None:
            error["item_id"] = self.item_id
        return {"success": False, "error": error}


class InvalidUrl(PagekeepError):
    """Not a URL."""

    default_suggestions = ("Use a full URL, such as https://example.com/article.",)


class InvalidProtocol(PagekeepError):
    """A URL whose scheme is neither http nor https."""

    default_suggestions = ("Use a URL that starts with http:// or https://.",)


class BlockedAddress(PagekeepError):
    """The URL leads to a private address that is not allowed."""

    default_suggestions = ("To allow it, add the host to the setting `allow_hosts`.",)
    host: str | None = None
    """The refused host as the URL names it, if known."""


class FetchError(PagekeepError):
    """The page could not be fetched."""


class FetchTimeout(FetchError):
    """The server took longer than the deadline."""

    default_suggestions = ("Try again later, or allow more time.",)


class FetchHttpError(FetchError):
    """The server returned an error status."""

    def __init__(self, message: str, *, status: int, suggestions: Iterable[str] | None = None) -> None:
        super().__init__(message, suggestions=suggestions)
        self.status = status
        self.page: Fetched | None = None
        """The page that came with the status, if any: login walls often come with a 403."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the keyword-only status when the error is sent to another process, as in bulk runs."""
        return partial(FetchHttpError, status=self.status, suggestions=self.suggestions), (self.message,)


class FetchNetworkError(FetchError):
    """No usable connection to the server."""

    unknown_host = False
    """Whether the name service answered that there is no such host."""
    default_suggestions = ("Check the URL and your connection, then try again.",)


class TooLarge(PagekeepError):
    """The input is larger than the limit."""

    default_suggestions = ("Save only the part you need.",)


class TooSlow(PagekeepError):
    """The request took too long to arrive."""

    default_suggestions = ("Try again.",)


class UnsupportedContent(PagekeepError):
    """The input is not a page of text."""

    default_suggestions = ("Use the URL or the file of an HTML page.",)


class RenderError(PagekeepError):
    """The browser is missing or failed."""


class ParseError(PagekeepError):
    """The input cannot be read."""

    default_suggestions = ("Check that this is a complete HTML page.",)


class RuleError(PagekeepError):
    """A site rule is malformed."""

    faults: tuple[RuleFault, ...] = ()
    """All faults found, not only the first."""

    @classmethod
    def of(cls, faults: tuple[RuleFault, ...]) -> RuleError:
        """Return an error that lists these faults."""
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        error = cls(f"The rules have {count}.", suggestions=map(str, faults))
        error.faults = faults
        return error


class NotFound(PagekeepError):
    """No such file, item or rule."""


class RetryLimit(PagekeepError):
    """The item was retried by hand as often as allowed."""


class Conflict(PagekeepError):
    """The action conflicts with existing data or a running action."""


class Outdated(Conflict):
    """The data was changed by another request in the meantime."""

    default_suggestions = ("Load it again, then repeat your change.",)


class NotOffered(PagekeepError):
    """Pagekeep does not support this."""


class Abandoned(PagekeepError):
    """A job was not finished in any of its attempts."""


class ServerStopped(PagekeepError):
    """The server was stopped while it answered the request."""

    default_suggestions = (
        "A page that it had begun to save is in the queue, and is saved when the server runs again.",
        "Otherwise send the request again.",
    )
    seconds = 10
    """After which the caller may try again."""


class Unexpected(PagekeepError):
    """A fault of Pagekeep itself."""


class StoreError(PagekeepError):
    """The library could not be read or written."""


class InvalidQuery(StoreError):
    """The query cannot be understood."""


class DatabaseUnreachable(StoreError):
    """The database server does not answer, or the connection to it was lost: the same request can succeed later."""

    default_suggestions = ("Try again later.", "Check that the database server is running, and its address.")
    seconds = 5
    """After which the caller may try again."""


class AccessError(PagekeepError):
    """The caller has no access."""


class NotSignedIn(AccessError):
    """The caller is not signed in."""

    default_suggestions = ("Sign in, or send a token: `Authorization: Bearer ...`.",)


class NotAllowed(AccessError):
    """The caller is signed in, but not allowed to do this."""


class TooManyRequests(AccessError):
    """Too many requests in a short time."""

    default_suggestions = ("Wait a few minutes, then try again.",)

    def __init__(self, message: str, *, suggestions: Iterable[str] | None = None, seconds: int = 60) -> None:
        super().__init__(message, suggestions=suggestions)
        self.seconds = seconds
        """After which the caller may try again."""
