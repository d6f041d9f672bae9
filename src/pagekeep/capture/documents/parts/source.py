"""The text of a file that is text: decoded as a page is, without signs that show nothing."""

from __future__ import annotations

from pagekeep.capture.documents.refusals import EmptyFile
from pagekeep.errors import ParseError
from pagekeep.extraction.input.decode import decode
from pagekeep.model import Options, PageWarning


def decode_text(data: bytes, options: Options, limit: int) -> tuple[str, tuple[PageWarning, ...]]:
    """Return the text, at most `limit` characters, and warnings; raise `EmptyFile`, or `UnsupportedContent` for binary data."""
    try:
        text, warnings = decode(data, options)
    except ParseError as error:
        raise EmptyFile from error
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").lstrip("\ufeff")
    if len(text) > limit:
        text = text[: text.rfind("\n", limit // 2, limit) + 1 or limit]
        warnings = (*warnings, PageWarning("truncated", f"only the first {limit:,} characters were read"))
    return text, warnings
