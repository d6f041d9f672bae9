"""Small corpora and a small extractor, so that these tests depend on no extraction but their own."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pagekeep.model import Metadata, Page, Quality, Trace

GOLD = {
    "url": "https://example.com/a",
    "kind": "article",
    "title": "The Blue Door",
    "author": "Ada Quist",
    "published": "2024-05-06",
    "text": "one two three four",
    "with": ["two three"],
    "without": ["buy now"],
}

AddPage = Callable[..., Path]
MakePage = Callable[..., Page]


@pytest.fixture
def add_page(tmp_path: Path) -> AddPage:
    """Writes one page of a flat corpus and gives back the corpus folder."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()

    def add(name: str, html: str = "one two three four", *, zipped: bool = False, **gold: Any) -> Path:
        (corpus / f"{name}.json").write_text(json.dumps(GOLD | gold), "utf-8")
        data = html.encode()
        if zipped:
            (corpus / f"{name}.html.gz").write_bytes(gzip.compress(data))
        else:
            (corpus / f"{name}.html").write_bytes(data)
        return corpus

    return add


def page_of(text: str, **fields: Any) -> Page:
    """A page that holds this text and says this about itself."""
    metadata = {name: fields.pop(name) for name in ("title", "author", "published") if name in fields}
    values: dict[str, Any] = {
        "url": None,
        "markdown": text,
        "document": text,
        "html": f"<p>{text}</p>",
        "text": text,
        "metadata": Metadata(**metadata),
        "links": (),
        "media": (),
        "kind": "article",
        "quality": Quality(score=90, level="article", colour="green", message="Good"),
        "strategy": "readability",
        "trace": Trace(),
        "word_count": len(text.split()),
        "reading_time": "1 min",
    }
    return Page(**values | fields)


def echo(html: bytes, url: str | None) -> Page:
    """An extractor that takes the whole input for the content, and raises on request."""
    text = html.decode()
    if text == "boom":
        raise ZeroDivisionError(text)
    return page_of(text, url=url)


@pytest.fixture
def make_page() -> MakePage:
    """Builds pages."""
    return page_of


@pytest.fixture
def echoing() -> Callable[[bytes, str | None], Page]:
    """The extractor that gives back what it gets."""
    return echo
