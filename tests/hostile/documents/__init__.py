"""Sound files and bombs of each file type, for `tests.hostile.document_mutants`. A new type adds its module to `KINDS`."""

from __future__ import annotations

from tests.hostile.documents import docx, email, epub, odt, pdf, rtf
from tests.hostile.documents.kind import Kind

KINDS: dict[str, Kind] = {
    "pdf": pdf.KIND,
    "docx": docx.KIND,
    "odt": odt.KIND,
    "epub": epub.KIND,
    "rtf": rtf.KIND,
    "email": email.KIND,
}
