"""A small PDF, and what is read of it; for tests of every way in."""

from __future__ import annotations

from tests.capture.documents.tiny_pdf import TinyPage, make_pdf

LINES = ["The harbour lies north of the town and is older", "than the walls that once protected it from the sea."]


def harbour(*lines: str) -> bytes:
    """A PDF with a title and a paragraph."""
    return make_pdf([TinyPage().write("The old harbour", 60, 80, 20).paragraph(list(lines), 60, 110)])


PDF = harbour(*LINES)
TEXT = f"# The old harbour\n\n{' '.join(LINES)}\n"
"""Its Markdown."""
