"""How a thread is built."""

from __future__ import annotations

from collections.abc import Callable

from pagekeep.extraction.locate import profiles, survey
from pagekeep.extraction.locate.page_facts import Content, PageFacts, find_kept
from pagekeep.extraction.locate.profiles import PROFILES
from pagekeep.extraction.locate.strategies import readability
from pagekeep.extraction.locate.survey import Sign, Survey

Surveyed = Callable[[str], Survey]
FactsOf = Callable[..., PageFacts]

FORUM = PROFILES["forum"]
QUESTION = "Does anybody know how to keep the great wheel from freezing when the stream runs low in January?"
ANSWER = "We hang sacks of straw over the axle every evening, and the ice has never reached the bearings since."
REMARK = "Which straw do you take for that, the long one from the upper fields or the short one?"
REMARKS = f"<ul class='comments'><li class='comment'>{REMARK}</li></ul>"
CELLS = f"<div class='postcell'><p>{QUESTION}</p></div>{REMARKS}<div class='answercell'><p>{ANSWER}</p></div>{REMARKS}"
COMMENTS = (
    f"<p>{QUESTION}</p><ul class='comments'><li class='comment'>{ANSWER}</li><li class='comment'>{REMARK}</li></ul>"
)


def kept_text(facts: PageFacts, content: Content | None) -> str:
    assert content is not None
    return " ".join(text for kept in find_kept(facts.survey, content) for text in facts.survey.texts_in(*kept))


def container_of(found: Survey) -> int | None:
    own = survey.measure_own_text(found)
    return profiles.find_thread_container(found, bytearray(len(found.nodes)), survey.sum_blocks(found, own, 1), own)


def test_remarks_below_posts_are_not_posts(surveyed: Surveyed) -> None:
    settled = profiles.adjust_profile(surveyed(CELLS), FORUM)
    assert not settled.ignored & int(Sign.COMMENTS)
    assert settled.ignored & int(Sign.AUTHOR_BOX)


def test_comments_that_are_the_thread_stay_its_posts(surveyed: Surveyed) -> None:
    assert profiles.adjust_profile(surveyed(COMMENTS), FORUM) is FORUM


def test_posts_within_something_named_reply_stay(surveyed: Surveyed) -> None:
    assert profiles.adjust_profile(surveyed(f"<div class='reply-container'>{CELLS}</div>"), FORUM) is FORUM


def test_a_question_and_its_answers_come_without_the_remarks(facts_of: FactsOf) -> None:
    facts = facts_of(CELLS, "forum")
    text = kept_text(facts, readability.locate(facts))
    assert QUESTION in text
    assert ANSWER in text
    assert REMARK not in text


def test_the_container_is_around_all_posts(surveyed: Surveyed) -> None:
    posts = f"<div id='q'><div class='postcell'><p>{QUESTION}</p></div></div><div id='a'><div class='answercell'><p>{ANSWER * 9}</p></div></div>"
    found = surveyed(f"<p>Welcome, visitor.</p><div id='thread'>{posts}</div><p>Forum software by the mill.</p>")
    root = container_of(found)
    assert root is not None
    assert found.nodes[root].attr("id") == "thread"  # type: ignore[attr-defined]


def test_posts_are_known_by_their_numbers(surveyed: Surveyed) -> None:
    posts = "".join(
        f"<div><table id='post{17 + i}'><tr><td>{text}</td></tr></table></div>"
        for i, text in enumerate([QUESTION, ANSWER])
    )
    found = surveyed(
        f"<p>Welcome, visitor.</p><div id='posts'>{posts}</div><div id='notice1'>x</div><div id='notice2'>y</div>"
    )
    root = container_of(found)
    assert root is not None
    assert found.nodes[root].attr("id") == "posts"  # type: ignore[attr-defined]


def test_what_the_comments_comment_on_belongs_to_the_thread(surveyed: Surveyed) -> None:
    comments = "".join(
        f"<li class='comment' id='comment-{i}'>{text}</li>" for i, text in enumerate([ANSWER, REMARK, ANSWER])
    )
    head = f"<div><p>{QUESTION} (the notice of a forum that is being moved)</p><h1>The frozen wheel</h1></div>"
    found = surveyed(f"{head}<main><div><p>{QUESTION}</p></div><ul>{comments}</ul></main>")
    root = container_of(found)
    assert root is not None
    assert found.tag[root] == "main"


def test_posts_with_little_of_the_page_are_not_the_content(surveyed: Surveyed) -> None:
    found = surveyed(
        f"<main><p>{ANSWER * 9}</p></main><aside><div id='teaser-1'>One more</div><div id='teaser-2'>Two more</div></aside>"
    )
    assert container_of(found) is None


def test_a_page_without_posts_has_no_container(surveyed: Surveyed) -> None:
    assert container_of(surveyed(f"<p>{QUESTION}</p><p>{ANSWER}</p>")) is None
