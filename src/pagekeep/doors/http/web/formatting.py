"""What templates show in words: dates, numbers, quality badges, text direction, excerpts, and why a page was not saved."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from markupsafe import Markup, escape

from pagekeep.model import Colour, Item, ItemMetadata, QualityLevel
from pagekeep.present.sections import body_of
from pagekeep.text import strip_markdown

_RIGHT_TO_LEFT: Final = frozenset("ar arc ckb dv fa he iw ks ku ps sd syr ug ur yi".split())


class Badge(NamedTuple):
    """The quality level of an item as a colour and text."""

    colour: Colour
    name: str
    meaning: str


_BADGES: Final[dict[QualityLevel, Badge]] = {
    "article": Badge("green", "Article", "The article was captured, and nothing in it was found missing."),
    "simplified": Badge("yellow", "Simplified", "The content was captured, but it may be incomplete or have too much."),
    "bookmark": Badge("orange", "Bookmark", "Only a bookmark was saved: the content could not be extracted."),
    "discarded": Badge("grey", "Discarded", "A rule discards this page."),
}
_PENDING: Final = Badge("grey", "Pending", "The page has not been extracted yet.")


def quality(item: Item) -> Badge:
    """Return the item's quality badge."""
    return _BADGES[item.metadata.quality] if item.metadata.quality else _PENDING


_SHADES: Final = {
    "yellow": "yellow",
    "orange": "yellow",
    "green": "green",
    "blue": "blue",
    "cyan": "blue",
    "purple": "blue",
    "pink": "pink",
    "red": "pink",
}


def shade(colour: str | None) -> str:
    """Return the reader's colour nearest to an annotation's colour, which may come from another program."""
    return _SHADES.get((colour or "").strip().lower(), "yellow")


def direction(item: Item) -> str:
    """Return the item's text direction; `auto` if the language is unknown."""
    language = item.metadata.language or ""
    if not language:
        return "auto"
    return "rtl" if language.lower().partition("-")[0] in _RIGHT_TO_LEFT else "ltr"


def day(moment: str | None) -> str:
    """Format a date as 19 March 2025; return the text unchanged if it is not a date."""
    if not moment:
        return ""
    try:
        date = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    return f"{date.day} {date:%B %Y}"


def since(moment: str | None) -> str:
    """Format a time as `3 h ago` or `2 d ago`; as a date after a week."""
    if not moment:
        return ""
    try:
        then = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    now = datetime.now(UTC)
    seconds = (now - (then if then.tzinfo else then.replace(tzinfo=UTC))).total_seconds()
    if seconds < 3600:
        return "just now" if seconds < 90 else f"{int(seconds // 60)} min ago"
    if seconds < 86_400:
        return f"{int(seconds // 3600)} h ago"
    if seconds < 7 * 86_400:
        return f"{int(seconds // 86_400)} d ago"
    return f"{then.day} {then:%b}" + ("" if then.year == now.year else f" {then.year}")


_FOOTNOTE: Final = re.compile(r"\[\^[^\]\s]{1,40}\]")
_NOT_PROSE: Final = ("#", "!", "[![", "|", ">", "```", "~~~", "$$", "---", "***", "[^")
_EXCERPT_SOURCE_CHARS: Final = 6_000
"""Characters of a document searched for an excerpt."""
_EXCERPT_CHARS: Final = 300
_MIN_EXCERPT_CHARS: Final = 12


def excerpt(item: Item) -> str:
    """Return the beginning of the item's text, for pages without a description."""
    for block in body_of(item.content[:_EXCERPT_SOURCE_CHARS]).split("\n\n"):
        if block.startswith(_NOT_PROSE):
            continue
        text = strip_markdown(_FOOTNOTE.sub("", block[: 4 * _EXCERPT_CHARS]))
        if len(text) >= _MIN_EXCERPT_CHARS and text != item.title:
            return f"{text[:_EXCERPT_CHARS]}…" if len(text) > _EXCERPT_CHARS else text
    return ""


def number(value: int | None) -> str:
    """Format a number with thousands separators: 1,204."""
    return f"{value or 0:,}"


def size(value: int | None) -> str:
    """Return a number of bytes such as "4.2 MB"."""
    amount = float(value or 0)
    if amount < 1_000:
        return f"{amount:.0f} bytes"
    for unit in ("KB", "MB", "GB"):
        amount /= 1_000
        if amount < 999.5 or unit == "GB":
            break
    return f"{amount:.1f} {unit}" if amount < 9.95 else f"{amount:,.0f} {unit}"


def marked(snippet: str) -> Markup:
    """Return a search snippet as HTML with the matching words in `<mark>`."""
    html = str(escape(snippet)).replace("[[", "<mark>").replace("]]", "</mark>")
    # The page itself may contain such brackets: show the plain text if the tags do not pair up.
    paired = html.count("<mark>") == html.count("</mark>")
    return Markup(html if paired else escape(snippet))


_CODE: Final = re.compile(r"`([^`]+)`")


def words(text: str | None) -> Markup:
    """Return the text of an error as HTML: what it quotes in backticks becomes code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text or ""))))


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
