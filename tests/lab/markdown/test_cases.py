"""Hard cases of Markdown, compared aspect by aspect."""

from __future__ import annotations

from pathlib import Path

import pytest

from pagekeep.model import Page
from pagekeep_lab.corpus import has_markdown_cases
from pagekeep_lab.markdown_cases import format_scores, list_differing, run_cases, score_case, split_reference

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still. "
PAGE = (
    '<!-- {{"url": "https://mill.example/a"}} --><title>The mill</title><article><h1>The mill</h1>'
    "<p>{0}<sup><a href='#fn1'>1</a></sup></p><h1>Flour</h1><p>{0}</p><pre>grind(corn)</pre>"
    "<table><tr><th>Day</th><th>Sacks</th></tr><tr><td>1</td><td>40</td></tr></table>"
    "<p>It is \\(x^2\\).</p><ol><li id='fn1'>Forty.</li></ol></article>"
).format(SENTENCE * 3)
REFERENCE = (
    '```json\n{{"title": "The mill"}}\n```\n\n{0}[^1]\n\n## Flour\n\n{0}\n\n```\ngrind(corn)\n```\n\n'
    "| Day | Sacks |\n| --- | --- |\n| 1 | 40 |\n\nIt is $x^2$.\n\n[^1]: Forty.\n"
).format((SENTENCE * 3).strip())


def case(folder: Path, reference: str, page: str = PAGE) -> Path:
    (folder / "mill.html").write_text(page, "utf-8")
    (folder / "mill.md").write_text(reference, "utf-8")
    return folder / "mill.html"


def test_a_title_and_the_level_of_the_first_headings_make_no_difference(tmp_path: Path) -> None:
    assert score_case(case(tmp_path, REFERENCE)).wrong == ()


@pytest.mark.parametrize(
    ("right", "wrong", "aspect"),
    [
        ("grind(corn)", "grind(corn )", "code"),
        ("| 1 | 40 |", "| 1 | 41 |", "tables"),
        ("[^1]: Forty", "[^1]: Fifty", "footnotes"),
        ("$x^2$", "$x^3$", "math"),
        ("## Flour", "### Flour", "headings"),
        (SENTENCE * 2, "", "words"),
    ],
)
def test_what_differs_is_named(tmp_path: Path, right: str, wrong: str, aspect: str) -> None:
    assert right in REFERENCE
    assert score_case(case(tmp_path, REFERENCE.replace(right, wrong))).wrong == (aspect,)


def test_names_of_embedded_services_and_kinds_of_callouts_make_no_difference(tmp_path: Path) -> None:
    page = (
        f"<article><p>{SENTENCE * 5}</p><iframe src='https://www.youtube.com/embed/b_PXuEPxN50'></iframe>"
        f"<div class='alert alert-warning'><p>Mind the wheel.</p></div><p>{SENTENCE * 5}</p></article>"
    )
    reference = (
        f"{SENTENCE * 5}\n\n![](https://www.youtube.com/watch?v=b_PXuEPxN50)\n\n> [!warning] Warning\n> Mind the wheel.\n\n"
        f"{SENTENCE * 5}\n"
    )
    assert score_case(case(tmp_path, reference, page)).f1 == 1.0


def test_an_extractor_that_raises_is_wrong_in_everything(tmp_path: Path) -> None:
    def broken(html: bytes, url: str | None) -> Page:
        raise ZeroDivisionError

    scores = [score_case(case(tmp_path, REFERENCE), broken)]
    assert scores[0].error == "ZeroDivisionError"
    assert format_scores(scores)[1][:2] == ["1", "0"]
    assert list_differing(scores)[0].startswith("mill: words, code")


def test_a_folder_is_known_by_markdown_beside_its_pages(tmp_path: Path) -> None:
    assert not has_markdown_cases(tmp_path)
    case(tmp_path, REFERENCE)
    assert has_markdown_cases(tmp_path)
    assert [score.name for score in run_cases(tmp_path)] == ["mill"]


def test_a_block_that_is_not_metadata_stays_in_the_reference() -> None:
    assert split_reference("```json\nnot json\n```\n\nText") == ("```json\nnot json\n```\n\nText", {})
    assert split_reference("Text") == ("Text", {})
