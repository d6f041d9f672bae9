"""The interface to pypdfium2, which only this module imports: a PDF as plain values, with every number and count bounded."""

from __future__ import annotations

import ctypes
import unicodedata
from collections.abc import Iterator
from itertools import islice
from math import atan2, hypot, isfinite
from typing import Any, Final

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from pagekeep.capture.documents.pdf.values import ARTIFACT, Box, Font, Node, OutlineEntry, PdfFile, PdfPage, Word

MAX_PAGES: Final = 600
MAX_CHARS: Final = 2_000_000
"""About 700 dense pages; together with the pages it bounds time and memory."""
_MAX_OBJECTS: Final = 20_000
_MAX_LINKS: Final = 2_000
_MAX_OUTLINE: Final = 2_000
_THIN: Final = 2.5
"""Points below which a shape is a line."""
_MIN_RULE: Final = 8.0
_MAX_DOT: Final = 9.0


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
        width, height = clamp(page.get_width()), clamp(page.get_height())
        frame = Frame(page, width, height)
        text = page.get_textpage()
        try:
            words, cut = WordReader(text.raw, frame, tagged).read()
        finally:
            text.close()
        result = PdfPage(index, width, height, words, cut=cut)
        _read_shapes(page, frame, result)
        _set_links(document, page, frame, words)
        result.tree = read_tree(page.raw) if tagged else None
        return result
    finally:
        page.close()


def _read_shapes(page: Any, frame: Frame, result: PdfPage) -> None:
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


def _set_links(document: Any, page: Any, frame: Frame, words: list[Word]) -> None:
    links = list(_read_links(document, page, frame))
    for box, address in links:
        for word in words:
            if box.has(*word.middle, 0.5):
                word.link = address


def _read_links(document: Any, page: Any, frame: Frame) -> Iterator[tuple[Box, str]]:
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


_MAX_NODES: Final = 30_000
_MAX_DEPTH: Final = 60


def read_tree(page: Any) -> Node | None:
    """Return the structure tree of a page; `None` when it has none."""
    tree = raw.FPDF_StructTree_GetForPage(page)
    if not tree:
        return None
    try:
        reader = _Reader()
        count = max(0, raw.FPDF_StructTree_CountChildren(tree))
        children: list[Node | int] = []
        for number in range(min(count, _MAX_NODES)):
            child = raw.FPDF_StructTree_GetChildAtIndex(tree, number)
            if child:
                children.append(reader.read(child, 0))
        return Node("Root", children) if children else None
    finally:
        raw.FPDF_StructTree_Close(tree)


class _Reader:
    """Reads elements until there are too many."""

    def __init__(self) -> None:
        self._left = _MAX_NODES

    def read(self, element: Any, depth: int) -> Node:
        """Return the element with its children."""
        self._left -= 1
        tag = _string(element, raw.FPDF_StructElement_GetType, 100)
        node = Node(tag, [])
        if tag in ("Figure", "Formula"):
            node.alt = _string(element, raw.FPDF_StructElement_GetAltText, 2_000)
        if tag in ("TD", "TH"):
            node.spans = _spans(element)
        if depth >= _MAX_DEPTH:
            return node
        count = max(0, raw.FPDF_StructElement_CountChildren(element))
        for number in range(min(count, max(0, self._left))):
            child = raw.FPDF_StructElement_GetChildAtIndex(element, number)
            if child:
                node.children.append(self.read(child, depth + 1))
            else:
                mcid = raw.FPDF_StructElement_GetChildMarkedContentID(element, number)
                if mcid >= 0:
                    node.children.append(mcid)
        return node


def _string(element: Any, read: Any, limit: int) -> str:
    buffer = ctypes.create_string_buffer(limit * 2)
    size = read(element, buffer, limit * 2)
    return buffer.raw[: max(0, min(size, limit * 2) - 2)].decode("utf-16-le", "replace").strip("\0 ")


def _spans(element: Any) -> tuple[int, int]:
    found = {"ColSpan": 1, "RowSpan": 1}
    for number in range(min(8, max(0, raw.FPDF_StructElement_GetAttributeCount(element)))):
        attributes = raw.FPDF_StructElement_GetAttributeAtIndex(element, number)
        for name in found:
            value = raw.FPDF_StructElement_Attr_GetValue(attributes, name.encode())
            out = ctypes.c_float()
            if value and raw.FPDF_StructElement_Attr_GetNumberValue(value, ctypes.byref(out)):
                found[name] = max(1, min(100, int(out.value))) if out.value == out.value else 1
    return found["ColSpan"], found["RowSpan"]


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

_ACCENTS: Final = dict(
    zip(
        "´`¨ˆ^˜~¯˘˙˚˝ˇ¸˛",
        "\u0301\u0300\u0308\u0302\u0302\u0303\u0303\u0304\u0306\u0307\u030a\u030b\u030c\u0327\u0328",
        strict=True,
    )
)
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


MAX_POINT: Final = 20_000.0
"""Coordinates are clamped to this: the largest page that Acrobat allows has 14,400 points."""


def clamp(value: float) -> float:
    """Return a number within the bounds of a page; 0 for one that is not a number."""
    return max(-MAX_POINT, min(MAX_POINT, value)) if isfinite(value) else 0.0


class Frame:
    """Maps a page's own coordinates to those seen: from the top left corner of the visible part, turned as shown."""

    def __init__(self, page: Any, width: float, height: float) -> None:
        left, bottom, right, top = (clamp(value) for value in page.get_cropbox())
        self.left, self._bottom = min(left, right), min(bottom, top)
        self.turns = page.get_rotation() // 90 % 4
        self.width, self.height = width, height

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Return a box as seen; a place that is not a number, or far outside, is an empty box in the corner."""
        low, high = -MAX_POINT, MAX_POINT
        if not (low < left < high and low < bottom < high and low < right < high and low < top < high):
            return Box(0.0, 0.0, 0.0, 0.0)
        if left > right or bottom > top:
            left, right, bottom, top = min(left, right), max(left, right), min(bottom, top), max(bottom, top)
        left, right, bottom, top = left - self.left, right - self.left, bottom - self._bottom, top - self._bottom
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
