"""Fields of feeds: text out of bytes and markup, times out of what feeds write as dates, addresses."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from html import escape, unescape
from typing import Any, Final

from pagekeep import clock, dom
from pagekeep.extraction.input.urls import absolute
from pagekeep.model.feeds import MAX_ENTRIES
from pagekeep.text import one_line

MAX_TEXT_CHARS: Final = 1_000
MAX_LISTED: Final = 50
"""Categories or enclosures of one entry."""
_FIRST_YEAR, _LAST_YEAR = 1970, 2200
_INLINE: Final = (
    "a|abbr|b|big|br|cite|code|del|div|em|font|h[1-6]|i|img|ins|kbd|mark|nobr|p|q|s|small|span|strike|strong|sub|sup|"
    "tt|u|wbr"
)
_MARKUP: Final = re.compile(rf"</?(?:{_INLINE})(?:\s[^<>]*)?/?>|&(?:[a-z]{{2,8}}|#\d{{1,7}}|#x[0-9a-f]{{1,6}});", re.I)
"""Markup in what should be text. `vector<int>` or `a < b` is not."""
_HTML: Final = re.compile(r"</?[a-z][^<>]*>|&(?:[a-z]{2,8}|#\d{1,7}|#x[0-9a-f]{1,6});", re.I)
_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_DAY_MONTH_YEAR: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?[\s./-]+([a-z]{3})[a-z]*\.?,?[\s./-]+(\d{4})", re.I)
_MONTH_DAY_YEAR: Final = re.compile(r"([a-z]{3})[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})", re.I)
_YEAR_MONTH_DAY: Final = re.compile(r"(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})")
_CLOCK: Final = re.compile(
    r"(?<!\d)(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([ap]m)?(?:\.\d+)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?", re.I
)
_HALF_DAY: Final = re.compile(r"\d\s*[ap]\.?m\b", re.I)
_EPOCH: Final = re.compile(r"\d{10}(?:\d{3})?")
_MAIL_AND_NAME: Final = re.compile(r"[^\s@()<>]+@[^\s@()<>]+\s*\(([^()]*)\)")
_MAIL_IN_NAME: Final = re.compile(r"\s*[<(]?(?:mailto:)?[^\s@()<>]+@[^\s@()<>]+\.[^\s@()<>]+[>)]?\s*", re.I)


def to_text(value: Any, *, html: bool | None = None) -> str:
    """Return one line of text; markup is removed if `html`, or by default if there seems to be some."""
    text = value if isinstance(value, str) else ""
    text = text[: 20 * MAX_TEXT_CHARS]
    for _ in range(2):  # titles are often escaped twice
        if not (html or _MARKUP.search(text)):
            break
        text, html = dom.text_of(dom.parse_fragment(text)), None
    return one_line(text)[:MAX_TEXT_CHARS]


def to_html(value: Any, kind: str) -> str:
    """Return HTML of a field whose type the feed declares, rightly or not."""
    text = value if isinstance(value, str) else ""
    if "html" in kind.lower():
        return _unescape_twice(text)
    if _HTML.search(text) and "plain" not in kind.lower():
        return text
    return text_to_html(text) if not _looks_like_html(text) else _unescape_twice(text)


def text_to_html(text: str) -> str:
    """Return plain text as paragraphs."""
    parts = (part.strip() for part in re.split(r"\n\s*\n", text.replace("\r\n", "\n")))
    return "".join(f"<p>{escape(part, quote=False).replace(chr(10), '<br>')}</p>" for part in parts if part)


def _looks_like_html(text: str) -> bool:
    return re.search(r"<(?:p|div|br|img|a|ul|ol|h[1-6]|blockquote|table|figure)\b[^<>]*>", text, re.I) is not None


def _unescape_twice(text: str) -> str:
    """Return markup that was escaped once too often as markup."""
    if "<" not in text and re.search(r"&lt;/?(?:p|div|br|a|img|ul|ol|strong|em|b|i|span|h[1-6])\b", text, re.I):
        return unescape(text)
    return text


def to_address(value: Any, base: str | None) -> str | None:
    """Return an absolute web address, or `None`."""
    text = value.strip() if isinstance(value, str) else ""
    if "&amp;" in text:
        text = text.replace("&amp;", "&")
    found = absolute(text, base)
    if found is None:
        return None
    scheme, colon, rest = found.partition(":")
    return f"{scheme.lower()}{colon}{rest}"


def to_author(value: Any) -> str | None:
    """Return a name without an e-mail address: `Ada` of `ada@example.com (Ada)`."""
    text = to_text(value)
    found = _MAIL_AND_NAME.fullmatch(text)
    if found and found[1].strip():
        return found[1].strip()
    return _MAIL_IN_NAME.sub(" ", text).strip(' ,()<>"') or None


def to_time(*values: Any) -> str | None:
    """Return the first of the values that is a time, in the form of the library, or `None`."""
    for value in values:
        found = _read_time(value)
        if found is not None and _FIRST_YEAR <= found.year <= _LAST_YEAR:
            return clock.format_time(found)
    return None


def _read_time(value: Any) -> datetime | None:
    if isinstance(value, (tuple, list)) or hasattr(value, "tm_year"):
        return _from_parts(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = f"{value:.0f}"
    if not isinstance(value, str):
        return None
    text = " ".join(value.split())[:100]
    for read in (_from_iso, _from_mail, _from_epoch, _from_words):
        try:
            found = read(text)
        except (ValueError, OverflowError, TypeError, IndexError, KeyError):
            continue
        if found is not None:
            return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    return None


def _from_parts(parts: Any) -> datetime | None:
    try:
        year, month, day, hour, minute, second = (int(part) for part in tuple(parts)[:6])
        return datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
    except (ValueError, OverflowError, TypeError):
        return None


def _from_iso(text: str) -> datetime:
    return datetime.fromisoformat(text.upper().replace(" UTC", "Z").replace(" GMT", "Z"))


def _from_mail(text: str) -> datetime | None:
    return None if _HALF_DAY.search(text) else parsedate_to_datetime(text)


def _from_epoch(text: str) -> datetime | None:
    if not _EPOCH.fullmatch(text):
        return None
    return datetime.fromtimestamp(int(text) / (1_000 if len(text) == 13 else 1), UTC)


def _from_words(text: str) -> datetime | None:
    """Return the date in a text, with its time if that is one."""
    if found := _YEAR_MONTH_DAY.search(text):
        day = datetime(int(found[1]), int(found[2]), int(found[3]))
    elif found := _DAY_MONTH_YEAR.search(text):
        day = datetime(int(found[3]), _MONTHS.index(found[2].lower()) + 1, int(found[1]))
    elif found := _MONTH_DAY_YEAR.search(text):
        day = datetime(int(found[3]), _MONTHS.index(found[1].lower()) + 1, int(found[2]))
    else:
        return None
    return _with_clock(day, _CLOCK.search(text[found.end() :]))


def _with_clock(day: datetime, found: re.Match[str] | None) -> datetime:
    if found is None:
        return day
    hour, minute, second = int(found[1]), int(found[2]), int(found[3] or 0)
    if found[4]:
        hour = hour % 12 + (12 if found[4].lower() == "pm" else 0)
    if hour > 24 or minute > 59 or second > 60:  # not a time
        return day
    zone = (found[5] or "").upper().replace(":", "")
    offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:5])) if zone[:1] in ("+", "-") else timedelta()
    time = day + timedelta(hours=hour, minutes=minute, seconds=second)
    return time + offset if zone.startswith("-") else time - offset


_DECLARATION: Final = re.compile(rb"\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._:-]{1,40})[\"']", re.I)
_TEXT_DECLARATION: Final = re.compile(r"^\s*<\?xml[^>]{0,400}\?>", re.I)
_START: Final = re.compile(r"<\?xml\b|<(?:\w{1,20}:)?(?:rss|feed|RDF|opml|channel)\b", re.I)
_JUNK_CHARS: Final = 20_000
"""Where a feed may begin: programs write warnings before it."""
_ILLEGAL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML cannot hold."""
_ENTRY: Final = re.compile(r"<(?:\w{1,20}:)?(?:item|entry)[\s>/]", re.I)
_ENTRY_END: Final = re.compile(r"</(?:\w{1,20}:)?(?:item|entry)\s*>", re.I)
_BOMS: Final = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
    (b"<\x00?\x00", "utf-16-le"),
    (b"\x00<\x00?", "utf-16-be"),
)


def decode(body: bytes, charset: str | None = None) -> str:
    """Return the text; nothing is raised, whatever the bytes are."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body.decode(name, "replace").removeprefix("\ufeff")
    try:
        return body.decode("utf-8")  # text in another encoding is hardly ever valid UTF-8
    except UnicodeDecodeError:
        pass
    declared = _DECLARATION.match(body)
    labels = (charset, declared[1].decode("ascii") if declared else None)
    for label in labels:
        # Labels of the web only: Python has codecs that take quadratic time.
        if label and label.lower() not in ("utf-8", "utf8", "us-ascii", "ascii"):
            found = dom.decode(body, label)
            if found is not None:
                return found[0]
    return _decode_mixed(body)


def _decode_mixed(body: bytes) -> str:
    """Return text that is mostly UTF-8, or else in Windows' encoding for Western Europe."""
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    kept = sum(1 for char in text if char > "\x7f") - broken
    return text if kept > 3 * broken else body.decode("windows-1252", "replace")


def to_xml(text: str) -> bytes:
    """Return the document as clean UTF-8 without declaration, from its first element on, with a limited number of entries."""
    found = _START.search(text[:_JUNK_CHARS])
    text = _TEXT_DECLARATION.sub("", text[found.start() :] if found else text.lstrip())
    return _ILLEGAL.sub("", _limit_entries(text)).encode("utf-8", "replace")


def _limit_entries(text: str) -> str:
    """Return the document without entries over the limit: its end follows the last one that stays."""
    for count, found in enumerate(_ENTRY.finditer(text)):
        if count == MAX_ENTRIES:
            ends = [end.end() for end in _ENTRY_END.finditer(text, max(found.start(), len(text) - _JUNK_CHARS))]
            return text[: found.start()] + (text[ends[-1] :] if ends else "")
    return text
