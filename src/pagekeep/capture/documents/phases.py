"""The lists of steps of document types, for `--skip-step` and docs/steps.md."""

from __future__ import annotations

from typing import Final

from pagekeep.capture.documents import email, pdf
from pagekeep.extraction.steps import Phase

DOCUMENT_PHASES: Final = (
    Phase(
        "PDF", "Only for PDF files: from words with their places to HTML, which then passes the clean-up.", pdf.STEPS
    ),
    Phase("e-mail", "Only for messages: what mail programs and newsletters put around the text.", email.STEPS),
)
"""Before the phases of pages, of which a document passes the clean-up and the output."""
