"""The steps of the clean-up as a list: their names, what they report as removed, and running without one."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from pagekeep import dom, pipeline
from pagekeep.extraction.clean import STEPS, clean
from pagekeep.extraction.clean.state import CleanState
from pagekeep.extraction.output.sanitise import sanitise

CORPUS = sorted((Path(__file__).parents[2] / "corpus").glob("*.html"))
UNCOUNTED_STEPS = frozenset({"scripts", "math", "typed-math", "code-blocks", "footnotes", "callouts"})
"""Steps that remove program text or write marks, titles, code and formulas in another form."""


def removed(html: str) -> list[tuple[str, str, int]]:
    _, removals = clean(dom.parse_fragment(html), "https://example.org/")
    return [(removal.step, removal.element, removal.words) for removal in removals]


def test_every_step_has_a_name_to_type_and_a_description() -> None:
    names = [step.name for step in STEPS]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in names)
    assert all(re.match(r"[A-Z][^.]*\.$", step.description) for step in STEPS), [step.description for step in STEPS]


@pytest.mark.parametrize(
    ("html", "record"),
    [
        ("<textarea>two words</textarea>", ("non-text", "textarea", 2)),
        ("<canvas>A drawn chart</canvas>", ("non-text", "canvas", 3)),
        ("<select><option>Oolong tea</option></select>", ("non-text", "select", 2)),
        ("<svg class=chart><text>Cups sold</text></svg>", ("non-text", "svg.chart", 2)),
        ('<iframe src="https://ads.doubleclick.net/x">an advert</iframe>', ("embeds", "iframe", 2)),
        ('<iframe src="https://ads.doubleclick.net/x"></iframe>', ("embeds", "iframe", 0)),
        ('<img src="https://pixel.example/p.gif" width=1 height=1>', ("images", "img", 0)),
        ("<button id=buy>Buy tea</button>", ("buttons", "button#buy", 2)),
        ("<div hidden>Not now</div>", ("hidden", "div", 2)),
        ("<noscript>Turn scripts on</noscript>", ("non-text", "noscript", 3)),
        ("<template>Later words</template>", ("scripts", "template", 2)),
        ('<span class="sr-only">Opens a window</span>', ("screen-reader-text", "span.sr-only", 3)),
        ('<video src="tea.mp4">No video here</video>', ("embeds", "video", 3)),
        ("<pre><button>Copy code</button>print(1)</pre>", ("code-blocks", "button", 2)),
        (
            '<table class="lntable"><tr><td><pre>1\n2</pre><td><pre>a\nb</pre></table>',
            ("code-blocks", "table.lntable", 2),
        ),
    ],
)
def test_what_is_removed_with_words_media_or_a_control_is_recorded(html: str, record: tuple[str, str, int]) -> None:
    assert record in removed(f"<p>Tea.</p>{html}<p>More.</p>")


def test_an_element_inside_a_removed_one_is_counted_once() -> None:
    html = "<p>Tea.</p><div hidden>One <div hidden>two</div> <select><option>three</option></select></div>"
    assert sum(words for _, _, words in removed(html)) == 3


def test_a_nest_of_hidden_boxes_is_one_removal() -> None:
    assert removed("<p>Tea.</p>" + "<div hidden>" * 30 + "Not now" + "</div>" * 30) == [("hidden", "div", 2)]


@pytest.mark.parametrize(
    "html", ["<script>let tea = 1</script>", "<style>p {}</style>", "<p></p>", "<svg><path/></svg>"]
)
def test_code_and_empty_elements_leave_no_record(html: str) -> None:
    assert removed(f"<p>Tea.</p>{html}") == []


@pytest.mark.parametrize("page", CORPUS, ids=lambda page: page.stem)
def test_no_step_loses_words_without_a_record(page: Path) -> None:
    decoded = dom.decode(page.read_bytes())
    assert decoded is not None
    body = dom.first(dom.parse(decoded[0]), "body")
    assert body is not None
    state = CleanState(body, None)
    for step in STEPS:
        before = count_words(body)
        removals = list(step.run(state) or ())
        if step.name in UNCOUNTED_STEPS:
            continue
        lost = sum((before - count_words(body)).values())
        assert lost <= sum(removal.words for removal in removals), step.name


def count_words(root: dom.Element) -> Counter[str]:
    return Counter(word for text in dom.texts_of(root) for word in text.split() if any(map(str.isalnum, word)))


@pytest.mark.parametrize("name", [step.name for step in STEPS])
def test_the_clean_up_runs_without_any_one_step(name: str) -> None:
    html = '<h1>Tea<a href="#t">#</a></h1><hr><div><b>x</b><button>Go</button><ul><p>one</ul></div><table><td>a</table>'
    root, removals = clean(dom.parse_fragment(html), "https://example.org/", skip={name})
    assert "one" in sanitise(root)[0]
    assert name not in {removal.step for removal in removals}


def test_a_skipped_step_leaves_what_it_would_remove() -> None:
    html = "<p>Tea.</p><div hidden>Pour.</div>"
    assert sanitise(clean(dom.parse_fragment(html), None, skip={"hidden"})[0])[0] == "<p>Tea.</p><p>Pour.</p>"


def test_the_trace_of_a_page_holds_what_the_clean_up_removed() -> None:
    words = "Kelp grows by the hour and feeds the otters. " * 30
    page = pipeline.extract(f"<article><h1>Kelp</h1><p>{words}</p><textarea>a reply</textarea><p>{words}</p></article>")
    assert ("textarea", "form control", 2, "non-text") in {
        (removal.element, removal.reason, removal.words, removal.step) for removal in page.trace.removals
    }
