"""Properties of the whole way from HTML to Markdown, whatever goes in."""

from __future__ import annotations

import builtins
import random
import re
import socket
import time
from html import escape
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pagekeep import (
    NotFound,
    NotOffered,
    Options,
    Page,
    PagekeepError,
    ParseError,
    TooLarge,
    UnsupportedContent,
    dom,
    extract,
    pipeline,
)
from pagekeep.model import PageWarning

URL = "https://mill.example/blog/the-wheel"
SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still."
STORY = "".join(f"<p>On day {i} it was the same. {SENTENCE}</p>" for i in range(8))
FIELDS = (
    "source title author published_date domain site_name language word_count reading_time hero_image description"
    " suggested_tags quality saved_at extraction_failed reason"
).split()

ATTRIBUTES = [
    *('onclick="x()"', 'OnError="x()"', 'href="javascript:x()"', 'href=" JaVa\tScript:x()"', 'src="data:text/html,x"'),
    *(
        'href="vbscript:x"',
        'style="background:url(x)"',
        'class="nav"',
        'id="fn1"',
        'href="#fn1"',
        "hidden",
        'srcset="a 1x"',
    ),
    *(
        'href="/a b(c)"',
        'src="a.png"',
        'alt="]("',
        'title="&quot;"',
        'colspan="3"',
        'rowspan="0"',
        'start="-7"',
        'dir="rtl"',
    ),
]
TAGS = (
    "p div span a b i em h1 h2 ul ol li dl dt dd table tr td th caption blockquote pre code img br hr figure figcaption sup"
    " sub section article main aside nav footer header form input button details summary iframe svg math style script"
    " template noscript video audio object embed select option textarea ruby rt q del ins kbd title base"
).split()
words = st.sampled_from(
    ["word", "two words", "# not a heading", "1. no", "*x*", "<", "&amp;", "|", "$5", "[^1]", "汉字", "שלום"]
)


@st.composite
def node(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    tag = draw(st.sampled_from(TAGS))
    attributes = " ".join(draw(st.lists(st.sampled_from(ATTRIBUTES), max_size=3)))
    closing = draw(st.sampled_from([f"</{tag}>", f"</{tag}>", f"</{tag}>", "", "</div>"]))
    return f"<{tag} {attributes}>{''.join(draw(st.lists(inner, max_size=4)))}{closing}"


tree = st.recursive(st.one_of(words, st.text(max_size=8)), node, max_leaves=20)
pages = st.lists(tree, min_size=1, max_size=5).map("".join)


def attempt(html: str | bytes) -> Page | None:
    """The page, or `None` for one of the three errors that are promised."""
    try:
        return extract(html, URL)
    except (TooLarge, UnsupportedContent, ParseError):
        return None


def frontmatter(page: Page) -> dict[str, Any]:
    assert page.document.startswith("---\n")
    loaded = yaml.safe_load(page.document[4:].partition("\n---\n")[0])
    assert isinstance(loaded, dict)
    return loaded


@given(st.binary(max_size=400))
def test_arbitrary_bytes_give_a_page_or_one_of_our_errors(data: bytes) -> None:
    attempt(data)
    attempt(b"<p>" + data)


@given(st.text(max_size=400))
def test_arbitrary_text_gives_a_page_or_one_of_our_errors(text: str) -> None:
    attempt(text)
    assert extract("<p>" + text + "</p>.").document


@given(pages)
def test_any_markup_gives_a_document_with_valid_frontmatter_in_the_promised_order(html: str) -> None:
    page = attempt(html + STORY)
    assert page is not None
    keys = list(frontmatter(page))
    assert keys == [name for name in FIELDS if name in keys]
    assert {"source", "domain", "word_count", "reading_time", "quality"} <= set(keys)


@given(pages)
def test_the_same_input_gives_the_same_output(html: str) -> None:
    first, second = extract(html + STORY, URL), extract(html + STORY, URL)
    assert first == second


@given(pages)
def test_the_html_holds_nothing_that_runs(html: str) -> None:
    page = extract(STORY + html + STORY, URL)
    root = dom.parse_fragment(page.html)
    assert (
        dom.select(root, "script, style, iframe, object, embed, form, input, button, svg, math, base, link, meta") == []
    )
    for element in dom.elements(root):
        for name, value in dom.attributes(element).items():
            assert not name.startswith("on")
            assert name != "style"
            scheme = re.sub(r"[\s\x00-\x1f]", "", value).partition(":")[0].lower()
            assert scheme not in {"javascript", "vbscript", "data"} or name not in {"href", "src"}


@given(pages)
def test_no_link_or_medium_leads_to_a_script(html: str) -> None:
    page = extract(STORY + html + STORY, URL)
    for target in [link.url for link in page.links] + [medium.url for medium in page.media]:
        assert re.match(r"(?:https?|mailto|tel):", target), target


@given(st.lists(st.text(alphabet="abcde .,", min_size=1, max_size=60), min_size=1, max_size=6))
def test_every_word_of_the_text_is_in_the_source(parts: list[str]) -> None:
    html = "".join(f"<p>{escape(part)}</p>" for part in parts) + STORY
    source = set(re.findall(r"\w+", dom.text_of(dom.parse(html.replace("</p>", " </p>")))))
    assert set(re.findall(r"\w+", extract(html, URL).text)) <= source


def test_the_words_of_our_corpus_come_from_the_pages(own_pages: list[Any]) -> None:
    for own in own_pages:
        source = re.sub(r"\W+", "", dom.text_of(dom.parse(own.html)))
        page = extract(own.data, own.url)
        for word in re.findall(r"[^\W_]+", page.text):
            assert word in source, (own.name, word)


def test_the_document_is_the_frontmatter_and_the_markdown() -> None:
    page = extract(f"<title>The wheel</title><article>{STORY}</article>", URL)
    assert page.document.endswith(f"# The wheel\n\n{page.markdown.rstrip()}\n")
    assert frontmatter(page)["title"] == "The wheel"
    assert frontmatter(page)["word_count"] == page.word_count
    assert frontmatter(page)["reading_time"] == page.reading_time


def test_the_moment_of_saving_comes_from_the_caller_alone() -> None:
    assert "saved_at" not in frontmatter(extract(STORY, URL))
    saved = extract(STORY, URL, options=Options(saved_at="2024-05-06T07:08:09Z"))
    assert list(frontmatter(saved))[-1] == "saved_at"
    assert "saved_at: '2024-05-06T07:08:09Z'" in saved.document or "saved_at: 2024-05-06T07:08:09Z" in saved.document


def test_extraction_reads_no_clock_no_file_no_network_and_no_dice(monkeypatch: pytest.MonkeyPatch) -> None:
    html = f"<title>The wheel</title><article>{STORY}<pre><code>x</code></pre></article>"
    expected = extract(html, URL)

    def refuse(*_args: object, **_kwargs: object) -> Any:
        raise AssertionError("extraction looked outside")

    for name in ("time", "monotonic", "perf_counter", "time_ns", "process_time", "localtime", "gmtime"):
        monkeypatch.setattr(time, name, refuse)
    monkeypatch.setattr(builtins, "open", refuse)
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(random, "random", refuse)
    result = extract(html, URL)
    monkeypatch.undo()
    assert result == expected


def test_without_an_address_there_is_no_source() -> None:
    page = extract(STORY)
    assert page.url is None
    assert not {"source", "domain"} & set(frontmatter(page))


def test_what_needs_the_pages_address_is_said_to_be_left_out() -> None:
    html = (
        "<article>"
        + "<p>A mill by the sea, and what it grinds. </p>" * 30
        + '<p><img src="mill.jpg" alt="Mill"></p></article>'
    )
    warning = PageWarning(
        "unknown_address", "the page's own address is not known: relative links and pictures were left out"
    )
    assert warning in extract(html).trace.warnings
    assert warning not in extract(html, "https://example.com/").trace.warnings


def test_steps_are_timed_only_with_the_callers_timer() -> None:
    assert extract(STORY).trace.seconds == {}
    instants = iter(range(1_000))
    timed = extract(STORY, options=Options(timer=lambda: next(instants) / 1_000)).trace.seconds
    assert list(timed) == [step.name for step in pipeline.STEPS]
    assert all(seconds > 0 for seconds in timed.values())


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ("", ParseError),
        (b"  \n", ParseError),
        (b"PK\x03\x04", UnsupportedContent),
        (b"\x89PNG\r\n", UnsupportedContent),
    ],
)
def test_what_is_not_a_page_is_refused_with_advice(data: str | bytes, error: type[PagekeepError]) -> None:
    with pytest.raises(error) as caught:
        extract(data)
    assert caught.value.suggestions
    assert caught.value.to_json()["error"]["type"] == error.__name__


@pytest.mark.parametrize(
    "html", ["word", "<", "<!-- only a comment -->", "<html></html>", "<frameset></frameset>", "</p>", "\0x"]
)
def test_any_scrap_is_a_page_if_only_a_bookmark(html: str) -> None:
    assert extract(html).strategy == "bookmark"


def test_a_bookmark_without_a_description_shows_the_few_words_of_the_page() -> None:
    page = extract("<ol><li>Closed until the tide turns.</ol>")
    assert page.strategy == "bookmark"
    assert "Closed until the tide turns." in page.markdown
    described = extract('<meta name="description" content="A mill on the coast."><p>Closed until the tide turns.')
    assert described.text.strip() == "A mill on the coast."


def test_a_description_of_one_word_does_not_take_the_place_of_the_pages_own_words() -> None:
    page = extract("<meta name=description content='x! ...'><body>Closed until May.</body>")
    assert page.strategy == "bookmark"
    assert page.text == "Closed until May."


def test_a_bookmark_of_an_empty_shell_shows_nothing_that_is_around_it() -> None:
    page = extract('<p>Loading...</p><div id="root"></div><script src="/app/main.js"></script>')
    assert page.need_render
    assert page.text == ""


def test_the_result_as_json_holds_plain_types_only() -> None:
    def check(value: object) -> None:
        assert value is None or isinstance(value, (str, int, float, bool, list, dict))
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            check(inner)

    page = extract(f'<article>{STORY}<p><a href="/x">y</a><img src="/z.png"></p></article>', URL)
    made = page.to_json()
    check(made)
    assert made["links"] == [{"url": "https://mill.example/x", "text": "y"}]


def test_a_guessed_encoding_is_noted() -> None:
    page = extract(STORY.replace("same", "schön").encode("windows-1252"), URL)
    assert [warning.code for warning in page.trace.warnings] == ["encoding"]
    assert "windows-1252" in page.trace.warnings[0].text


def test_every_step_has_its_own_name_and_a_description() -> None:
    steps = [step for phase in pipeline.PHASES for step in phase.steps]
    names = [step.name for step in steps]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in names)
    assert all(step.description for step in steps)


def test_any_step_that_is_not_required_can_be_skipped() -> None:
    html = f"<title>The wheel</title><article>{STORY}<p><a href=/x>y</a><img src=/z.png></p></article>"
    for step in (step for phase in pipeline.PHASES for step in phase.steps):
        options = Options(skip_steps=frozenset({step.name}), timer=time.perf_counter)
        if step.required:
            with pytest.raises(NotOffered, match=f"'{step.name}' cannot be skipped"):
                extract(html, URL, options=options)
        else:
            page = extract(html, URL, options=options)
            assert SENTENCE in page.text
            assert step.name not in page.trace.seconds


def test_an_unknown_step_is_refused_with_the_names_of_all_that_can_be_skipped() -> None:
    with pytest.raises(NotFound, match="Unknown step: 'pars'") as caught:
        extract(STORY, options=Options(skip_steps=frozenset({"pars"})))
    names = caught.value.suggestions[0]
    assert "rules-before" in names
    assert "code-blocks" in names
    assert "sanitise" not in names


def test_removals_carry_the_name_of_their_step() -> None:
    html = f"<body><nav>Home and more pages</nav><article>{STORY}<p>Sea <textarea>draft</textarea></p></article>"
    page = extract(html, URL)
    assert page.trace.removals
    names = {step.name for phase in pipeline.PHASES for step in phase.steps} | {"container"}
    assert {removal.step for removal in page.trace.removals} <= names
    assert {"non-text"} <= {removal.step for removal in page.trace.removals}
    skipped = extract(html, URL, options=Options(skip_steps=frozenset({"non-text"})))
    assert "non-text" not in {removal.step for removal in skipped.trace.removals}


@pytest.mark.parametrize(
    ("place", "step"),
    [
        ("pagekeep.extraction.metadata.tags.choose", "tags"),
        ("pagekeep.extraction.metadata.detect_language", "language"),
        ("pagekeep.extraction.metadata.about._find_picture", "hero-image"),
        ("pagekeep.extraction.output.quality._checks", "quality"),
        ("pagekeep.extraction.output.quality.compare", "quality"),
        ("pagekeep.extraction.output.quality.record", "record-structures"),
        ("pagekeep.extraction.output.quality.expect", "expect-structures"),
        ("pagekeep.pipeline.report_removals", "report-removals"),
    ],
)
def test_a_failure_in_what_only_describes_the_content_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, place: str, step: str
) -> None:
    html = f"<title>The mill</title><body><nav>Home</nav><article><h1>The mill</h1>{STORY}</article>"
    whole = extract(html, URL)

    def fail(*_arguments: Any, **_named: Any) -> None:
        raise KeyError("princess")

    monkeypatch.setattr(place, fail)
    page = extract(html, URL)
    assert page.text == whole.text
    assert [warning.code for warning in page.trace.warnings if warning.code == "step_failed"] == ["step_failed"]
    assert any(f"the step {step} failed (KeyError)" in warning.text for warning in page.trace.warnings)
    if step == "quality":
        assert (page.quality.score, page.quality.colour) == (0, "yellow")
        assert page.quality.reason == "its quality could not be assessed"


def test_a_failure_in_what_makes_the_content_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: Any, **_named: Any) -> None:
        raise KeyError("p")

    monkeypatch.setattr("pagekeep.pipeline.sanitise_content", fail)
    with pytest.raises(KeyError):
        extract(STORY, URL)
