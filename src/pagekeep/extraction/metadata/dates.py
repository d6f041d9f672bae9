"""Read a date as people and machines write it, and give it as ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Final

_MAX_TEXT: Final = 200
_YEARS: Final = range(1990, 2101)

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
_MAYBE: Final = re.compile(r"\d{4}")
"""Every date has its year in full, and most texts have none."""
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
    """The first date in the text as ISO 8601, with time and offset where stated; `None` when there is none in range.

    `day_first` reads 03/05/2024 as 3 May.
    """
    text = text.strip()[:_MAX_TEXT]
    if not _MAYBE.search(text):
        return None
    if (stamp := _UNIX.match(text)) and not _COMPACT.match(text):
        return _from_unix(int(stamp[1]))
    for pattern in _PATTERNS:
        for found in pattern.finditer(text):
            if iso := _written(found.groupdict(), day_first):
                return iso
    return None


def month_alone(text: str) -> str | None:
    """The month a text consists of, as `2015-11` for "November 2015"; `None` when it says anything else."""
    found = _NAME_YEAR.fullmatch(text.strip()[:_MAX_TEXT])
    month = _MONTHS.get(found["name"].lower()) if found else None
    return f"{found['year']}-{month:02}" if found and month and int(found["year"]) in _YEARS else None


def without_date(text: str) -> str:
    """What a text says beside its first date."""
    for pattern in _PATTERNS:
        for found in pattern.finditer(text[:_MAX_TEXT]):
            if _written(found.groupdict(), day_first=False):
                return text[: found.start()] + text[found.end() :]
    return text


def in_path(path: str) -> str | None:
    """The date an address carries in its path, such as `/2024/03/05/`."""
    path = path[:500]
    found = _PATH.search(path) or _PATH_COMPACT.search(path)
    return _date(int(found[1]), int(found[2]), int(found[3])) if found else None


def _from_unix(seconds: int) -> str | None:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment.year in _YEARS else None


def _written(found: dict[str, str | None], day_first: bool) -> str | None:
    year = int(found["year"] or 0)
    month, day = _month_and_day(found, day_first)
    written = _date(year, month, day)
    return written + _clock(found) if written else None


def _month_and_day(found: dict[str, str | None], day_first: bool) -> tuple[int, int]:
    if name := found.get("name"):
        return _MONTHS.get(name.lower(), 0), int(found["day"] or 0)
    if (first_number := found.get("first")) is None:
        return int(found["month"] or 0), int(found["day"] or 0)
    first, second = int(first_number), int(found["second_number"] or 0)
    # Dots and dashes are European; a slash may be either, unless one number cannot be a month.
    first_is_day = first > 12 or (second <= 12 and (day_first or found["mark"] != "/"))
    return (second, first) if first_is_day else (first, second)


def _date(year: int, month: int, day: int) -> str | None:
    if year not in _YEARS:
        return None
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def _clock(found: dict[str, str | None]) -> str:
    """The time of day as `T10:30:00+02:00`; empty when none is stated, or midnight without a zone (a bare date)."""
    if found.get("hour") is None:
        return ""
    hour, minute, second = int(found["hour"] or 0), int(found["minute"] or 0), int(found.get("second") or 0)
    half = (found.get("half") or "").lower()[:1]
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    zone = _zone(found.get("zone"))
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
