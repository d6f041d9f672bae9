"""Parse dates in the forms that pages use, and return them as ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Final

from pagekeep.extraction.metadata.dates.months import month_number
from pagekeep.text import compile_lazily

_MAX_TEXT_CHARS: Final = 200
_MAX_PATH_CHARS: Final = 500
_YEARS: Final = range(1990, 2101)
"""The web began in 1990; years after 2100 are typing errors."""

_CLOCK: Final = (
    r"(?:(?:,|\s|T|at|um|à|-|\u2013|\||\u2022)*(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?!\d)(?:[:.](?P<second>\d{2})(?!\d))?"
    r"(?:[.,]\d{1,9})?\s{0,2}(?P<half>[AaPp]\.?[Mm]\b)?"
    r"\s{0,2}(?P<zone>Z\b|GMT\b|UTC\b|[+-]\d{2}:?\d{2}(?!\d)|[+-]\d{2}(?!\d))?)?"
)
_ISO: Final = compile_lazily(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?!\d)" + _CLOCK)
_YEAR_FIRST: Final = compile_lazily(
    r"(?<![\d/.])(?P<year>\d{4})\s?[/.]\s?(?P<month>\d{1,2})\s?[/.]\s?(?P<day>\d{1,2})(?!\d)" + _CLOCK
)
_EAST_ASIAN: Final = compile_lazily(
    r"(?:(?P<era>民國|民国|平成|令和)\s?(?P<era_year>\d{1,3}|元)|(?P<year>\d{4}))\s?[年년]"
    r"\s?(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})(?:\s?[日号號일])?(?:\s?\([^\W\d_]{1,3}\))?" + _CLOCK
)
_NAME: Final = r"(?P<name>[^\W\d_](?:[^\W\d_]|[\u0654\u0900-\u0dff\u0e30-\u0e4e\u200c]){1,12})\.?"
"""The name of a month; some scripts write vowels as marks that are not letters."""
_DAY_NAME_YEAR: Final = compile_lazily(
    r"(?<![\d:])(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|ª|\.)?[\s,./-]{0,3}(?:de\s|of\s|d'|[^\W\d_]{3,9}\s?/\s?)?"
    + _NAME
    + r"[\s,./-]{0,3}(?:de\s|del\s)?(?P<year>\d{4})(?!\d)"
    + _CLOCK
)
_NAME_DAY_YEAR: Final = compile_lazily(
    r"(?<![^\W\d_])"
    + _NAME
    + r"[\s./-]{0,3}(?P<day>\d{1,2})(?:st|nd|rd|th)?[\s,./-]{1,3}(?P<year>\d{4})(?!\d)"
    + _CLOCK
)
_YEAR_NAME_DAY: Final = compile_lazily(
    r"(?<!\d)(?P<year>\d{4})[\s,./-]{1,3}(?:m\.\s)?" + _NAME + r"[\s,./-]{0,3}(?P<day>\d{1,2})(?!\d)" + _CLOCK
)
_VIETNAMESE: Final = compile_lazily(
    r"(?<!\d)(?P<day>\d{1,2})\s?(?:tháng|thg|th)\.?\s?(?P<month>\d{1,2}),?\s{0,2}(?:năm\s)?(?P<year>\d{4})(?!\d)"
    + _CLOCK,
    re.IGNORECASE,
)
_YEAR_LAST: Final = compile_lazily(
    r"(?<![\d/.:-])(?P<first>\d{1,2})\s?(?P<mark>[./|-])\s?(?P<second_number>\d{1,2})\s?(?P=mark)\s?(?P<year>\d{4})(?!\d)"
    + _CLOCK
)
_COMPACT: Final = compile_lazily(
    r"\A(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?:T?(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?(?P<zone>Z)?)?\Z"
)
_NAME_DAY_CLOCK_YEAR: Final = compile_lazily(
    r"(?<![^\W\d_])" + _NAME + r"\s(?P<day>\d{1,2})\s(?P<hour>\d{2}):(?P<minute>\d{2}):(?P<second>\d{2})"
    r"\s(?P<zone>UTC|GMT)?(?:[A-Z]{3,4})?\s?(?P<year>\d{4})(?!\d)"
)
_SHORT_YEAR: Final = compile_lazily(
    r"(?<![\d/.:-])(?P<first>\d{1,2})(?P<mark>[./-])(?P<second>\d{1,2})(?P=mark)(?P<last>\d{2})(?![\d/:-]|\.\d)"
)
_NAME_YEAR: Final = compile_lazily(_NAME + r",?\s(?:de\s)?(?P<year>\d{4})")
_MAY_BE_DATE: Final = re.compile(r"\d\D{0,24}\d{4}|\d{4}\D{0,24}\d|[年년]")
"""Every date has a year of four digits and a day nearby, or the word for year, and most texts have not: a quick test."""
_UNIX: Final = compile_lazily(r"\A(\d{9,10})(?:\d{3})?(?:\.0+)?\Z")
_PATTERNS: Final = (
    _ISO,
    _YEAR_FIRST,
    _EAST_ASIAN,
    _DAY_NAME_YEAR,
    _NAME_DAY_YEAR,
    _YEAR_LAST,
    _COMPACT,
    _NAME_DAY_CLOCK_YEAR,
    _YEAR_NAME_DAY,
    _VIETNAMESE,
)
_ERAS: Final = {"民國": 1911, "民国": 1911, "平成": 1988, "令和": 2018}
"""The year before the first of each era of the Republic of China and of Japan."""
_BUDDHIST: Final = 543
"""Years that the Thai calendar is ahead."""
_THAI: Final = compile_lazily(r"[\u0e00-\u0e7f]")
_NUMERALS: Final = compile_lazily(r"[〇○零一二三四五六七八九十]{1,4}(?=\s?[年月日号號])")
_DIGITS: Final = str.maketrans("〇○零一二三四五六七八九", "000123456789")
_PATH: Final = compile_lazily(r"/((?:19|20)\d{2})[/_-]([01]?\d)[/_-]([0-3]\d(?=[/+_.-]|\Z)|\d(?=/|\Z))")
_PATH_COMPACT: Final = compile_lazily(r"[/_-]t?((?:19|20)\d{2})[/-]?(0\d|1[0-2])[/-]?([0-2]\d|3[01])(?=[/_.a-z-]|\Z)")
_PATH_NAMED: Final = compile_lazily(r"/((?:19|20)\d{2})/([a-z]{3,9})/([0-3]?\d)(?=/|\Z)")
_PATH_YEAR_LAST: Final = compile_lazily(r"[/~_-]([0-3]?\d)-([0-3]?\d)-((?:19|20)\d{2})(?=[/_.-]|\Z)")
_ARCHIVED: Final = compile_lazily(r"\A/web/\d{14}[a-z_]{0,3}/")
"""The Wayback Machine's prefix: the date of the copy, not of the page."""


def to_iso(text: str, *, day_first: bool = False) -> str | None:
    """Return the first date in the text as ISO 8601, with time and offset if stated; `None` without a date in range.

    `day_first` reads 03/05/2024 as 3 May.
    """
    text = text.strip()[:_MAX_TEXT_CHARS]
    if not _MAY_BE_DATE.search(text):
        return None
    if (stamp := _UNIX.match(text)) and not _COMPACT.match(text):
        return _from_unix(int(stamp[1]))
    found = _search(text, day_first)
    return found[0] if found else None


def to_short_iso(text: str, *, day_first: bool = False, year_first: bool = False) -> str | None:
    """Return the first date with a year of two digits, such as 05.03.24; `None` if there is none."""
    for match in _SHORT_YEAR.finditer(text[:_MAX_TEXT_CHARS]):
        first, second, last = match["first"], match["second"], match["last"]
        if year_first:
            iso = _date(_long_year(int(first)), int(second), int(last))
        else:
            month, day = _by_mark(int(first), int(second), match["mark"], day_first)
            iso = _date(_long_year(int(last)), month, day)
        if iso:
            return iso
    return None


def _long_year(short: int) -> int:
    return short + (1900 if short >= _YEARS[0] % 100 else 2000)


def parse_month(text: str) -> str | None:
    """Parse a text that is only a month, such as "November 2015", as `2015-11`; else return `None`."""
    match = _NAME_YEAR.fullmatch(text.strip()[:_MAX_TEXT_CHARS])
    month = month_number(match["name"]) if match else 0
    return f"{match['year']}-{month:02}" if match and month and int(match["year"]) in _YEARS else None


def remove_date(text: str) -> str:
    """Return the text without its first date."""
    found = _find(text, day_first=False)
    return text[: found[1]] + text[found[2] :] if found else text


def split_at_date(text: str, *, day_first: bool = False) -> tuple[str, str, str] | None:
    """Return the first date in the text as ISO 8601, and the text before and after it; `None` without a date."""
    found = _find(text, day_first)
    return (found[0], text[: found[1]], text[found[2] :]) if found else None


def date_in_path(path: str, *, day_first: bool = True) -> str | None:
    """Return the date in the path of a URL, such as `/2024/03/05/`."""
    path = _ARCHIVED.sub("/", path[:_MAX_PATH_CHARS].lower())
    if match := _PATH.search(path) or _PATH_COMPACT.search(path):
        return _date(int(match[1]), int(match[2]), int(match[3]))
    if match := _PATH_NAMED.search(path):
        return _date(int(match[1]), month_number(match[2]), int(match[3]))
    if match := _PATH_YEAR_LAST.search(path):
        first, second = int(match[1]), int(match[2])
        month, day = (second, first) if first > 12 or (day_first and second <= 12) else (first, second)
        return _date(int(match[3]), month, day)
    return None


def _find(text: str, day_first: bool) -> tuple[str, int, int] | None:
    """Return the first date in a text as ISO 8601, and where it starts and ends."""
    text = text[:_MAX_TEXT_CHARS]
    return _search(text, day_first) if _MAY_BE_DATE.search(text) else None


def _search(text: str, day_first: bool) -> tuple[str, int, int] | None:
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if iso := _to_iso(match.groupdict(), day_first):
                return iso, match.start(), match.end()
    digits = _NUMERALS.sub(_to_digits, text) if "年" in text else text
    # The positions in the text differ: a date in Chinese numerals counts as the whole text.
    return (found[0], 0, len(text)) if digits != text and (found := _search(digits, day_first)) else None


def _to_digits(numeral: re.Match[str]) -> str:
    """Return 二〇一八 as 2018 and 二十五 as 25."""
    tens, ten, ones = numeral[0].partition("十")
    return f"{tens.translate(_DIGITS) or '1'}{ones.translate(_DIGITS) or '0'}" if ten else tens.translate(_DIGITS)


def _from_unix(seconds: int) -> str | None:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment.year in _YEARS else None


def _to_iso(parts: dict[str, str | None], day_first: bool) -> str | None:
    month, day = _month_and_day(parts, day_first)
    iso = _date(_year(parts), month, day)
    return iso + _clock(parts) if iso else None


def _year(parts: dict[str, str | None]) -> int:
    if era := parts.get("era"):
        ordinal = parts["era_year"]
        return _ERAS[era] + (1 if ordinal == "元" else int(ordinal or 0))
    year = int(parts["year"] or 0)
    return year - _BUDDHIST if year not in _YEARS and _THAI.match(parts.get("name") or "") else year


def _month_and_day(parts: dict[str, str | None], day_first: bool) -> tuple[int, int]:
    if name := parts.get("name"):
        return month_number(name), int(parts["day"] or 0)
    if (first_number := parts.get("first")) is None:
        return int(parts["month"] or 0), int(parts["day"] or 0)
    return _by_mark(int(first_number), int(parts["second_number"] or 0), parts["mark"] or "", day_first)


def _by_mark(first: int, second: int, mark: str, day_first: bool) -> tuple[int, int]:
    """Return month and day of the two numbers before a year."""
    # Dots and dashes have the day first; a slash may be either, unless one number cannot be a month.
    first_is_day = first > 12 or (second <= 12 and (day_first or mark != "/"))
    return (second, first) if first_is_day else (first, second)


def _date(year: int, month: int, day: int) -> str | None:
    if year not in _YEARS:
        return None
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def _clock(parts: dict[str, str | None]) -> str:
    """Return the time of day as `T10:30:00+02:00`; empty without one, or for midnight without a zone (a bare date)."""
    if parts.get("hour") is None:
        return ""
    hour, minute, second = int(parts["hour"] or 0), int(parts["minute"] or 0), int(parts.get("second") or 0)
    half = (parts.get("half") or "").lower()[:1]
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    zone = _zone(parts.get("zone"))
    if hour > 23 or minute > 59 or second > 59 or (not zone and not half and hour == minute == second == 0):
        return ""
    return f"T{hour:02}:{minute:02}:{second:02}{zone}"


def _zone(zone: str | None) -> str:
    if not zone:
        return ""
    if zone[0] not in "+-":
        return "Z"
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return f"{zone[0]}{digits[:2]}:{digits[2:]}"
