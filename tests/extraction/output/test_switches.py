"""The switches of `Options`: which strategies and extractors run, own selectors, the least content."""

from __future__ import annotations

import pytest

from pagekeep import Options, RuleError, extract
from pagekeep.model import Strategy

STORY = "".join(
    f"<p>On day {day} the keeper climbed the stairs, trimmed the wick and wrote the weather into his book, and came down "
    'again to mend the nets before the <a href="/boat">evening boat</a> arrived with letters.</p>'
    for day in range(12)
)
PAGE = f"""<!doctype html><html lang="en"><head><title>Stores</title><meta name="keywords" content="lamp, oil"></head>
<body><article id="story"><h1>Stores</h1>{STORY}<p><img src="/tower.jpg" alt="The tower" width="600" height="400"></p>
</article></body></html>"""
URL = "https://light.example/stores"


def test_everything_runs_by_default() -> None:
    page = extract(PAGE, URL)
    assert page.links
    assert page.media
    assert page.metadata.language == "en"
    assert page.metadata.keywords == ("lamp", "oil")
    assert page.document.endswith(page.markdown)


def test_each_extractor_can_be_switched_off() -> None:
    assert extract(PAGE, URL, options=Options(extract_links=False)).links == ()
    assert extract(PAGE, URL, options=Options(extract_media=False)).media == ()
    assert extract(PAGE, URL, options=Options(detect_language=False)).metadata.language is None
    about = extract(PAGE, URL, options=Options(extract_categories=False)).metadata
    assert (about.keywords, about.categories, about.suggested_tags) == ((), (), ())
    bare = extract(PAGE, URL, options=Options(enable_markdown=False))
    assert (bare.markdown, bare.document) == ("", "")
    assert bare.word_count > 100
    assert bare.quality == extract(PAGE, URL).quality


@pytest.mark.parametrize("strategy", ["readability", "simplified", "full_page"])
def test_only_the_strategies_named_are_tried(strategy: Strategy) -> None:
    page = extract(PAGE, URL, options=Options(strategies=(strategy,)))
    assert page.strategy == strategy
    assert {attempt.strategy for attempt in page.trace.attempts} == {strategy}


def test_without_a_strategy_there_is_a_bookmark() -> None:
    assert extract(PAGE, URL, options=Options(strategies=())).strategy == "bookmark"


def test_own_selectors_are_tried_first_by_the_simplified_strategy() -> None:
    html = PAGE.replace('<article id="story">', '<article><div id="mine">').replace("</article>", "</div></article>")
    page = extract(html, URL, options=Options(strategies=("simplified",), selectors=("#mine",)))
    assert page.selector == "#mine"
    with pytest.raises(RuleError, match=r"div\[ is not a CSS selector"):
        extract(html, URL, options=Options(selectors=("div[",)))


def test_too_little_content_makes_a_strategy_fail_with_its_reason() -> None:
    page = extract(PAGE, URL, options=Options(min_content_chars=1_000_000))
    assert page.strategy == "bookmark"
    assert "characters, under 1000000" in page.trace.attempts[0].reason
