"""Whether two pages are of the same article."""

from __future__ import annotations

import pytest

from pagekeep.extraction.pages import compare
from pagekeep.model import Metadata

URL = "https://paper.example/s/story"
FIRST = Metadata(title="The mill by the tide")
TEXT = "The miller counted the sacks. " + " ".join(f"Sack {number} was full of grain." for number in range(40))


@pytest.mark.parametrize(
    "title",
    ["The mill by the tide", "The Mill by the Tide - Page 2", "The mill by the tide (2/5)", "The mill by the tide 2",
     "Page 2: The mill by the tide", "The mill by the tide, page 2 of 5", "The mill by the tide (2 of 5)"],
)  # fmt: skip
def test_same_title_with_the_number_of_the_page(title: str) -> None:
    assert compare.same_work(FIRST, URL, Metadata(title=title), 2)


@pytest.mark.parametrize(
    "title", [None, "", "Sails", "The mill by the tide: sails", "The mill by the tide 3", "The mill, part 2"]
)
def test_other_titles(title: str | None) -> None:
    assert compare.same_work(FIRST, URL, Metadata(title=title), 2) is None


def test_page_that_names_the_first_one_belongs_to_it() -> None:
    other = Metadata(title="Sails", canonical="http://www.paper.example/s/story/")
    assert compare.same_work(FIRST, URL, other, 2)
    assert compare.same_work(FIRST, URL, Metadata(title="Sails", canonical=f"{URL}?page=2"), 2) is None


def test_pages_without_titles_are_not_the_same_work() -> None:
    assert compare.same_work(Metadata(), URL, Metadata(), 2) is None


def test_new_text_is_recognised_beside_what_is_repeated() -> None:
    new = " ".join(f"Boat {number} came in late." for number in range(20))
    assert compare.why_known(f"{TEXT}\n\n{new}", [TEXT]) is None
    assert compare.why_known(TEXT, [TEXT]) == "it has no new text"
    assert compare.why_known(f"So: {TEXT}", [TEXT])
    assert compare.why_known("", [TEXT])


def test_whole_text_contains_the_first_page_and_more() -> None:
    more = f"{TEXT} " + " ".join(f"Boat {number} came in late." for number in range(20))
    assert compare.lacks(more, TEXT) is None
    assert compare.lacks(TEXT, TEXT)
    assert compare.lacks("Another text altogether. " * 100, TEXT)
