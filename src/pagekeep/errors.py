"""Every error Pagekeep raises on purpose, in one tree.

    PagekeepError
    |-- InvalidUrl            the address is not a URL
    |-- InvalidProtocol       a URL, but not http or https
    |-- BlockedAddress        the address guard refused where it leads
    |-- FetchError
    |   |-- FetchTimeout      the server took longer than the deadline
    |   |-- FetchHttpError    the server answered with an error status
    |   `-- FetchNetworkError no usable connection (DNS, TLS, reset)
    |-- TooLarge              more bytes than the limit
    |-- UnsupportedContent    not a page (binary, PDF, image)
    |-- RenderError           the browser is missing or failed
    |-- ParseError            nothing that can be read as a page
    |-- RuleError             a site rule is malformed
    |-- NotFound              no such file, item or rule
    |-- RetryLimit            retried by hand too often
    |-- Conflict              it clashes with what is there or under way
    |   `-- Outdated          what was to be changed has changed meanwhile
    |-- NotOffered            known, but Pagekeep does not do it
    |-- StoreError            the library could not read or write
    |   `-- InvalidQuery      what is asked of it makes no sense
    `-- AccessError
        |-- NotSignedIn       nobody knows who asks
        |-- NotAllowed        known, but may not do this
        `-- TooManyRequests   tried too often

`type` is stable and part of the public interface. Messages and suggestions are written for the person who reads them: no
file-system paths beyond what the caller named, no resolved addresses, no stack traces.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pagekeep.model import Fetched, RuleFault


class PagekeepError(Exception):
    """Base of the tree: a sentence for people, a stable `type` for programs, and what to do next."""

    default_suggestions: ClassVar[tuple[str, ...]] = ()

    def __init__(self, message: str, *, suggestions: Iterable[str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.suggestions = tuple(self.default_suggestions if suggestions is None else suggestions)

    @property
    def type(self) -> str:
        """The stable name of this error, equal to the class name."""
        return type(self).__name__

    def to_json(self) -> dict[str, Any]:
        """The JSON shape every door answers with."""
        error = {"type": self.type, "message": self.message, "suggestions": list(self.suggestions)}
        return {"success": False, "error": error}


class InvalidUrl(PagekeepError):
    """The address is not a URL."""

    default_suggestions = ("Give a whole address, such as https://example.com/article.",)


class InvalidProtocol(PagekeepError):
    """A URL whose scheme is neither http nor https."""

    default_suggestions = ("Use an address that starts with http:// or https://.",)


class BlockedAddress(PagekeepError):
    """The address guard refused the place the URL leads to."""

    default_suggestions = ("If this host is yours, add it to `allow_hosts`.",)
    host: str | None = None
    """The host as the address names it, where that is what was refused."""


class FetchError(PagekeepError):
    """The page could not be fetched."""


class FetchTimeout(FetchError):
    """The server took longer than the deadline."""

    default_suggestions = ("Try again later, or allow more time.",)


class FetchHttpError(FetchError):
    """The server answered with an error status."""

    def __init__(self, message: str, *, status: int, suggestions: Iterable[str] | None = None) -> None:
        super().__init__(message, suggestions=suggestions)
        self.status = status
        self.page: Fetched | None = None
        """What came with the error, when it was a page: a wall often answers with 403."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors cross process borders in bulk runs; the keyword-only status must come along."""
        return partial(FetchHttpError, status=self.status, suggestions=self.suggestions), (self.message,)


class FetchNetworkError(FetchError):
    """No usable connection to the server."""

    default_suggestions = ("Check the address and your connection, then try again.",)


class TooLarge(PagekeepError):
    """The input is larger than the limit."""

    default_suggestions = ("Save the part you need as a smaller file.",)


class UnsupportedContent(PagekeepError):
    """The input is not a page of text."""

    default_suggestions = ("Give an HTML page.",)


class RenderError(PagekeepError):
    """The browser is missing or failed."""


class ParseError(PagekeepError):
    """Nothing in the input can be read as a page."""

    default_suggestions = ("Check that this is a page of HTML, and whole.",)


class RuleError(PagekeepError):
    """A site rule is malformed."""

    faults: tuple[RuleFault, ...] = ()
    """Every fault that was found, not only the first."""

    @classmethod
    def of(cls, faults: tuple[RuleFault, ...]) -> RuleError:
        """The error that tells all of these."""
        number = "A fault" if len(faults) == 1 else f"{len(faults)} faults"
        error = cls(f"{number} in the rules.", suggestions=map(str, faults))
        error.faults = faults
        return error


class NotFound(PagekeepError):
    """No such file, item or rule."""


class RetryLimit(PagekeepError):
    """The item was retried by hand as often as allowed."""


class Conflict(PagekeepError):
    """It clashes with what is there or under way."""


class Outdated(Conflict):
    """What was to be changed has changed meanwhile."""

    default_suggestions = ("Read it again, then change it.",)


class NotOffered(PagekeepError):
    """Something that others do and Pagekeep does not."""


class StoreError(PagekeepError):
    """The library could not read or write."""


class InvalidQuery(StoreError):
    """What is asked of the library makes no sense."""


class AccessError(PagekeepError):
    """The server does not do this for whoever asks."""


class NotSignedIn(AccessError):
    """Nobody knows who asks."""

    default_suggestions = ("Sign in, or send a token: `Authorization: Bearer ...`.",)


class NotAllowed(AccessError):
    """Whoever asks may not do this."""


class TooManyRequests(AccessError):
    """Tried too often in too short a time."""

    default_suggestions = ("Wait a few minutes.",)
