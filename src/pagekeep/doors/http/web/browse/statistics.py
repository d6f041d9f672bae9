"""`/statistics`: what was saved and read, drawn on the server, with every figure also in a table."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from pagekeep.doors.http.web.browse.charts import Series, draw_columns, draw_rows
from pagekeep.doors.http.web.layout.page import ReadFrame
from pagekeep.library.browse.statistics import read_statistics

router = APIRouter()

_LANGUAGES: Final = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "bn": "Bengali",
    "ca": "Catalan",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "et": "Estonian",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hr": "Croatian",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "nb": "Norwegian",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sr": "Serbian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "ur": "Urdu",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@router.get("/statistics")
def statistics(frame: ReadFrame) -> HTMLResponse:
    """Show the statistics."""
    found = read_statistics(frame.library)
    names = [_month(month.month) for month in found.months]
    saved = Series("saved", [month.saved for month in found.months])
    read = Series("read", [month.read for month in found.months])
    minutes = Series("minutes", [month.minutes_read for month in found.months])
    languages = [(_LANGUAGES.get(one.key, one.key), one.count, one.key) for one in found.languages]
    return frame.show(
        "statistics.html",
        found=found,
        names=names,
        languages=languages,
        by_month=draw_columns("Pages saved and read by month", names, [saved, read]),
        by_time=draw_columns("Reading time by month in minutes", names, [minutes]),
        by_site=draw_rows("Pages by site", [(one.name, one.count) for one in found.sites]),
        by_language=draw_rows("Pages by language", [(name, count) for name, count, _ in languages]),
    )


def _month(month: str) -> str:
    """Return a month such as "Mar 2026"."""
    return f"{_MONTHS[int(month[5:]) - 1]} {month[:4]}"
