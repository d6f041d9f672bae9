"""PDF files that we made, from bytes to Markdown."""

from __future__ import annotations

import pytest

from pagekeep.capture.documents.file_types import detect
from pagekeep.capture.documents.read import read_document
from pagekeep.model import Options, Page
from tests.capture.documents.tiny_pdf import TinyPage, make_pdf

WORDS = [
    "The harbour lies north of the town and is older than its walls, as the",
    "maps of the first keepers show; they drew the pier, the two lights and",
    "the long shed in which the nets were dried when the weather was bad.",
]


def read(data: bytes, url: str | None = None) -> Page:
    found = detect(data)
    assert found is not None
    return read_document(found, data, url, Options())


def markdown(*pages: TinyPage, url: str | None = None) -> str:
    return read(make_pdf(list(pages)), url).markdown


def test_lines_become_paragraphs_and_large_type_headings() -> None:
    page = TinyPage().write("The old harbour", 60, 80, 20).paragraph(WORDS, 60, 110).paragraph(WORDS, 60, 160)
    text = " ".join(WORDS)
    assert markdown(page) == f"# The old harbour\n\n{text}\n\n{text}\n"


def test_an_indented_first_line_begins_a_paragraph() -> None:
    page = TinyPage().paragraph(WORDS, 60, 100)
    page.write("Later it was left to the birds, until a school for boats came to it and", 75, 136)
    page.write("mended the roof of the shed.", 60, 148)
    assert markdown(page).count("\n\n") == 1


def test_two_columns_written_one_after_the_other_are_read_one_after_the_other() -> None:
    page = TinyPage()
    for x in (60, 310):
        page.paragraph(
            [f"{side} {number} word word word word" for number in range(9) for side in ("l" if x == 60 else "r",)],
            x,
            100,
        )
    text = markdown(page)
    assert text.index("l 8") < text.index("r 0")


def test_two_columns_written_across_the_page_are_read_one_after_the_other() -> None:
    page = TinyPage()
    for number in range(9):
        page.write(f"left {number} word word word word word word", 60, 100 + 12 * number)
        page.write(f"right {number} word word word word word", 310, 100 + 12 * number)
    text = markdown(page)
    assert text.index("left 8") < text.index("right 0")


def test_running_heads_and_page_numbers_are_removed() -> None:
    pages = [
        TinyPage()
        .write(f"Annals of the harbour {number}", 60, 30)
        .paragraph(WORDS, 60, 100)
        .write(str(number), 290, 815)
        for number in (1, 2, 3)
    ]
    page = read(make_pdf(pages))
    assert "Annals" not in page.markdown
    assert "1" not in page.markdown
    assert {removal.step for removal in page.trace.removals} == {"pdf-running-heads"}


def test_a_paragraph_over_two_pages_is_one() -> None:
    first = TinyPage().paragraph([*WORDS, "The keepers of the second light wrote every"], 60, 100)
    second = TinyPage().paragraph(["ship into a book that is still there.", *WORDS], 60, 100)
    assert "wrote every ship into a book" in markdown(first, second)


def test_typewriter_lines_are_code_with_their_indents() -> None:
    page = TinyPage().paragraph(WORDS, 60, 100).paragraph(["def tide(x):", "return x", "", "tide(1)"], 60, 160, 9, "F3")
    page.texts[-3].x += 4 * 5.4
    assert "```\ndef tide(x):\n    return x\n\ntide(1)\n```" in markdown(page)


def test_bullets_and_numbers_make_lists() -> None:
    page = TinyPage().paragraph(WORDS, 60, 100)
    for number, text in enumerate(["nets", "ropes that are long"]):
        page.write("\u2022", 70, 160 + 12 * number).write(text, 82, 160 + 12 * number)
    for number, text in enumerate(["row out", "row back"]):
        page.write(f"{number + 1}.", 70, 200 + 12 * number).write(text, 84, 200 + 12 * number)
    assert "- nets\n- ropes that are long\n\n1. row out\n2. row back" in markdown(page)


def test_a_table_with_drawn_lines_is_a_table() -> None:
    page = TinyPage().paragraph(WORDS, 60, 60)
    for row, cells in enumerate([("Boat", "Length"), ("Anna", "7 m"), ("Bertha the old", "12 m")]):
        for column, cell in enumerate(cells):
            page.write(cell, 64 + column * 120, 214 + row * 20)
    page.rules += [(60, 200 + y * 20, 300, 200 + y * 20) for y in range(4)]
    page.rules += [(60 + x * 120, 200, 60 + x * 120, 260) for x in range(3)]
    assert "| Boat | Length |\n| --- | --- |\n| Anna | 7 m |\n| Bertha the old | 12 m |" in markdown(page)


def test_aligned_rows_without_lines_are_a_table() -> None:
    page = TinyPage().paragraph(WORDS, 60, 60)
    for row, cells in enumerate([("Boat", "Length"), ("Anna", "7 m"), ("Bertha", "12 m"), ("Clara", "9 m")]):
        for column, cell in enumerate(cells):
            page.write(cell, 64 + column * 120, 214 + row * 14)
    assert "| Boat | Length |\n| --- | --- |\n| Anna | 7 m |" in markdown(page)


def test_links_are_kept() -> None:
    page = TinyPage().paragraph(WORDS, 60, 100)
    page.links.append((58, 90, 104, 104, "https://example.com/h"))
    assert "[The harbour](https://example.com/h) lies" in markdown(page)


def test_hyphens_at_line_ends_are_undone_where_the_document_is_hyphenated() -> None:
    lines = [
        "the keep-",
        "ers of the har-",
        "bour wrote a jour-",
        "nal of a well-known kind, and the well-",
        "known light",
    ]
    text = markdown(TinyPage().paragraph(lines, 60, 100))
    assert text == "the keepers of the harbour wrote a journal of a well-known kind, and the well-known light\n"


def test_footnotes_are_collected() -> None:
    page = (
        TinyPage()
        .paragraph([*WORDS, "It closed early"], 60, 100)
        .write("1", 122, 132, 6)
        .write("and stayed so.", 129, 136)
    )
    page.write("1", 60, 756, 5).write("In the year of the great storm, says the book.", 66, 760, 8)
    text = markdown(page)
    assert "early[^1] and stayed so." in text
    assert "[^1]: In the year of the great storm, says the book." in text


def test_the_title_comes_from_the_info_if_the_first_page_confirms_it() -> None:
    page = TinyPage().write("The old harbour", 60, 80, 20).paragraph(WORDS, 60, 110)
    confirmed = read(make_pdf([page], {"Title": "The Old Harbour", "Author": "Ann Lee"})).metadata
    assert (confirmed.title, confirmed.author) == ("The Old Harbour", "Ann Lee")
    assert read(make_pdf([page], {"Title": "Microsoft Word - draft3.doc"})).metadata.title == "The old harbour"
    assert read(make_pdf([page], {"Title": "Invoice template"})).metadata.title == "The old harbour"


def test_headings_name_their_page() -> None:
    pages = [TinyPage().write(f"Part {name}", 60, 80, 20).paragraph(WORDS, 60, 110) for name in ("one", "two")]
    assert '<h1 data-page="2">Part two</h1>' in read(make_pdf(pages)).html


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"%PDF-1.4\nnothing", "damaged_file"),
        (make_pdf([TinyPage()]), "empty_file"),
        (make_pdf([TinyPage(raw="q 500 0 0 700 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x00 EI Q")]), "scanned_file"),
    ],
)
def test_a_file_without_readable_text_is_a_bookmark_that_says_why(data: bytes, kind: str) -> None:
    page = read(data)
    assert page.caught is not None
    assert (page.caught.kind, page.strategy, page.quality.level) == (kind, "bookmark", "bookmark")
    assert page.quality.reason == page.caught.reason


def test_the_same_bytes_give_the_same_page() -> None:
    data = make_pdf([TinyPage().write("The old harbour", 60, 80, 20).paragraph(WORDS, 60, 110)])
    assert read(data) == read(data)
