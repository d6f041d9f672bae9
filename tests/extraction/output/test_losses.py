"""The loss check: what the page held when it arrived and what is left of it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pagekeep import Page, dom, extract, markdown, pipeline
from pagekeep.extraction.output.quality import find_unwritten
from pagekeep.model.clean_tree import read_tree

URL = "https://mill.example/blog/the-wheel"
SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still. "
STORY = "".join(f"<p>Day {day}. {SENTENCE}</p>" for day in range(12))
ENDING = "".join(f"<p>Night {night}. {SENTENCE}</p>" for night in range(12))
MATHML = "<math><msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><mi>y</mi></math>"
STRUCTURES = {
    "code blocks": "<pre><code>x = 1\ny = 2</code></pre>",
    "tables": "<table><tr><th>Sack</th><th>Weight</th></tr><tr><td>first</td><td>40</td></tr></table>",
    "lists": "<ul><li>rye</li><li>oats</li></ul>",
    "images": '<p><img src="/wheel.jpg" alt="The wheel"></p>',
    "math": f"<p>It holds that {MATHML} is even.</p>",
}
CSS = {"code blocks": "pre", "tables": "table", "lists": "ul", "images": "img", "math": "math"}
RICH = (
    "<pre><code>x = 1</code></pre><pre><code>y = 2</code></pre><ul><li>one</li><li>two</li></ul>"
    "<table><tbody><tr><td>a</td><td>b</td></tr></tbody></table>"
    '<p><img src="https://mill.example/a.png" alt="a"> <span class="math-inline">x^2</span></p>'
    '<p><a href="https://mill.example/">the mill</a> and <a href="https://sea.example/">the sea</a></p>'
)


def article(*parts: str) -> str:
    return f"<title>The wheel</title><body><article><h1>The wheel</h1>{STORY.join(parts)}</article>"


def check(page: Page) -> tuple[bool, str]:
    found = next(check for check in page.quality.checks if check.name == "nothing_lost")
    return found.passed, found.reason


def before_step(monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[Any], None]) -> None:
    """Make the pipeline do something before one of its steps."""

    def wrap(run: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def both(state: Any) -> Any:
            act(state)
            return run(state)

        return both

    steps = [replace(step, run=wrap(step.run)) if step.name == name else step for step in pipeline.STEPS]
    monkeypatch.setattr(pipeline, "STEPS", steps)


def drop_first(tree: dom.Node, css: str) -> None:
    node = dom.first(tree, css)
    assert node is not None
    dom.drop(node)


def drop_from_clean(state: Any, css: str) -> None:
    root = dom.copy(state.clean.root)
    drop_first(root, css)
    state.clean = state.clean._replace(tree=read_tree(root), root=root)


def test_everything_is_said_to_be_there_when_it_is() -> None:
    passed, reason = check(extract(article("", *STRUCTURES.values(), ""), URL))
    assert (passed, reason) == (True, "code, tables, lists, images, math and links are all there")


@pytest.mark.parametrize("kind", STRUCTURES)
@pytest.mark.parametrize("step", ["rules-before", "survey", "cut", "rules-after", "clean"])
def test_what_vanishes_in_silence_is_reported(monkeypatch: pytest.MonkeyPatch, kind: str, step: str) -> None:
    def act(state: Any) -> None:
        drop_first(state.body if step in ("rules-before", "survey", "cut") else state.content, CSS[kind])

    before_step(monkeypatch, step, act)
    page = extract(article("", *STRUCTURES.values(), ""), URL)
    assert check(page) == (False, f"1 of 1 {kind} lost")
    assert (page.quality.level, page.quality.colour) == ("simplified", "yellow")
    assert page.quality.reason == f"1 of 1 {kind} lost"


def test_a_structure_that_vanishes_with_the_box_around_it_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    before_step(monkeypatch, "survey", lambda state: drop_first(state.body, ".box"))
    boxed = f'<div class="box">{STRUCTURES["tables"]}</div>'
    assert check(extract(article("", f"{boxed}{ENDING}"), URL)) == (False, "1 of 1 tables lost")


@pytest.mark.parametrize("kind", ["code blocks", "tables", "lists", "images"])
def test_what_vanishes_before_the_sanitiser_or_in_it_is_reported(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    before_step(monkeypatch, "sanitise", lambda state: drop_first(state.content, CSS[kind]))
    assert check(extract(article("", *STRUCTURES.values(), ""), URL)) == (False, f"1 of 1 {kind} lost")
    monkeypatch.undo()
    before_step(monkeypatch, "markdown", lambda state: drop_from_clean(state, CSS[kind]))
    assert check(extract(article("", *STRUCTURES.values(), ""), URL)) == (False, f"1 of 1 {kind} lost")


def test_what_is_beside_the_content_is_not_a_loss() -> None:
    aside = f"<nav>{STRUCTURES['lists']}</nav><aside>{STRUCTURES['tables']}{STRUCTURES['images']}</aside>"
    page = extract(f"<body>{aside}<article><h1>The wheel</h1>{STORY}{STORY}</article><footer>{aside}</footer>", URL)
    assert "rye" not in page.text
    assert check(page)[0]


@pytest.mark.parametrize(
    "formula",
    [
        f"<mjx-container><mjx-assistive-mml>{MATHML}</mjx-assistive-mml></mjx-container>",
        f'<span aria-hidden="true"><mjx-assistive-mml>{MATHML}</mjx-assistive-mml></span>',
        f'<span class="drawn"></span><span class="sr-only">{MATHML}</span>',
        f'<span class="mwe-math-element"><span class="mwe-math-mathml-a11y" style="display: none;">{MATHML}</span></span>',
    ],
)
def test_a_formula_whose_source_is_hidden_is_kept(formula: str) -> None:
    page = extract(article("", *[f"<p>Case {number}: {formula} is even.</p>" for number in range(3)], ""), URL)
    assert page.markdown.count("$x^{2} + y$") == 3
    assert check(page)[0]


def test_a_bookmark_claims_nothing() -> None:
    page = extract("<title>Loading</title><body><div id=root></div><p>Wait.</p>", URL)
    assert check(page) == (False, "nothing was compared with the page")


def test_what_the_clean_up_took_by_design_is_noted() -> None:
    pictures = '<img src="/a.png"><p>x</p><img src="/spacer.gif">'
    page = extract(article("", pictures, ""), URL)
    assert any("kept 1 of 2 images" in warning.text for warning in page.trace.warnings if warning.code == "reduced")
    assert check(page)[0]


# -- from clean HTML to Markdown ------------------------------------------------------------------------------------------


def unwritten(html: str, written: str | None = None) -> list[str]:
    root = dom.parse_fragment(html)
    return find_unwritten(root, markdown.to_markdown(root) if written is None else written)


def test_nothing_is_lost_on_the_way_to_markdown() -> None:
    assert unwritten(RICH) == []


@pytest.mark.parametrize(
    ("vanished", "sentence"),
    [
        ("```\nx = 1\n```", "1 of 2 code blocks lost"),
        ("!", "1 of 1 images lost"),
        ("$", "1 of 1 math lost"),
        ("- one", "1 of 2 list items lost"),
        ("| --- | --- |", "1 of 1 tables lost"),
        ("](https://sea.example/)", "1 of 2 links lost"),
    ],
)
def test_what_vanished_on_the_way_to_markdown_is_reported(vanished: str, sentence: str) -> None:
    whole = markdown.to_markdown(dom.parse_fragment(RICH))
    assert vanished in whole
    assert unwritten(RICH, whole.replace(vanished, "")) == [sentence]


@pytest.mark.parametrize(
    "html",
    [
        "<table><tbody><tr><td>a</td><td><ul><li>one</li></ul></td></tr></tbody></table>",
        "<table><tbody><tr><td>a</td><td><pre><code>x\ny</code></pre></td></tr></tbody></table>",
        '<p><code>see <a href="https://mill.example/">mill</a>()</code></p>',
        '<p><a href="https://mill.example/"><img src="https://mill.example/a.png"></a></p>',
        '<p>a<sup class="footnote-ref"><a href="#fn-1">1</a></sup></p>'
        '<section class="footnotes"><ol><li id="fn-1">note</li></ol></section>',
        "<p>It costs $5, not $6.</p>",
        "<ul><li><ul><li>deep</li></ul></li></ul><pre><code>- x\n![a](b)</code></pre>",
        '<div class="math-block">a</div><div class="math-block">b</div><p>for $3 <span class="math-inline">c</span></p>',
    ],
)
def test_what_markdown_writes_in_another_way_is_not_lost(html: str) -> None:
    assert unwritten(html) == []


# -- mutations ------------------------------------------------------------------------------------------------------------


def load_bench() -> ModuleType:
    path = Path(__file__).parents[3] / "bench" / "loss_check.py"
    spec = importlib.util.spec_from_file_location("bench_loss_check", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_structures_cut_out_of_our_corpus_are_missed_and_nothing_else_is() -> None:
    bench = load_bench()
    pages = list(bench.find_pages(Path(__file__).parents[2] / "corpus"))
    results = [bench.try_page(page, seed=1) for page in pages]
    alarms = [result for result in results if isinstance(result, str)]
    attempts = [result for result in results if isinstance(result, bench.Attempt)]
    assert alarms == []
    assert len(attempts) >= 20
    assert [attempt for attempt in attempts if not attempt.caught] == []
