"""How pages say things: moments, numbers, qualities, and in which direction a text runs."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final, NamedTuple

from markupsafe import Markup, escape

from pagekeep.model import Colour, Item, QualityLevel
from pagekeep.present.markdown_html import body_of
from pagekeep.store.search.indexed_text import plain

_RIGHT_TO_LEFT: Final = frozenset("ar arc ckb dv fa he iw ks ku ps sd syr ug ur yi".split())


class Badge(NamedTuple):
    """The quality of an item, in a colour and in words."""

    colour: Colour
    name: str
    meaning: str


_BADGES: Final[dict[QualityLevel, Badge]] = {
    "article": Badge("green", "Article", "The whole article was captured."),
    "simplified": Badge("yellow", "Simplified", "The content was found, though not by the best way."),
    "bookmark": Badge("orange", "Bookmark", "Only a bookmark was saved: the content could not be read."),
    "discarded": Badge("grey", "Discarded", "A rule wants none of this page."),
}
_UNKNOWN: Final = Badge("grey", "Not read", "The page has not been read yet.")


def quality(item: Item) -> Badge:
    """The item's badge."""
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
    """In which of our colours a passage is marked, whatever another program called its own."""
    return _SHADES.get((colour or "").strip().lower(), "yellow")


def direction(item: Item) -> str:
    """In which direction its text runs; the browser finds out where the language is not known."""
    language = item.metadata.language or ""
    if not language:
        return "auto"
    return "rtl" if language.lower().partition("-")[0] in _RIGHT_TO_LEFT else "ltr"


def day(moment: str | None) -> str:
    """The day of a moment or date, as people write it: 19 March 2025; what is no date stays as it is."""
    if not moment:
        return ""
    try:
        found = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    return f"{found.day} {found:%B %Y}"


def since(moment: str | None) -> str:
    """How long ago, short: `3 h`, `2 d`, then the day."""
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
_NO_TEXT: Final = ("#", "!", "|", ">", "```", "~~~", "$$", "---", "***", "[^")
_LOOKED_AT: Final = 6_000
_EXCERPT: Final = 300
_SHORTEST: Final = 12


def excerpt(item: Item) -> str:
    """How its text begins, for pages that do not say what they are about."""
    for block in body_of(item.content[:_LOOKED_AT]).split("\n\n"):
        if block.startswith(_NO_TEXT):
            continue
        begins = plain(_FOOTNOTE.sub("", block[: 4 * _EXCERPT]))
        if len(begins) >= _SHORTEST and begins != item.title:
            return f"{begins[:_EXCERPT]}…" if len(begins) > _EXCERPT else begins
    return ""


def number(value: int | None) -> str:
    """1,204."""
    return f"{value or 0:,}"


def marked(snippet: str) -> Markup:
    """A search's snippet with the words it found marked."""
    shown = str(escape(snippet)).replace("[[", "<mark>").replace("]]", "</mark>")
    # A page may hold the brackets itself: marks that do not pair are none.
    paired = shown.count("<mark>") == shown.count("</mark>")
    return Markup(shown if paired else escape(snippet))
