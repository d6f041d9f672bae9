"""The interface to pypdfium2, which only this module imports: a PDF as plain values, with every number and count bounded."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from itertools import islice
from math import atan2, hypot, isfinite
from typing import Any, Final

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from pagekeep.capture.documents.pdf.structure_tree import read_tree
from pagekeep.capture.documents.pdf.values import ARTIFACT, Box, Font, OutlineEntry, PdfFile, PdfPage, Word

MAX_PAGES: Final = 600
MAX_CHARS: Final = 2_000_000
"""About 700 dense pages; together with the pages it bounds time and memory."""
_MAX_PAGE_CHARS: Final = 100_000
_MAX_OBJECTS: Final = 20_000
_MAX_LINKS: Final = 2_000
_MAX_OUTLINE: Final = 2_000
_MAX_POINT: Final = 20_000.0
"""Coordinates are clamped to this: the largest page that Acrobat allows has 14,400 points."""
_THIN: Final = 2.5
"""Points below which a shape is a line."""
_MIN_RULE: Final = 8.0
_MAX_DOT: Final = 9.0
_GAP: Final = 0.22
"""Gap between characters, in parts of the type size, from which they are two words."""
_MAX_ANGLE: Final = 0.3
"""Text that is turned more than this (radians) is a stamp or the label of an axis."""
_FIXED_PITCH, _ITALIC, _FORCE_BOLD = 1, 64, 1 << 18


class EncryptedPdf(Exception):
    """The PDF needs a password."""


class DamagedPdf(Exception):
    """The PDF cannot be opened."""


def read_file(data: bytes) -> PdfFile:
    """Return the content of a PDF; raise `EncryptedPdf` or `DamagedPdf`."""
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise EncryptedPdf from error
        raise DamagedPdf from error
    try:
        return _read_document(document, data)
    finally:
        document.close()


def _read_document(document: Any, data: bytes) -> PdfFile:
    count = len(document)
    tagged = bool(raw.FPDFCatalog_IsTagged(document.raw))
    pages, chars = list[PdfPage](), 0
    for index in range(min(count, MAX_PAGES)):
        try:
            page = _read_page(document, index, tagged)
        except pdfium.PdfiumError:  # a damaged page among others
            page = PdfPage(index, 0.0, 0.0, [], cut=True)
        pages.append(page)
        chars += sum(len(word.text) for word in page.words)
        if chars > MAX_CHARS:
            break
    info = {key: value for key, value in document.get_metadata_dict(skip_empty=True).items() if value}
    language = _text(lambda buffer, size: raw.FPDFCatalog_GetLanguage(document.raw, buffer, size))
    return PdfFile(pages, count, info, _read_outline(document), language, _find_xmp(data))


def _find_xmp(data: bytes) -> bytes:
    """Return the XMP packet of the document: the last one, as those of pictures come before it."""
    start = data.rfind(b"<x:xmpmeta")
    end = data.find(b"</x:xmpmeta>", start) if start >= 0 else -1
    return data[start:end][:100_000] if end > 0 else b""


def _text(read: Any, limit: int = 4_000) -> str:
    """Return the UTF-16 text that a function of the library writes into a buffer."""
    buffer = ctypes.create_string_buffer(limit)
    size = read(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), limit)
    return buffer.raw[: max(0, min(size, limit) - 2)].decode("utf-16-le", "replace").strip("\0")


def _read_outline(document: Any) -> list[OutlineEntry]:
    entries = []
    try:
        for bookmark in islice(document.get_toc(max_depth=8), _MAX_OUTLINE):
            dest = bookmark.get_dest()
            page = dest.get_index() if dest else None
            entries.append(OutlineEntry(" ".join(bookmark.get_title().split())[:300], bookmark.level, page))
    except (pdfium.PdfiumError, UnicodeDecodeError, RecursionError):
        pass  # what was read so far is enough
    return entries


def _read_page(document: Any, index: int, tagged: bool) -> PdfPage:
    page = document[index]
    try:
        width, height = _clamp(page.get_width()), _clamp(page.get_height())
        frame = _Frame(page, width, height)
        text = page.get_textpage()
        try:
            words, cut = _Words(text.raw, frame, tagged).read()
        finally:
            text.close()
        result = PdfPage(index, width, height, words, cut=cut)
        _read_shapes(page, frame, result)
        _set_links(document, page, frame, words)
        result.tree = read_tree(page.raw) if tagged else None
        return result
    finally:
        page.close()


def _clamp(value: float) -> float:
    return max(-_MAX_POINT, min(_MAX_POINT, value)) if isfinite(value) else 0.0


class _Frame:
    """Maps a page's own coordinates to those seen: from the top left corner of the visible part, turned as shown."""

    def __init__(self, page: Any, width: float, height: float) -> None:
        left, bottom, right, top = (_clamp(value) for value in page.get_cropbox())
        self._left, self._bottom = min(left, right), min(bottom, top)
        self.turns = page.get_rotation() // 90 % 4
        self.width, self.height = width, height

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Return a box as seen; a place that is not a number, or far outside, is an empty box in the corner."""
        low, high = -_MAX_POINT, _MAX_POINT
        if not (low < left < high and low < bottom < high and low < right < high and low < top < high):
            return Box(0.0, 0.0, 0.0, 0.0)
        if left > right or bottom > top:
            left, right, bottom, top = min(left, right), max(left, right), min(bottom, top), max(bottom, top)
        left, right, bottom, top = left - self._left, right - self._left, bottom - self._bottom, top - self._bottom
        if self.turns == 0:
            return Box(left, self.height - top, right, self.height - bottom)
        if self.turns == 1:
            return Box(bottom, left, top, right)
        if self.turns == 2:
            return Box(self.width - right, bottom, self.width - left, top)
        return Box(self.width - top, self.height - right, self.width - bottom, self.height - left)

    def angle(self, b: float, a: float) -> float:
        """Return the direction of text as seen, in radians."""
        x, y = {0: (a, b), 1: (b, -a), 2: (-a, -b), 3: (-b, a)}[self.turns]
        return atan2(y, x)


class _Style:
    """What characters of one font and height have in common."""

    __slots__ = ("base", "font", "size", "turned")

    def __init__(self, font: Font, size: float, turned: bool, base: float) -> None:
        self.font, self.size, self.turned = font, size, turned
        self.base = base
        """From the lower edge of a character's box up to its baseline."""


class _Words:
    """Reads the words of a page in the order of its content stream."""

    def __init__(self, text: Any, frame: _Frame, tagged: bool) -> None:
        self._text = text
        self._frame = frame
        self._tagged = tagged
        self._styles: dict[tuple[int, int], _Style] = {}
        self._fonts: dict[int, Font] = {}
        self.words: list[Word] = []

    def read(self) -> tuple[list[Word], bool]:
        """Return the words, and whether the page has too many characters."""
        count = raw.FPDFText_CountChars(self._text)
        text, words, styles, tagged = self._text, self.words, self._styles, self._tagged
        frame_box, right, foot = self._frame.box, self._frame.width, self._frame.height
        box = raw.FS_RECTF()
        box_out, address = ctypes.byref(box), ctypes.addressof
        get_code, get_box = raw.FPDFText_GetUnicode, raw.FPDFText_GetLooseCharBox
        get_object, get_font = raw.FPDFText_GetTextObject, raw.FPDFTextObj_GetFont
        word: Word | None = None
        style: _Style | None = None
        mcid, high = -1, 0
        for index in range(min(count, _MAX_PAGE_CHARS)):
            code = get_code(text, index)
            if code <= 32 and code != 2:
                word = None
                continue
            if 0xD800 <= code < 0xE000:
                if code < 0xDC00:
                    high = code
                    continue
                code, high = (0x10000 + ((high - 0xD800) << 10) + code - 0xDC00, 0) if high else (0xFFFD, 0)
            char = "\u2010" if code == 2 else chr(code)
            if code > 126 and (char in _NO_CHARACTERS or char.isspace()):
                word = None if char.isspace() else word
                continue
            if not get_box(text, index, box_out):
                continue
            handle = get_object(text, index)
            if handle:
                font = get_font(handle)
                # Nearly every character may be a separate object; those of one font and height share their style.
                key = (address(font.contents) if font else 0, int(_clamp(box.top - box.bottom) * 20))
                style = styles.get(key)
                if style is None:
                    style = styles[key] = self._read_style(index, handle, font, box.bottom)
                if tagged:
                    mcid = raw.FPDFPageObj_GetMarkedContentID(handle)
                    if mcid < 0 and _is_artifact(handle):
                        mcid = ARTIFACT
            if style is None or style.turned:
                continue
            x0, top, x1, bottom = frame_box(box.left, box.bottom, box.right, box.top)
            if x1 < 0 or x0 > right or bottom < 0 or top > foot:
                word = None
                continue
            base = bottom - style.base
            if word is not None and self._continues(word, style, mcid, x0, x1, base):
                word.text += char
                word.x0, word.x1 = min(word.x0, x0), max(word.x1, x1)
                continue
            glued = word is not None and _touches(word, x0, x1, style.size)
            word = Word(char, x0, x1, top, bottom, base, style.size, style.font, mcid, glued)
            words.append(word)
        return words, count > _MAX_PAGE_CHARS

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
        points = abs(_clamp(size.value * scale)) if scale else abs(_clamp(size.value))
        turned = abs(self._frame.angle(matrix.b, matrix.a)) > _MAX_ANGLE
        base = _clamp(y.value - bottom) if not self._frame.turns else 0.25 * points
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


def _read_shapes(page: Any, frame: _Frame, result: PdfPage) -> None:
    """Sort the shapes of a page into lines, boxes and dots; pictures are only counted."""
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    outs = tuple(ctypes.byref(value) for value in (left, bottom, right, top))
    for number in range(min(_MAX_OBJECTS, raw.FPDFPage_CountObjects(page.raw))):
        handle = raw.FPDFPage_GetObject(page.raw, number)
        kind = raw.FPDFPageObj_GetType(handle)
        if kind == raw.FPDF_PAGEOBJ_IMAGE:
            result.images += 1
        if kind != raw.FPDF_PAGEOBJ_PATH or not raw.FPDFPageObj_GetBounds(handle, *outs):
            continue
        box = frame.box(left.value, bottom.value, right.value, top.value)
        width, height = box.x1 - box.x0, box.bottom - box.top
        if min(width, height) < _THIN and max(width, height) >= _MIN_RULE:
            result.rules.append(box)
        elif max(width, height) < _MAX_DOT and 0.5 < width / max(height, 0.01) < 2:
            result.dots.append(box)
        elif min(width, height) >= _THIN:
            result.boxes.append(box)


def _set_links(document: Any, page: Any, frame: _Frame, words: list[Word]) -> None:
    links = list(_read_links(document, page, frame))
    for box, address in links:
        for word in words:
            if box.has(*word.middle, 0.5):
                word.link = address


def _read_links(document: Any, page: Any, frame: _Frame) -> Iterator[tuple[Box, str]]:
    position, link, rect = ctypes.c_int(0), raw.FPDF_LINK(), raw.FS_RECTF()
    for _ in range(_MAX_LINKS):
        if not raw.FPDFLink_Enumerate(page.raw, ctypes.byref(position), ctypes.byref(link)):
            return
        if not raw.FPDFLink_GetAnnotRect(link, ctypes.byref(rect)):
            continue
        address = _address(document, link)
        if address:
            yield frame.box(rect.left, rect.bottom, rect.right, rect.top), address


def _address(document: Any, link: Any) -> str:
    """Return where a link leads: an address, or `#page=N` inside the document."""
    action = raw.FPDFLink_GetAction(link)
    if action and raw.FPDFAction_GetType(action) == raw.PDFACTION_URI:
        buffer = ctypes.create_string_buffer(4_000)
        size = raw.FPDFAction_GetURIPath(document.raw, action, buffer, 4_000)
        return buffer.raw[: max(0, min(size, 4_000) - 1)].decode("utf-8", "replace") if size <= 4_000 else ""
    dest = raw.FPDFLink_GetDest(document.raw, link)
    number = raw.FPDFDest_GetDestPageIndex(document.raw, dest) if dest else -1
    return f"#page={number + 1}" if number >= 0 else ""
