"""The plain words of `--explain`."""

from __future__ import annotations

from dataclasses import replace

from pagekeep.model import Attempt, Check, Metadata, Page, Quality, Removal, Trace
from pagekeep.present.explain import MAX_REMOVAL_KINDS, explain

LOST = Attempt("readability", False, "only 12 words, 100 are needed", 12, seconds=0.0021)
WON = Attempt("simplified", True, "`main` passes every check", 240, seconds=0.0004)


def page(**changes: object) -> Page:
    made = Page(
        url="https://tide.example/table",
        markdown="",
        document="",
        html="",
        text="",
        metadata=Metadata(
            title="Tide table", keywords=("sea", "moon"), origins={"title": "json-ld", "keywords": "meta"}
        ),
        links=(),
        media=(),
        kind="documentation",
        quality=Quality(71, "simplified", "yellow", "Article captured (simplified)"),
        strategy="simplified",
        trace=Trace(attempts=(LOST, WON), kind_reasons=("the address has /docs/",)),
        word_count=240,
        reading_time="2 min",
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def with_removals(*removals: Removal) -> str:
    return explain(page(trace=Trace(removals=removals)))


def test_says_which_level_won_and_why() -> None:
    text = explain(page())
    assert "Known content containers won: `main` passes every check." in text
    assert "Article captured (simplified). Quality 71 of 100." in text


def test_says_why_a_level_lost_and_how_long_it_took() -> None:
    assert "1. Readability scoring lost with 12 words, 2.1 ms: only 12 words, 100 are needed." in explain(page())


def test_names_no_time_without_a_timer() -> None:
    text = explain(page(trace=Trace(attempts=(replace(LOST, seconds=None), replace(WON, seconds=None)))))
    assert "lost with 12 words: " in text
    assert " ms" not in text


def test_levels_after_the_winner_were_not_needed() -> None:
    assert "3. The whole page without boilerplate: not needed." in explain(page())


def test_bookmark_says_why_extraction_failed() -> None:
    quality = Quality(5, "bookmark", "orange", "Saved as bookmark - extraction failed", reason="the page has no text")
    text = explain(page(strategy="bookmark", quality=quality, trace=Trace(attempts=(LOST,))))
    assert "Extraction failed: the page has no text." in text
    assert "4. A bookmark of the metadata: won." in text


def test_lists_each_check_with_its_verdict() -> None:
    checks = (Check("words", True, "240 of at least 100"), Check("title", False, "no author, no date."))
    text = explain(page(quality=Quality(71, "article", "green", "Article captured (240 words)", checks=checks)))
    assert "passed  words: 240 of at least 100." in text
    assert "failed  title: no author, no date.\n" in text


def test_says_what_kind_of_page_and_why() -> None:
    assert "Kind: documentation, because the address has /docs/." in explain(page())


def test_metadata_names_its_origin() -> None:
    text = explain(page())
    assert "title: Tide table (json-ld)" in text
    assert "keywords: sea, moon (meta)" in text


def test_equal_removals_share_a_line_and_the_wordiest_come_first() -> None:
    advert, share = Removal("div.promo", "advertising", 4), Removal("div.share", "share buttons", 30)
    text = with_removals(advert, share, advert)
    assert "Removed: 3 elements with 38 words" in text
    assert "div.promo (2 times), 8 words: advertising." in text
    assert text.index("div.share") < text.index("div.promo")


def test_long_list_of_removals_is_cut_and_says_so() -> None:
    removals = [Removal(f"div.box-{number}", "empty", 1) for number in range(MAX_REMOVAL_KINDS + 7)]
    text = with_removals(*removals)
    assert text.count("div.box-") == MAX_REMOVAL_KINDS
    assert "... and 7 more kinds with fewer words." in text


def test_verbose_lists_every_removal() -> None:
    removals = tuple(Removal(f"div.box-{number}", "empty", 1) for number in range(MAX_REMOVAL_KINDS + 7))
    text = explain(page(trace=Trace(removals=removals)), verbose=True)
    assert text.count("div.box-") == len(removals)
    assert "more kind" not in text


def test_removals_are_grouped_by_the_step_that_made_them() -> None:
    text = with_removals(
        Removal("p.tide", "rule tide", 6),
        Removal("div.ad", "advertising", 4, "boilerplate"),
        Removal("img", "tracking pixel", 0, "images"),
        Removal("div.nav", "navigation", 9, "boilerplate"),
    )
    assert text.endswith(
        """\
Removed: 4 elements with 19 words
  p.tide, 6 words: rule tide.
  boilerplate: 2 elements with 13 words
    div.nav, 9 words: navigation.
    div.ad, 4 words: advertising.
  images: 1 element with 0 words
    img: tracking pixel.
"""
    )


def test_the_time_of_each_step_is_for_verbose() -> None:
    timed = page(trace=Trace(seconds={"parse": 0.0012, "cut": 0.0003}))
    assert explain(timed).endswith("Time\n  Total: 1.5 ms\n")
    assert explain(timed, verbose=True).endswith("Time\n  Total: 1.5 ms\n  parse: 1.2 ms\n  cut: 0.3 ms\n")


def test_page_cannot_steer_the_terminal() -> None:
    text = with_removals(Removal("div.\x1b]0;owned\x07", "style\x9b31m", 1))
    assert not any(char for char in text if not char.isprintable() and char != "\n")


def test_empty_sections_are_left_out() -> None:
    text = explain(page(trace=Trace(), metadata=Metadata()))
    assert "Warnings" not in text
    assert "Metadata" not in text
    assert "Removed" not in text
    assert "Time" not in text
