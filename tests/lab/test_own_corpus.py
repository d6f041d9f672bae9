"""Our own pages: that they are sound, and that the pipeline keeps its floors on them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from pagekeep import dom
from pagekeep.model import KINDS
from pagekeep_lab import find_broken_floors, run
from pagekeep_lab.corpus import Sample, block_text, find_cases, read_case
from pagekeep_lab.scores import count_snippets, split_words

CORPUS = Path(__file__).parents[1] / "corpus"
SAMPLES = [read_case(case) for case in find_cases(CORPUS)]


def test_every_kind_has_pages_in_many_languages() -> None:
    kinds = Counter(sample.kind for sample in SAMPLES)
    assert set(kinds) == set(KINDS)
    assert min(kinds.values()) >= 4
    assert len(SAMPLES) >= 40
    assert len({found[1] for sample in SAMPLES if (found := re.search(rb'<html lang="([a-z]+)', sample.html))}) >= 10


@pytest.mark.parametrize("page", SAMPLES, ids=lambda page: page.name)
def test_gold_is_on_the_page_and_agrees_with_its_snippets(page: Sample) -> None:
    encoding = "cp1252" if b"windows-1252" in page.html else "utf-8"
    root = dom.parse(page.html.decode(encoding))
    pieces = [node.data for node in dom.nodes(root) if isinstance(node, dom.Text)]
    visible = " ".join([block_text(root), *pieces])  # words both as they run on and as elements part them
    assert set(split_words(page.gold.text)) <= set(split_words(visible))
    assert count_snippets(page.gold.with_, page.gold.text) == len(page.gold.with_) > 0
    assert count_snippets(page.gold.without, page.gold.text) == 0
    assert count_snippets(page.gold.without, visible) == len(page.gold.without) > 0


def test_the_pipeline_keeps_its_floors() -> None:
    report = run(CORPUS, workers=1)
    assert find_broken_floors(report, CORPUS / "gate.toml") == []
    assert report.summary["all"].errors == 0
