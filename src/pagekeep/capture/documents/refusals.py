"""Why a file has no text to read; the frame turns these into a bookmark that says so."""

from __future__ import annotations

from typing import ClassVar, Final

from pagekeep.capture.documents.parsed import ParsedDocument
from pagekeep.model import Caught, CaughtKind, Metadata

_KEPT: Final = "The file is kept."


class UnreadableFile(Exception):
    """A file that cannot be read; `metadata` is what is known of it."""

    kind: ClassVar[CaughtKind]
    reason: ClassVar[str]
    suggestion: ClassVar[str]

    def __init__(self, detail: str = "", metadata: Metadata | None = None) -> None:
        super().__init__(detail)
        self.detail, self.metadata = detail, metadata or Metadata()

    def to_document(self, name: str) -> ParsedDocument:
        """Return a document without text that says why, for a file of the type with this name."""
        reason = f"The {name} {self.reason}{f': {self.detail}' if self.detail else ''}"
        caught = Caught(self.kind, reason, f"{self.suggestion} {_KEPT}".strip())
        return ParsedDocument("", self.metadata, reason, caught=caught)


class EncryptedFile(UnreadableFile):
    """The file is protected by a password or by rights management."""

    kind = "encrypted_file"
    reason = "is protected"
    suggestion = "Save it without protection, then try again."


class DamagedFile(UnreadableFile):
    """The file is not what its beginning says."""

    kind = "damaged_file"
    reason = "is damaged"
    suggestion = "Get the file again."


class EmptyFile(UnreadableFile):
    """The file is sound and has no text."""

    kind = "empty_file"
    reason = "has no text"
    suggestion = ""
