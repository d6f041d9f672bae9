"""Training the judge: labels, and a forest from our own small corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pagekeep.errors import NotFound
from pagekeep.extraction.prune.judge import forest
from pagekeep_lab.judge import label_by_snippets, label_by_text, main

STORY = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still in the night."
HEAD = '<title>Wheel</title><meta property="og:type" content="article">'


def test_blocks_are_labelled_by_aligning_them_with_the_text() -> None:
    texts = ["Menu", "The wheel turns.", "Read more stories", "It turns by night.", "..."]
    assert label_by_text(texts, "The wheel turns. It turns by night.") == [False, True, False, True, None]


def test_a_block_is_content_when_half_of_its_words_are() -> None:
    assert label_by_text(["one two three four"], "one two") == [True]
    assert label_by_text(["one two three four five"], "one two") == [False]


def test_snippets_label_the_blocks_they_are_in() -> None:
    texts = ["The wheel  turns.", "Read more", "A long paragraph that is part of a snippet", "Nothing said"]
    wanted = ["wheel turns", "and A long paragraph that is part of a snippet goes on"]
    assert label_by_snippets(texts, wanted, ["Read more"]) == [True, False, True, None]


def _write_corpus(folder: Path, pages: int = 40) -> None:
    folder.mkdir()
    for number in range(pages):
        story = "".join(f"<p>On day {day + number} of it: {STORY}</p>" for day in range(8)) + "<p>So it was.</p>"
        more = '<div class="morebox"><p>Follow the mill on every channel</p></div>' * 4
        (folder / f"{number}.html").write_text(
            f"{HEAD}<main class=storybody><h1>Wheel</h1>{story}{more}</main>", "utf-8"
        )
        text = "\n".join(f"On day {day + number} of it: {STORY}" for day in range(8)) + "\nSo it was."
        reference = {"url": f"https://mill{number}.example/", "kind": "article", "text": text}
        (folder / f"{number}.json").write_text(json.dumps(reference), "utf-8")


def test_the_same_pages_give_the_same_forest_and_it_knows_them_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write_corpus(tmp_path / "mills")
    for name in ("first.py", "second.py"):
        assert main([str(tmp_path / "mills"), "--out", str(tmp_path / name)]) == 0
    assert "from 40 pages" in capsys.readouterr().out
    source = (tmp_path / "first.py").read_text("utf-8")
    assert source == (tmp_path / "second.py").read_text("utf-8")
    data: dict[str, str] = {}
    exec(source, data)
    trained = forest.read_forest(data["FEATURES"], data["NAMES"], data["WORDS"], data["TREES"])
    assert trained.lexicon.names["morebox"] < 0
    assert trained.lexicon.words["channel"] < 0
    assert json.loads(data["PROVENANCE"])["pages"] == {"mills": 40}


def test_only_one_half_of_the_sites_is_used_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write_corpus(tmp_path / "mills")
    counts = []
    for sites in ("even", "odd"):
        main([str(tmp_path / "mills"), "--out", str(tmp_path / "out.py"), "--sites", sites])
        counts.append(int(capsys.readouterr().out.split("from ")[1].split()[0]))
    assert sum(counts) == 40
    assert min(counts) > 5


def test_a_corpus_without_articles_is_an_error(tmp_path: Path) -> None:
    _write_corpus(tmp_path / "mills", 1)
    reference = tmp_path / "mills" / "0.json"
    reference.write_text(reference.read_text("utf-8").replace('"article"', '"forum"'), "utf-8")
    with pytest.raises(NotFound, match="no labelled articles"):
        main([str(tmp_path / "mills"), "--out", str(tmp_path / "out.py")])
