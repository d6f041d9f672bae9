"""Is the frontmatter complete? Which fields a kept page lacks although its source has them."""

from __future__ import annotations

import re

from pagekeep import dom
from pagekeep.lab.corpus import Sample
from pagekeep.model import Page

_FIELD = re.compile(r"^(\w+):", re.MULTILINE)
_ALWAYS = ("title", "language", "word_count", "reading_time", "quality")
_STATED = {
    "description": 'meta[name="description" i][content], meta[property="og:description"][content]',
    "site_name": 'meta[property="og:site_name"][content]',
}


def missing(sample: Sample, page: Page) -> tuple[str, ...]:
    """Frontmatter fields the page lacks: those every page has, and those its reference or its head shows it has."""
    block = page.document.partition("\n---\n")[0] if page.document.startswith("---\n") else ""
    present = frozenset(_FIELD.findall(block))
    return tuple(name for name in _expected(sample) if name not in present)


def _expected(sample: Sample) -> list[str]:
    wanted = [*(("source", "domain") if sample.url else ()), *_ALWAYS]
    if sample.gold.author:
        wanted.append("author")
    if sample.gold.published:
        wanted.append("published_date")
    document = dom.parse(sample.html.decode("utf-8", "replace"))
    for name, selector in _STATED.items():
        if any((element.attr("content") or "").strip() for element in dom.select(document, selector)):
            wanted.append(name)
    return wanted
