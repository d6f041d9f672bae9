"""Template filters: dates, numbers, quality badges, text direction and excerpts."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final, NamedTuple

from markupsafe import Markup, escape

from pagekeep.model import Colour, Item, QualityLevel
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
_UNKNOWN: Final = Badge("grey", "Pending", "The page has not been extracted yet.")


def quality(item: Item) -> Badge:
    """Return the item's quality badge."""
    return _BADGES[item.metadata.quality] if item.metadata.quality else _UNKNOWN


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
