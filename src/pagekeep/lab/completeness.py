"""Find frontmatter fields that a page lacks although its source has them."""

from __future__ import annotations

import re

from pagekeep import dom
from pagekeep.lab.corpus import Sample
from pagekeep.model import Page

_FIELD = re.compile(r"^(\w+):", re.MULTILINE)
_ALWAYS_EXPECTED = ("title", "language", "word_count", "reading_time", "quality")
_EXPECTED_IF_STATED = {
    "description": 'meta[name="description" i][content], meta[property="og:description"][content]',
    "site_name": 'meta[property="og:site_name"][content]',
}


def find_missing_fields(sample: Sample, page: Page) -> tuple[str, ...]:
    """Return the fields the page lacks: those every page has, and those that its reference or its head has."""
    block = page.document.partition("\n---\n")[0] if page.document.startswith("---\n") else ""
    present = frozenset(_FIELD.findall(block))
    return tuple(name for name in _expected_fields(sample) if name not in present)


def _expected_fields(sample: Sample) -> list[str]:
    expected = [*(("source", "domain") if sample.url else ()), *_ALWAYS_EXPECTED]
    if sample.gold.author:
        expected.append("author")
    if sample.gold.published:
        expected.append("published_date")
    document = dom.parse(sample.html.decode("utf-8", "replace"))
    for name, selector in _EXPECTED_IF_STATED.items():
        if any((element.attr("content") or "").strip() for element in dom.select(document, selector)):
            expected.append(name)
    return expected
