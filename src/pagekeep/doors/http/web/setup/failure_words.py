"""What the reader shows about a page that could not be saved: the reason and the next step, in words for readers.

The texts of the errors themselves also name settings, options and commands, which help on a command line and in logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pagekeep.model import ItemMetadata


class FailureWords(NamedTuple):
    """A failure in words, and which buttons can help."""

    reason: str
    next_step: str
    try_again: bool = True
    """Whether the same request can succeed later."""
    is_page: bool = True
    """Whether the address is one that a browser opens and a bookmark can keep."""


_UNKNOWN: Final = FailureWords("The page could not be saved.", "Try again. If it fails again, keep it as a bookmark.")
_FAULT: Final = FailureWords(
    "Something went wrong in Pagekeep itself.", "Try again. If it happens again, please report it with the address."
)
_LIBRARY: Final = FailureWords(
    "The library could not be written.", "Check that there is free space on the disk of the server, then try again."
)
_ACCESS: Final = FailureWords(
    "The account was not allowed to save this page.",
    "Sign in again, then try again. If that fails, ask the owner of the server.",
)

WORDS: Final[Mapping[str, FailureWords]] = {
    "PagekeepError": _UNKNOWN,
    "InvalidUrl": FailureWords(
        "This is not the address of a page.",
        "Copy the address from the browser's address bar, and add it again.",
        try_again=False,
        is_page=False,
    ),
    "InvalidProtocol": FailureWords(
        "Only pages whose address begins with http:// or https:// can be saved.",
        "Open it in the program that it belongs to.",
        try_again=False,
        is_page=False,
    ),
    "BlockedAddress": FailureWords(
        "The address is on a private network, which this server does not open.",
        "Open the page in your browser and save it with the browser extension, or keep it as a bookmark. "
        "The owner of the server can allow the site.",
        try_again=False,
    ),
    "FetchError": FailureWords(
        "The page could not be loaded.", "Open it in the browser to see whether it still exists."
    ),
    "FetchTimeout": FailureWords("The site did not answer in time.", "Try again later: it may be busy."),
    "FetchHttpError": FailureWords(
        "The site answered with an error instead of the page.",
        "Open it in the browser. If you see it there, save it with the browser extension.",
    ),
    "FetchNetworkError": FailureWords(
        "There was no connection to the site.",
        "Check the spelling of the address and the network connection of the server, then try again.",
    ),
    "TooLarge": FailureWords(
        "The page or file is larger than the limit of this server.",
        "Keep it as a bookmark, or save only the part that you need with the browser extension.",
        try_again=False,
    ),
    "TooSlow": FailureWords("The page took too long to arrive.", "Try again with a better connection."),
    "UnsupportedContent": FailureWords(
        "The address leads to a file that is not a page or a document.",
        "Open it in the browser to download it, or keep it as a bookmark.",
        try_again=False,
    ),
    "RenderError": FailureWords(
        "The page needs a browser to be shown, and the browser of the server failed.",
        "Try again. If it fails again, open the page and save it with the browser extension.",
    ),
    "ParseError": FailureWords(
        "The page arrived, but its content cannot be read.",
        "Open it in the browser. If it looks right there, save it with the browser extension.",
        try_again=False,
    ),
    "RuleError": FailureWords(
        "A rule for this site has a mistake.", "Correct the rule in the rule playground, then try again."
    ),
    "NotFound": FailureWords(
        "What belongs to this task is no longer in the library.", "Add the page again, or delete this.", try_again=False
    ),
    "RetryLimit": FailureWords(
        "The page was tried three times without success.",
        "Open it in the browser and save it with the browser extension, or keep the bookmark.",
        try_again=False,
    ),
    "Conflict": FailureWords("Another change was made at the same time.", "Try again."),
    "Outdated": FailureWords("The page was changed at the same time.", "Try again."),
    "NotOffered": FailureWords(
        "Pagekeep cannot do this.", "Keep the page as a bookmark, or delete this.", try_again=False
    ),
    "Abandoned": FailureWords(
        "The page ended the program that read it, each time it was tried.",
        "Keep it as a bookmark, or save it with the browser extension.",
        try_again=False,
    ),
    "Unexpected": _FAULT,
    "Interrupted": FailureWords("The server was stopped while it saved the page.", "Try again."),
    "ServerStopped": FailureWords("The server was stopped while it saved the page.", "Try again."),
    "StoreError": _LIBRARY,
    "DatabaseUnreachable": FailureWords("The database server did not answer.", "Try again when it is running."),
    "InvalidQuery": FailureWords("The request could not be understood.", "Add the page again.", try_again=False),
    "AccessError": _ACCESS,
    "NotSignedIn": _ACCESS,
    "NotAllowed": _ACCESS,
    "TooManyRequests": FailureWords(
        "There were too many requests in a short time.", "Wait a few minutes, then try again."
    ),
}
"""The words for each type of error, by the name of its class."""

_BY_STATUS: Final[Mapping[int, FailureWords]] = {
    401: FailureWords(
        "The site asks for a sign-in.",
        "Open the page in your browser, sign in there, and save it with the browser extension.",
        try_again=False,
    ),
    402: FailureWords(
        "The page is behind a paywall.",
        "If you have a subscription, open the page in your browser and save it with the browser extension.",
        try_again=False,
    ),
    403: FailureWords(
        "The site refused to send the page to this server.",
        "Open it in your browser and save it with the browser extension.",
        try_again=False,
    ),
    404: FailureWords(
        "There is no page at this address.",
        "Check the address. The page may have been moved or deleted.",
        try_again=False,
    ),
    410: FailureWords(
        "The page was deleted by its site.", "Keep the address as a bookmark, or delete this.", try_again=False
    ),
    429: FailureWords("The site received too many requests.", "Try again later."),
    451: FailureWords(
        "The site may not show the page here, for legal reasons.",
        "Keep the address as a bookmark, or delete this.",
        try_again=False,
    ),
}
"""Words for statuses that readers meet often."""
_SITE_FAULT: Final = FailureWords("The site itself has a fault at the moment.", "Try again later.")


def describe_failure(error: Mapping[str, Any] | None) -> FailureWords:
    """Return the words for a stored error: its type, and `status` if a server sent one."""
    if not error:
        return _UNKNOWN
    status = error.get("status")
    if isinstance(status, int) and error.get("type") == "FetchHttpError":
        if status in _BY_STATUS:
            return _BY_STATUS[status]
        if status >= 500:
            return _SITE_FAULT
    return WORDS.get(str(error.get("type")), _UNKNOWN)


def reason_words(about: ItemMetadata) -> str:
    """Return why only a bookmark was saved, and the next step: in the words above when the page could not be fetched."""
    failure = about.last_error
    if failure and failure.get("message") == about.reason and failure.get("type") in WORDS:
        words = describe_failure(failure)
        return f"{words.reason} {words.next_step}"
    reason, step = about.reason or "", about.suggestion or ""
    text = f"{reason} {step}" if step and step not in reason else reason
    return text.replace("`", "")
