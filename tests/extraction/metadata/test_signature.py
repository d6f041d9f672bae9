from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.extraction.input import structured
from pagekeep.extraction.metadata import author, clues


def names(html: str) -> list[str]:
    document = dom.parse(html)
    return author.find_signature(clues.collect(document, structured.read(document), "https://example.com/a/page"))


@pytest.mark.parametrize(
    "lines",
    [
        "<p>Ann Lee</p><p>March 5, 2024</p>",
        "<p>5.3.2024</p><span>/</span><p>Ann Lee</p>",
        "<p>Ann Lee</p><p>4 min read</p>",
        "<p>Ann Lee</p><p>Senior Writer</p>",
        "<p>Ann Lee | Senior Writer | March 5, 2024</p>",
        '<p><a href="/team/ann-lee">Ann Lee</a></p>',
        "<p>Ann Lee</p><p>in</p><a>Baking</a>",
        '<p>Ann Lee</p><div class="dynamic-author-note">Licensed miller</div>',
    ],
)
def test_name_beside_a_date_a_role_or_linked_to_a_person_signs_the_page(lines: str) -> None:
    assert names(f"<h1>How to bake</h1>{lines}<p>Text of the page.</p>") == ["Ann Lee"]


@pytest.mark.parametrize(
    "lines",
    [
        "<p>Sour Dough</p><p>March 5, 2024</p><p>Every loaf begins with sour milk and a dough of rye.</p>",
        '<a href="/category/bread">Ann Lee</a><p>March 5, 2024</p>',
        "<p>Ann Lee</p><p>Some words</p>",
        "<nav><p>Ann Lee</p><p>March 5, 2024</p></nav>",
        "<p>News</p><p>March 5, 2024</p>",
        "<p>To Bake</p><p>March 5, 2024</p>",
        '<a href="/news/rye-adoption/">Rye Adoption</a><p>March 5, 2024</p>',
        '<a href="/c/rye"><img src="a.png" alt="Rye Bread"><p>Rye Bread</p></a>',
    ],
)
def test_subjects_sections_and_other_lines_are_not_a_signature(lines: str) -> None:
    assert names(f"<h1>How to bake</h1>{lines}") == []


def test_login_that_links_to_its_own_page_next_to_the_date_signs_the_page() -> None:
    assert names('<h1>Notes</h1><a href="/u/RyeFan">RyeFan</a><span>Apr 27th, 2020</span>') == ["RyeFan"]
    assert names('<h1>Notes</h1><a href="/bread/rye">rye</a><span>Apr 27th, 2020</span>') == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Ann Lee", True), ("Ludwig van Beethoven", True), ("Anne-Lise O\u2019Hara", True), ("Élodie Dupont", True),
     ("ann lee", False), ("Ann", False), ("Bread & Butter", False), ("Ann Lee 3", False), ("A" * 90 + " Lee", False)],
)  # fmt: skip
def test_names_of_people_are_two_words_or_more_written_large(text: str, expected: bool) -> None:
    assert author.is_person(text) is expected
