"""What the judge leaves out of an article, and what it never touches."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from pagekeep import Options, Page, extract
from pagekeep.extraction.locate.exclusions import Reason
from pagekeep.extraction.prune.judge import forest
from pagekeep.extraction.prune.judge.features import NAMES
from pagekeep.present.explain import explain

DAYS = [
    f"<p>On day {day} the miller counted the sacks, one by one, until the tide turned again and the great wheel stood still. "
    f"Then he wrote the number {day * 7} into the book that his father had begun, and went home along the river.</p>"
    for day in range(12)
]


def _article(*parts: str) -> str:
    middle = len(DAYS) // 2
    inside = "".join((*DAYS[:middle], *parts, *DAYS[middle:]))
    return f"<title>The wheel</title><body><main><article><h1>The wheel</h1>{inside}</article></main>"


def _extract(html: str, *skip: str) -> Page:
    return extract(html, "https://mill.example/the-wheel", options=Options(skip_steps=frozenset(skip)))


def _install(monkeypatch: pytest.MonkeyPatch, trees: Iterable[str]) -> None:
    made = forest.read_forest(" ".join(NAMES), "", "", trees)
    monkeypatch.setattr(forest, "shipped", lambda: made)


@pytest.fixture
def _against_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A forest that is against every short block."""
    _install(monkeypatch, [f"{NAMES.index('chars')}:150:0 -2000 2000"])


@pytest.mark.usefixtures("_against_all")
@pytest.mark.parametrize(
    "part",
    [
        "<pre><code>turn --backwards</code></pre>",
        "<table><tr><th>Day</th><th>Sacks</th></tr><tr><td>1</td><td>7</td></tr></table>",
        "<blockquote><p>It turns by itself.</p></blockquote>",
        "<ul><li>Hemp</li><li>Wool</li><li>Rye</li></ul>",
        "<dl><dt>Weir</dt><dd>A low dam.</dd></dl>",
        "<figure><img src=/wheel.png alt=Wheel><figcaption>The wheel at dawn.</figcaption></figure>",
    ],
)
def test_structures_are_never_judged(part: str) -> None:
    assert _extract(_article(part)).markdown == _extract(_article(part), "judge").markdown


@pytest.mark.usefixtures("_against_all")
def test_the_verdict_is_reported_with_a_reason() -> None:
    page = _extract(_article("<p>Follow the mill for more.</p>"))
    assert "Follow the mill" not in page.text
    removals = [removal for removal in page.trace.removals if removal.step == "judge"]
    assert [(removal.element, removal.reason, removal.words) for removal in removals] == [("p", Reason.NO_SENTENCE, 5)]
    assert "Follow the mill" in _extract(_article("<p>Follow the mill for more.</p>"), "judge").text


@pytest.mark.usefixtures("_against_all")
def test_a_heading_goes_with_its_section_and_stays_with_what_is_left() -> None:
    text = _extract(_article("<h2>Read on</h2><p>Ten mills.</p><h2>The end</h2>")).text
    assert "Read on" not in text
    assert "The end" in text


@pytest.mark.usefixtures("_against_all")
def test_questions_above_their_answers_are_headings() -> None:
    questions = "".join(
        f'<div class="question">Why does it turn {word}?</div>{DAYS[0]}' for word in ("so", "now", "left")
    )
    text = _extract(_article(questions.replace("day 0", "another day"))).text
    assert "Why does it turn left?" in text


@pytest.mark.usefixtures("_against_all")
def test_a_picture_is_not_lost_with_the_words_beside_it() -> None:
    page = _extract(_article('<div><img src="/wheel.png" alt="The wheel"><p>Seen from the weir.</p></div>'))
    assert "Seen from the weir" not in page.text
    assert "wheel.png" in page.markdown


@pytest.mark.usefixtures("_against_all")
def test_words_are_cut_as_a_block_not_out_of_it() -> None:
    page = _extract(_article(f"<div>Follow the mill.{DAYS[0]}</div>".replace("day 0", "the last day")))
    assert "Follow the mill" not in page.text
    assert "On the last day" in page.text


def test_what_was_nearly_left_out_is_reported_with_the_reason_for_keeping_it(monkeypatch: pytest.MonkeyPatch) -> None:
    chars = NAMES.index("chars")
    _install(monkeypatch, [f"{chars}:150:500 -100 2000", f"{NAMES.index('linked')}:1:-500 0 -900"])
    page = _extract(_article("<p class=last>So it was.</p>"))
    assert "So it was." in page.text
    assert [(doubt.element, doubt.reason, doubt.words) for doubt in page.trace.doubts] == [("p.last", "few links", 3)]
    assert "p.last, 3 words: kept, few links." in explain(page)


def test_a_verdict_that_takes_much_of_the_article_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, ["-3000"])
    html = re.sub(r" Then he wrote[^<]*", "", _article("<p>Follow the mill for more.</p>")).replace(
        "<p>", "<p class=day>"
    )
    assert _extract(html).text == _extract(html, "judge").text
    assert "Follow the mill" in _extract(html).text


def test_long_paragraphs_of_one_box_stay_whatever_stands_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of portraits: a heading, a picture and one paragraph each, of which the forest would drop some."""
    _install(monkeypatch, [f"{NAMES.index('chars')}:250:0 -2000 2000"])
    longer = " He had seen many of them before, and thought nothing of it, until the river froze.</p>"
    days = [day.replace("</p>", longer) if number % 3 else day for number, day in enumerate(DAYS)]
    days = [day.replace("the book", "<a href=/book>the book</a>") for day in days]
    parts = [f"<h2>Mill {number}</h2><p><img src=/{number}.png></p>{day}" for number, day in enumerate(days)]
    page = _extract(f"<title>Mills</title><body><main><article><h1>Mills</h1>{''.join(parts)}</article></main>")
    assert page.text.count("the great wheel stood still") == len(DAYS)


def test_a_short_page_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, ["-3000"])
    html = f"<title>The wheel</title><main><h1>The wheel</h1>{DAYS[0]}{DAYS[1]}<p>So it was.</p></main>"
    assert "So it was." in _extract(html).text


def test_other_kinds_of_pages_are_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, ["-3000"])
    data = '<script type="application/ld+json">{"@type": "Product", "name": "Wheel", "offers": {"price": "9"}}</script>'
    page = _extract(data + _article("<p>Made of oak.</p>"))
    assert page.kind == "product"
    assert "Made of oak." in page.text


def test_the_shipped_judge_leaves_teasers_out_and_the_story_in() -> None:
    teasers = "".join(
        f'<div class="teaser-card"><a href="/{name}"><img src="/{name}.jpg"><h4>{name} mills you must see</h4></a>'
        f"<span>5 min read</span></div>"
        for name in ("Ten", "Six", "Two")
    )
    page = _extract(_article().replace("</article>", f'<div class="more-stories">{teasers}</div></article>'))
    assert "mills you must see" not in page.text
    assert all(f"On day {day} " in page.text for day in range(12))
