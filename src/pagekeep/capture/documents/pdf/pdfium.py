"""The interface to pypdfium2, which only this folder imports: a PDF as plain values, with every number and count bounded."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from pagekeep.capture.documents.pdf.characters import WordReader
from pagekeep.capture.documents.pdf.frame import Frame, clamp
from pagekeep.capture.documents.pdf.structure_tree import read_tree
from pagekeep.capture.documents.pdf.values import Box, OutlineEntry, PdfFile, PdfPage, Word

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
