"""Accents that a font without accented letters draws over a letter, as TeX's first fonts do: joined to one character."""

from __future__ import annotations

import ctypes
import unicodedata
from typing import Any, Final

import pypdfium2.raw as raw

_ACCENTS: Final = {
    "´": "\u0301",
    "`": "\u0300",
    "¨": "\u0308",
    "ˆ": "\u0302",
    "^": "\u0302",
    "˜": "\u0303",
    "~": "\u0303",
    "¯": "\u0304",
    "˘": "\u0306",
    "˙": "\u0307",
    "˚": "\u030a",
    "˝": "\u030b",
    "ˇ": "\u030c",
    "¸": "\u0327",
    "˛": "\u0328",
}
"""Accent to its combining character."""
_DOTLESS: Final = {"ı": "i", "ȷ": "j"}
_REACH: Final = 120
"""Characters around an accent among which its letter is looked for: the library puts accents behind their word or line."""
_MAX_ACCENTS: Final = 5_000
"""Accents of one page that are looked at."""
_MIN_OVER: Final = 0.6
"""Part of the narrower of an accent and a letter that must be over the other."""
_NEAR: Final = 0.35
"""Difference of baselines, in heights of the letter, up to which an accent belongs to a letter; capitals have raised ones."""


def find_accents(text: Any, count: int) -> dict[int, str]:
    """Return the characters of a page that change: letters that get an accent, and what is left out ("")."""
    if count <= 0:
        return {}
    buffer = (ctypes.c_ushort * (count + 1))()
    raw.FPDFText_GetText(text, 0, count, buffer)
    content = bytes(buffer).decode("utf-16-le", "replace")
    if not any(accent in content for accent in _ACCENTS):
        return {}
    codes = [raw.FPDFText_GetUnicode(text, index) for index in range(count)]
    marks = [(index, _ACCENTS[chr(code)]) for index, code in enumerate(codes) if chr(code) in _ACCENTS]
    changed: dict[int, str] = {}
    for index, mark in marks[:_MAX_ACCENTS]:
        letter = _find_letter(text, codes, index, mark)
        if letter is None or letter in changed:
            continue
        changed[letter] = _compose(codes[letter], mark)
        changed[index] = ""
        for near in (index - 1, index + 1):  # the library puts spaces around what is out of order
            if 0 <= near < count and codes[near] <= 32:
                changed[near] = ""
    return changed


def _find_letter(text: Any, codes: list[int], index: int, mark: str) -> int | None:
    """Return the letter that an accent is drawn over: the nearest in the stream."""
    left, bottom, right, _ = _box(text, index)
    for step in range(1, _REACH):
        for near in (index + step, index - step):
            if not 0 <= near < len(codes) or len(_compose(codes[near], mark)) != 1:
                continue
            box = _box(text, near)
            over = min(right, box[2]) - max(left, box[0])
            width = min(right - left, box[2] - box[0])
            if width > 0 and over > _MIN_OVER * width and abs(bottom - box[1]) < _NEAR * (box[3] - box[1]):
                return near
    return None


def _compose(code: int, mark: str) -> str:
    """Return a letter with an accent; more than one character when there is no such letter."""
    char = chr(code)
    return unicodedata.normalize("NFC", _DOTLESS.get(char, char) + mark)


def _box(text: Any, index: int) -> tuple[float, float, float, float]:
    box = raw.FS_RECTF()
    raw.FPDFText_GetLooseCharBox(text, index, ctypes.byref(box))
    return box.left, box.bottom, box.right, box.top
