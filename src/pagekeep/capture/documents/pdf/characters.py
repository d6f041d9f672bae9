"""Characters of a page to words: styles, ligatures, accents that are separate characters, and marked contents."""

from __future__ import annotations

import ctypes
from math import hypot
from typing import Any, Final

import pypdfium2.raw as raw

from pagekeep.capture.documents.pdf.accents import find_accents
from pagekeep.capture.documents.pdf.frame import MAX_POINT, Frame, clamp
from pagekeep.capture.documents.pdf.values import ARTIFACT, Font, Word

_MAX_PAGE_CHARS: Final = 100_000
_GAP: Final = 0.22
"""Gap between characters, in parts of the type size, from which they are two words."""
_MAX_ANGLE: Final = 0.3
"""Text that is turned more than this (radians) is a stamp or the label of an axis."""
_FIXED_PITCH, _ITALIC, _FORCE_BOLD = 1, 64, 1 << 18
_LIGATURES: Final = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}


class _Style:
    """What characters of one font and height have in common."""

    __slots__ = ("base", "font", "size", "turned")

    def __init__(self, font: Font, size: float, turned: bool, base: float) -> None:
        self.font, self.size, self.turned = font, size, turned
        self.base = base
        """From the lower edge of a character's box up to its baseline."""


class WordReader:
    """Reads the words of a page in the order of its content stream."""

    def __init__(self, text: Any, frame: Frame, tagged: bool) -> None:
        self._text = text
        self._frame = frame
        self._tagged = tagged
        self._styles: dict[tuple[int, int], _Style] = {}
        self._fonts: dict[int, Font] = {}
        self._style: _Style | None = None
        """Of the last text object."""
        self._mcid = -1
        """Marked content that the last text object belongs to."""
        self.words: list[Word] = []

    def read(self) -> tuple[list[Word], bool]:
        """Return the words, and whether the page has too many characters."""
        count = raw.FPDFText_CountChars(self._text)
        changed = find_accents(self._text, min(count, _MAX_PAGE_CHARS))
        text, upright, shift, near = self._text, not self._frame.turns, self._frame.left, _GAP
        box = raw.FS_RECTF()
        box_out = ctypes.byref(box)
        get_code, get_box = raw.FPDFText_GetUnicode, raw.FPDFText_GetLooseCharBox
        word: Word | None = None
        surrogate = 0
        left = right = low = high = 0.0
        for index in range(min(count, _MAX_PAGE_CHARS)):
            code = get_code(text, index)
            if code <= 32 and code != 2:
                if not (changed and index in changed):
                    word = None
                continue
            if 0xD800 <= code < 0xE000:
                if code < 0xDC00:
                    surrogate = code
                    continue
                code = 0x10000 + ((surrogate - 0xD800) << 10) + code - 0xDC00 if surrogate else 0xFFFD
                surrogate = 0
            char = "\u2010" if code == 2 else chr(code)
            if changed and index in changed:
                char = changed[index]
                if not char:
                    continue
            if code > 126 and (char in _NO_CHARACTERS or char.isspace()):
                word = None if char.isspace() else word
                continue
            if not get_box(text, index, box_out):
                continue
            before_left, before_right, before_low, before_high = left, right, low, high
            left, right, low, high = box.left, box.right, box.bottom, box.top
            if word is not None:
                if left == before_left and right == before_right and low == before_low and high == before_high:
                    word.text += char  # the second character of a ligature
                    continue
                # Most characters are letters right behind a letter of the same height: their font needs no look.
                if (
                    upright
                    and low == before_low
                    and high == before_high
                    and -0.1 * word.size < left - before_right < near * word.size
                    and right < MAX_POINT
                    and char.isalnum()
                    and word.text[-1].isalnum()
                ):
                    word.text += char
                    word.x1 = max(word.x1, right - shift)
                    continue
            if code > 0xFAFF:
                char = _LIGATURES.get(char, char)
            word = self._place(word, char, index, (left, low, right, high))
        return self.words, count > _MAX_PAGE_CHARS

    def _place(self, word: Word | None, char: str, index: int, place: tuple[float, float, float, float]) -> Word | None:
        """Add a character to the word before it, or begin another word; return the word that the next one may belong to."""
        style = self._find_style(index, place[1], place[3])
        if style is None or style.turned:
            return word
        frame = self._frame
        x0, top, x1, bottom = frame.box(*place)
        if x1 < 0 or x0 > frame.width or bottom < 0 or top > frame.height:
            return None
        base = bottom - style.base
        if word is not None and self._continues(word, style, self._mcid, x0, x1, base):
            word.text += char
            word.x0, word.x1 = min(word.x0, x0), max(word.x1, x1)
            return word
        glued = word is not None and _touches(word, x0, x1, style.size)
        begun = Word(char, x0, x1, top, bottom, base, style.size, style.font, self._mcid, glued)
        self.words.append(begun)
        return begun

    def _find_style(self, index: int, low: float, high: float) -> _Style | None:
        """Return the style of a character, and note its marked content; without a text object, those of the one before."""
        handle = raw.FPDFText_GetTextObject(self._text, index)
        if not handle:
            return self._style
        font = raw.FPDFTextObj_GetFont(handle)
        # Nearly every character may be a separate object; those of one font and height share their style.
        key = (ctypes.addressof(font.contents) if font else 0, int(clamp(high - low) * 20))
        style = self._styles.get(key)
        if style is None:
            style = self._styles[key] = self._read_style(index, handle, font, low)
        if self._tagged:
            self._mcid = raw.FPDFPageObj_GetMarkedContentID(handle)
            if self._mcid < 0 and _is_artifact(handle):
                self._mcid = ARTIFACT
        self._style = style
        return style

    @staticmethod
    def _continues(word: Word, style: _Style, mcid: int, x0: float, x1: float, base: float) -> bool:
        same = word.font is style.font and word.size == style.size and word.mcid == mcid
        return same and abs(base - word.base) < 0.1 * style.size and _touches(word, x0, x1, style.size)

    def _read_style(self, index: int, handle: Any, font: Any, bottom: float) -> _Style:
        matrix, size, x, y = raw.FS_MATRIX(), ctypes.c_float(), ctypes.c_double(), ctypes.c_double()
        raw.FPDFText_GetMatrix(self._text, index, ctypes.byref(matrix))
        raw.FPDFTextObj_GetFontSize(handle, ctypes.byref(size))
        raw.FPDFText_GetCharOrigin(self._text, index, ctypes.byref(x), ctypes.byref(y))
        scale = hypot(matrix.c, matrix.d)
        points = abs(clamp(size.value * scale)) if scale else abs(clamp(size.value))
        turned = abs(self._frame.angle(matrix.b, matrix.a)) > _MAX_ANGLE
        base = clamp(y.value - bottom) if not self._frame.turns else 0.25 * points
        return _Style(self._font(font), max(1.0, round(points, 1)), turned, base)

    def _font(self, handle: Any) -> Font:
        key = ctypes.addressof(handle.contents) if handle else 0
        font = self._fonts.get(key)
        if font is None:
            font = self._fonts[key] = _read_font(handle) if handle else Font("", False, False, False)
        return font


_NO_CHARACTERS: Final = frozenset("\u00ad\u200b\u200c\u200e\u200f\u2060\ufeff\ufffe\uffff\0")


def _touches(word: Word, x0: float, x1: float, size: float) -> bool:
    """Return whether a character is right behind the word, or right before it in scripts written to the left."""
    gap = _GAP * size
    return -size * 0.6 < x0 - word.x1 < gap or -size * 0.6 < word.x0 - x1 < gap


def _is_artifact(handle: Any) -> bool:
    for number in range(min(4, raw.FPDFPageObj_CountMarks(handle))):
        mark = raw.FPDFPageObj_GetMark(handle, number)
        size = ctypes.c_ulong()
        buffer = (ctypes.c_ushort * 32)()
        if raw.FPDFPageObjMark_GetName(mark, buffer, 64, ctypes.byref(size)):
            name = bytes(buffer)[: max(0, size.value - 2)].decode("utf-16-le", "replace")
            if name == "Artifact":
                return True
    return False


def _read_font(handle: Any) -> Font:
    buffer = ctypes.create_string_buffer(200)
    size = raw.FPDFFont_GetBaseFontName(handle, buffer, 200)
    name = buffer.raw[: max(0, min(size, 200) - 1)].decode("utf-8", "replace").partition("+")[2] or buffer.value.decode(
        "utf-8", "replace"
    )
    flags, low = raw.FPDFFont_GetFlags(handle), name.lower()
    flags = 0 if flags < 0 else flags
    weight = raw.FPDFFont_GetWeight(handle)
    bold = bool(flags & _FORCE_BOLD) or weight >= 600 or any(mark in low for mark in _BOLD_NAMES)
    italic = bool(flags & _ITALIC) or any(mark in low for mark in ("italic", "oblique", "cmti", "cmsl"))
    mono = bool(flags & _FIXED_PITCH) or any(mark in low for mark in _MONO_NAMES)
    return Font(name, bold, italic, mono)


_BOLD_NAMES: Final = ("bold", "black", "heavy", "semibold", "cmbx", "cmssbx", "sfbx")
_MONO_NAMES: Final = ("mono", "courier", "consol", "menlo", "cmtt", "sftt", "typewriter", "fixed", "inconsolata")
