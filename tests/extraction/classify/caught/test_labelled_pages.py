from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from pagekeep import dom, markdown
from pagekeep.extraction import metadata
from pagekeep.extraction.classify import caught, kind
from pagekeep.extraction.clean import clean
from pagekeep.extraction.input import structured
from pagekeep.extraction.locate import page_facts, strategies
from pagekeep.extraction.locate.profiles import PROFILES
from pagekeep.extraction.locate.survey import survey
from pagekeep.extraction.output.sanitise import sanitise
from pagekeep.extraction.prune import cut, prune
from pagekeep.model import Caught, CaughtKind
from pagekeep.text import count_words

PAGES = sorted((Path(__file__).parent / "pages").glob("*.html"))
KINDS = tuple(kind for kind in get_args(CaughtKind) if not kind.endswith("_file"))
"""What a page can be; those of documents are tested with them."""


def judge(html: str, url: str | None = None, status: int | None = 200) -> Caught | None:
    """The verdict on a page, with the text that extraction finds in it."""
    document = dom.parse(html)
    body = dom.first(document, "body")
    assert body is not None
    found, data = survey(body), structured.read(document)
    signals = caught.collect(document, found, data, html, url, status)
    about = metadata.read(document, data, url)
    facts = page_facts.collect(found, data, about, PROFILES[kind.classify(data, found, url).kind])
    outcome = strategies.run(facts, prune)
    text = ""
    if outcome.content:
        _, root = sanitise(clean(cut.cut(found, outcome.content), None)[0])
        text = markdown.to_text(root)
    return caught.judge(signals, text, count_words(text), outcome.strategy)


def label(page: Path) -> str:
    return page.name.partition("--")[0]


def test_every_kind_has_at_least_five_pages_and_real_pages_are_there_to_acquit() -> None:
    labels = [label(page) for page in PAGES]
    assert set(labels) == {*KINDS, "page"}
    assert min(labels.count(name) for name in KINDS) >= 5
    assert labels.count("page") >= 20


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_taken_for_what_its_label_says(page: Path) -> None:
    html = page.read_text("utf-8")
    url = html.partition("\n")[0].strip("<!-> ")
    verdict = judge(html, url)
    assert (verdict.kind if verdict else "page") == label(page), verdict


def test_no_page_of_our_corpus_is_taken_for_a_wall(own_pages: list[Any]) -> None:
    verdicts = {page.name: judge(page.html, page.url) for page in own_pages}
    assert {name: verdict for name, verdict in verdicts.items() if verdict} == {}
