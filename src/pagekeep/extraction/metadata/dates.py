"""Parse dates in the forms that pages use, and return them as ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Final

_MAX_TEXT_CHARS: Final = 200
_MAX_PATH_CHARS: Final = 500
_YEARS: Final = range(1990, 2101)
"""The web began in 1990; years after 2100 are typing errors."""

_MONTH_NAMES: Final = (
    "jan january januar janvier enero ene gennaio gen janeiro januari stycznia styczeń sty января январь янв"
    " tammikuuta ocak ianuarie ledna leden januára jänner jän gener január січня janv ιανουαρίου",
    "feb february februar février fevrier févr fév febrero febbraio fevereiro fev februari lutego luty lut февраля"
    " февраль фев helmikuuta şubat februarie února únor febrer február лютого feber φεβρουαρίου",
    "mar march märz mrz mär mars marzo março marco maart mrt marca marzec марта март мар maaliskuuta mart martie"
    " března březen març március березня marts μαρτίου maart",
    "apr april avril avr abril abr aprile kwietnia kwiecień kwi апреля апрель апр huhtikuuta nisan aprilie dubna"
    " duben április квітня απριλίου",
    "may mai mayo maggio mag maio mei maj maja мая май toukokuuta mayıs května květen maig május травня μαΐου",
    "jun june juni juin junio giugno giu junho czerwca czerwiec cze июня июнь июн kesäkuuta haziran iunie června"
    " červen juny június червня ιουνίου",
    "jul july juli juillet juil julio luglio lug julho lipca lipiec lip июля июль июл heinäkuuta temmuz iulie"
    " července červenec juliol július липня ιουλίου",
    "aug august août aout agosto ago augustus augusti sierpnia sierpień sie августа август авг elokuuta ağustos"
    " srpna srpen agost augusztus серпня αυγούστου",
    "sep sept september septembre septiembre settembre set setembro września wrzesień wrz сентября сентябрь сен"
    " сент syyskuuta eylül septembrie září setembre szeptember вересня σεπτεμβρίου",
    "oct october oktober okt octobre octubre ottobre ott outubro out października październik paź октября октябрь"
    " окт lokakuuta ekim octombrie října říjen október жовтня οκτωβρίου",
    "nov november novembre noviembre novembro listopada listopad lis ноября ноябрь ноя marraskuuta kasım noiembrie"
    " listopadu листопада νοεμβρίου",
    "dec december dezember dez décembre decembre déc diciembre dic dicembre dezembro grudnia grudzień gru декабря"
    " декабрь дек joulukuuta aralık decembrie prosince prosinec desembre desember des грудня δεκεμβρίου",
)
_MONTHS: Final = {name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}

_CLOCK: Final = (
    r"(?:(?:,|\s|T|at|um|à|-|\u2013|\||\u2022)*(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?!\d)(?:[:.](?P<second>\d{2})(?!\d))?"
    r"(?:[.,]\d{1,9})?\s{0,2}(?P<half>[AaPp]\.?[Mm]\b)?"
    r"\s{0,2}(?P<zone>Z\b|GMT\b|UTC\b|[+-]\d{2}:?\d{2}(?!\d)|[+-]\d{2}(?!\d))?)?"
)
_ISO: Final = re.compile(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?!\d)" + _CLOCK)
_YEAR_FIRST: Final = re.compile(r"(?<![\d/.])(?P<year>\d{4})[/.](?P<month>\d{1,2})[/.](?P<day>\d{1,2})(?!\d)" + _CLOCK)
_EAST_ASIAN: Final = re.compile(
    r"(?P<year>\d{4})\s?[年년]\s?(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})\s?[日일]" + _CLOCK
)
_NAME: Final = r"(?P<name>[^\W\d_]{3,13})\.?"
_DAY_NAME_YEAR: Final = re.compile(
    r"(?<![\d:])(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|ª|\.)?[\s,./-]{0,3}(?:de\s|of\s|d')?"
    + _NAME
    + r"[\s,./-]{0,3}(?:de\s|del\s)?(?P<year>\d{4})(?!\d)"
    + _CLOCK
)
_NAME_DAY_YEAR: Final = re.compile(
    r"(?<![^\W\d_])"
    + _NAME
    + r"[\s./-]{0,3}(?P<day>\d{1,2})(?:st|nd|rd|th)?[\s,./-]{1,3}(?P<year>\d{4})(?!\d)"
    + _CLOCK
)
_YEAR_LAST: Final = re.compile(
    r"(?<![\d/.:-])(?P<first>\d{1,2})(?P<mark>[./-])(?P<second_number>\d{1,2})(?P=mark)(?P<year>\d{4})(?!\d)" + _CLOCK
)
_COMPACT: Final = re.compile(
    r"\A(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?:T?(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?(?P<zone>Z)?)?\Z"
)
_NAME_DAY_CLOCK_YEAR: Final = re.compile(
    r"(?<![^\W\d_])" + _NAME + r"\s(?P<day>\d{1,2})\s(?P<hour>\d{2}):(?P<minute>\d{2}):(?P<second>\d{2})"
    r"\s(?P<zone>UTC|GMT)?(?:[A-Z]{3,4})?\s?(?P<year>\d{4})(?!\d)"
)
_NAME_YEAR: Final = re.compile(_NAME + r",?\s(?:de\s)?(?P<year>\d{4})")
_HAS_YEAR: Final = re.compile(r"\d{4}")
"""Every date has a year of four digits, and most texts have none: a quick test."""
_UNIX: Final = re.compile(r"\A(\d{9,10})(?:\d{3})?(?:\.0+)?\Z")
_PATTERNS: Final = (
    _ISO,
    _YEAR_FIRST,
    _EAST_ASIAN,
    _DAY_NAME_YEAR,
    _NAME_DAY_YEAR,
    _YEAR_LAST,
    _COMPACT,
    _NAME_DAY_CLOCK_YEAR,
)
_PATH: Final = re.compile(r"/((?:19|20)\d{2})[/-]([01]?\d)[/-]([0-3]?\d)(?=[/+_.-]|\Z)")
_PATH_COMPACT: Final = re.compile(r"[/-]((?:19|20)\d{2})(0\d|1[0-2])([0-2]\d|3[01])(?=[/-]|\Z)")


def to_iso(text: str, *, day_first: bool = False) -> str | None:
    """Return the first date in the text as ISO 8601, with time and offset if stated; `None` without a date in range.

    `day_first` reads 03/05/2024 as 3 May.
    """
    text = text.strip()[:_MAX_TEXT_CHARS]
    if not _HAS_YEAR.search(text):
        return None
    if (stamp := _UNIX.match(text)) and not _COMPACT.match(text):
        return _from_unix(int(stamp[1]))
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if iso := _to_iso(match.groupdict(), day_first):
                return iso
    return None


def parse_month(text: str) -> str | None:
    """Parse a text that is only a month, such as "November 2015", as `2015-11`; else return `None`."""
    match = _NAME_YEAR.fullmatch(text.strip()[:_MAX_TEXT_CHARS])
    month = _MONTHS.get(match["name"].lower()) if match else None
    return f"{match['year']}-{month:02}" if match and month and int(match["year"]) in _YEARS else None


def remove_date(text: str) -> str:
    """Return the text without its first date."""
    for pattern in _PATTERNS:
        for match in pattern.finditer(text[:_MAX_TEXT_CHARS]):
            if _to_iso(match.groupdict(), day_first=False):
                return text[: match.start()] + text[match.end() :]
    return text


def date_in_path(path: str) -> str | None:
    """Return the date in the path of a URL, such as `/2024/03/05/`."""
    path = path[:_MAX_PATH_CHARS]
    match = _PATH.search(path) or _PATH_COMPACT.search(path)
    return _date(int(match[1]), int(match[2]), int(match[3])) if match else None


def _from_unix(seconds: int) -> str | None:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment.year in _YEARS else None


def _to_iso(parts: dict[str, str | None], day_first: bool) -> str | None:
    month, day = _month_and_day(parts, day_first)
    iso = _date(int(parts["year"] or 0), month, day)
    return iso + _clock(parts) if iso else None


def _month_and_day(parts: dict[str, str | None], day_first: bool) -> tuple[int, int]:
    if name := parts.get("name"):
        return _MONTHS.get(name.lower(), 0), int(parts["day"] or 0)
    if (first_number := parts.get("first")) is None:
        return int(parts["month"] or 0), int(parts["day"] or 0)
    first, second = int(first_number), int(parts["second_number"] or 0)
    # Dots and dashes have the day first; a slash may be either, unless one number cannot be a month.
    first_is_day = first > 12 or (second <= 12 and (day_first or parts["mark"] != "/"))
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
