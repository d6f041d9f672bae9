"""Files that are recognised and not read: of older or other Office programs. What they are, and what to do instead."""

from __future__ import annotations

from typing import Final

from pagekeep.capture.documents.parsed import EncryptedFile, ParsedDocument
from pagekeep.errors import UnsupportedContent
from pagekeep.model import Options

_STREAMS: Final = (
    ("WordDocument", "a Word document of the old format (.doc)", "Open it in Word or LibreOffice and save it as DOCX."),
    (
        "Workbook",
        "an Excel file of the old format (.xls)",
        "Open it in Excel or LibreOffice and save the sheet as CSV.",
    ),
    ("Book", "an Excel file of the old format (.xls)", "Open it in Excel or LibreOffice and save the sheet as CSV."),
    ("PowerPoint Document", "a PowerPoint file of the old format (.ppt)", "Save it as PDF, then try again."),
    ("__properties_version1.0", "an Outlook message (.msg)", "Save it as .eml, then try again."),
)
"""Names in the directory of a compound file, what they show, and the next step."""
_ARCHIVED: Final = (
    (b"xl/workbook", "an Excel file (.xlsx)", "Save the sheet as CSV, then try again."),
    (b"ppt/presentation", "a PowerPoint file (.pptx)", "Save it as PDF, then try again."),
    (b"opendocument.spreadsheet", "a table of OpenDocument (.ods)", "Save the sheet as CSV, then try again."),
    (b"opendocument.presentation", "a presentation of OpenDocument (.odp)", "Save it as PDF, then try again."),
)


def read(data: bytes, url: str | None, options: Options) -> ParsedDocument:
    """Raise `UnsupportedContent` with the next step, or `EncryptedFile` for a newer file with a password."""
    if data.startswith(b"\xd0\xcf"):
        if _has_stream(data, "EncryptedPackage"):
            raise EncryptedFile("it has a password")
        found = next(((what, step) for name, what, step in _STREAMS if _has_stream(data, name)), None)
    else:
        found = next(((what, step) for name, what, step in _ARCHIVED if name in data), None)
    what, step = found or ("a file of an Office program that is not read", "Save it as PDF, then try again.")
    raise UnsupportedContent(f"This is {what}.", suggestions=(step,))


def _has_stream(data: bytes, name: str) -> bool:
    return f"{name}\0".encode("utf-16-le") in data
