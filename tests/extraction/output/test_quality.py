"""How good a result is said to be."""

from __future__ import annotations

from typing import Any

import pytest

from pagekeep import dom, extract, markdown
from pagekeep.extraction.output import quality
from pagekeep.extraction.output.quality import NOT_COMPARED, Comparison
from pagekeep.model import Metadata, Quality, Strategy
from pagekeep.text import count_words

THERE = Comparison()
TITLED = Metadata(title="The mill", author="Ada Quist")
SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the wheel stood still."


def assess(
    html: str,
    strategy: Strategy = "readability",
    metadata: Metadata = TITLED,
    reason: str | None = None,
    *,
    comparison: Comparison = THERE,
    is_cut: bool = False,
    **other: Any,
) -> Quality:
    root = dom.parse_fragment(html)
    text = markdown.to_text(root)
    values: dict[str, Any] = {
        "root": root,
        "html": html,
        "text": text,
        "markdown": markdown.to_markdown(root),
        "word_count": count_words(text),
    }
    return quality.assess(quality.Output(**values | other), strategy, metadata, reason, comparison, is_cut=is_cut)


def paragraphs(sentence: str, count: int) -> str:
    return "".join(f"<p>{sentence}</p>" for _ in range(count))


@pytest.mark.parametrize(
    ("strategy", "level", "colour", "message"),
    [
        ("readability", "article", "green", "Article captured (540 words)"),
        ("simplified", "simplified", "yellow", "Article captured (simplified)"),
        ("full_page", "simplified", "yellow", "Article captured (simplified)"),
        ("bookmark", "bookmark", "orange", "Saved as bookmark - extraction failed"),
    ],
)
def test_level_colour_and_message_follow_the_strategy(
    strategy: Strategy, level: str, colour: str, message: str
) -> None:
    judged = assess(paragraphs(SENTENCE, 30), strategy)
    assert (judged.level, judged.colour, judged.message) == (level, colour, message)


def test_a_short_result_is_not_a_green_article_and_says_why() -> None:
    judged = assess(paragraphs(SENTENCE, 2))
    assert judged.score < 60
    assert (judged.level, judged.colour) == ("simplified", "yellow")
    assert judged.reason == f"it scores {judged.score} of 100, under 60"


def test_a_page_that_was_cut_scores_low_whatever_its_length() -> None:
    whole, cut = assess(paragraphs(SENTENCE, 200)), assess(paragraphs(SENTENCE, 200), is_cut=True)
    assert (whole.score, whole.level) == (100, "article")
    assert (cut.score, cut.level, cut.colour) == (50, "simplified", "yellow")
    assert cut.reason is not None
    assert "its end was left out" in cut.reason


def test_the_reason_of_a_failure_is_handed_on() -> None:
    assert assess("", "bookmark", reason="no words").reason == "no words"


def test_the_score_runs_from_nothing_to_a_hundred() -> None:
    assert assess("", metadata=Metadata()).score == 0
    assert assess(paragraphs(SENTENCE, 40)).score == 100


def test_a_title_is_worth_twenty() -> None:
    html = paragraphs(SENTENCE, 5)
    assert assess(html).score - assess(html, metadata=Metadata()).score == 20


def test_more_text_never_scores_less() -> None:
    scores = [assess(paragraphs(SENTENCE, count)).score for count in range(0, 40, 3)]
    assert scores == sorted(scores)
    assert scores[0] < scores[-1]


def test_signs_of_markdown_in_the_text_are_not_structure() -> None:
    plain = assess(f"<p>{SENTENCE} {SENTENCE} {SENTENCE}</p>")
    signs = assess(f"<p>{SENTENCE} # * - # * - # * - {SENTENCE} - - - * * # # {SENTENCE}</p>")
    assert plain.score == signs.score


@pytest.mark.parametrize(
    "sentence",
    [
        "磨坊主一袋一袋地数着麻袋，直到潮水再次转向，巨大的水轮停了下来。",
        "粉屋は潮が再び変わり大きな水車が止まるまで袋を一つずつ数えていました。",
        "คนสีข้าวนับกระสอบทีละใบจนกระแสน้ำเปลี่ยนทิศอีกครั้งและกังหันใหญ่ก็หยุดนิ่งไม่หมุนอีกต่อไปในคืนนั้นเอง",
        "عد الطحان الأكياس واحدا تلو الآخر حتى انقلب المد مرة أخرى وتوقفت العجلة الكبيرة عن الدوران تماما",
        "चक्कीवाले ने एक एक करके बोरियाँ गिनीं जब तक ज्वार फिर से नहीं मुड़ा और बड़ा पहिया रुक नहीं गया।",
        "Мельник считал мешки один за другим пока не сменился прилив и большое колесо не остановилось совсем",
    ],
)
@pytest.mark.parametrize("count", [3, 15, 60])
def test_any_script_scores_like_english_of_the_same_length(sentence: str, count: int) -> None:
    assert abs(assess(paragraphs(sentence, count)).score - assess(paragraphs(SENTENCE, count)).score) <= 15


def checks(html: str, **other: Any) -> dict[str, bool]:
    return {check.name: check.passed for check in assess(html, **other).checks}


def test_a_good_article_passes_every_check() -> None:
    assert set(checks(paragraphs(SENTENCE, 20)).values()) == {True}


def test_every_check_gives_its_reason() -> None:
    assert all(check.reason for check in assess("", metadata=Metadata()).checks)


def test_few_words_fail_the_check_on_words() -> None:
    assert not checks(paragraphs(SENTENCE, 3))["words"]


def test_two_paragraphs_fail_the_check_on_paragraphs() -> None:
    assert not checks(paragraphs(SENTENCE * 9, 2))["paragraphs"]
    assert checks(paragraphs(SENTENCE * 9, 3))["paragraphs"]


def test_much_markup_fails_the_check_on_text_density() -> None:
    link = '<p><a href="https://mill.example/' + "a" * 300 + '">few</a></p>'
    assert not checks(link * 20)["text_density"]


def test_much_text_in_links_fails_the_check_on_links() -> None:
    html = f'<p>{SENTENCE} <a href="https://mill.example/">{SENTENCE}</a></p>' * 5
    assert not checks(html)["link_density"]


@pytest.mark.parametrize(
    ("metadata", "passed"),
    [
        (Metadata(title="T", author="A"), True),
        (Metadata(title="T", published="2024-05-06"), True),
        (Metadata(title="T"), False),
        (Metadata(author="A", published="2024-05-06"), False),
    ],
)
def test_a_title_with_author_or_date_passes_the_check_on_metadata(metadata: Metadata, passed: bool) -> None:
    assert checks(paragraphs(SENTENCE, 3), metadata=metadata)["metadata"] is passed


def test_an_article_that_lost_something_is_not_green() -> None:
    judged = assess(paragraphs(SENTENCE, 60), comparison=Comparison(("1 of 1 code blocks lost",)))
    check = next(check for check in judged.checks if check.name == "nothing_lost")
    assert not check.passed
    assert (judged.level, judged.colour, judged.reason) == ("simplified", "yellow", "1 of 1 code blocks lost")


def test_what_was_not_compared_is_not_claimed() -> None:
    judged = assess(paragraphs(SENTENCE, 60), comparison=NOT_COMPARED)
    assert judged.level == "simplified"
    assert judged.reason == "nothing was compared with the page"


def test_one_paragraph_is_counted_in_the_singular() -> None:
    page = extract("<title>x</title><article><p>One paragraph of the sea with a few words.</p></article>")
    reasons = {check.name: check.reason for check in page.quality.checks}
    assert reasons["paragraphs"] == "1 paragraph"
