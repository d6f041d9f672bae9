"""Fixtures: the first steps of the pipeline, for tests of later ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pagekeep import dom
from pagekeep.extraction import metadata
from pagekeep.extraction.input import structured
from pagekeep.extraction.locate import page_facts
from pagekeep.extraction.locate.page_facts import PageFacts
from pagekeep.extraction.locate.profiles import PROFILES
from pagekeep.extraction.locate.survey import Survey, survey
from pagekeep.model import Kind

Surveyed = Callable[[str], Survey]
FactsOf = Callable[..., PageFacts]


def _body(document: dom.Document) -> dom.Element:
    body = dom.first(document, "body")
    assert body is not None
    return body


@pytest.fixture
def surveyed() -> Surveyed:
    """Return a function that surveys a page's body."""
    return lambda html: survey(_body(dom.parse(html)))


@pytest.fixture
def facts_of() -> FactsOf:
    """Return a function that collects the facts of a page."""

    def collect(html: str, kind: Kind = "article") -> PageFacts:
        document = dom.parse(html)
        data = structured.read(document)
        about = metadata.read(document, data, "https://mill.example/page")
        return page_facts.collect(survey(_body(document)), data, about, PROFILES[kind])

    return collect


@pytest.fixture
def index_of() -> Callable[[Survey, str], int]:
    """Return a function that finds the index of the first element that matches."""

    def find(found: Survey, css: str) -> int:
        node = dom.first(found.nodes[0], css)
        assert node is not None, css
        return next(index for index, other in enumerate(found.nodes) if other is node)

    return find
