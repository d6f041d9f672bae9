"""What typesetters do with text: accents from two characters, indents, quotes, bylines, notes that repeat."""

from __future__ import annotations

from pagekeep.capture.documents.file_types import detect
from pagekeep.capture.documents.read import read_document
from pagekeep.model import Options
from tests.capture.documents.tiny_pdf import TinyPage, make_pdf

WORDS = [
    "The harbour lies north of the town and is older than its walls, as the",
    "maps of the first keepers show; they drew the pier, the two lights and",
    "the long shed in which the nets were dried when the weather was bad.",
]
FULL = " ".join(WORDS)


def markdown(*pages: TinyPage) -> str:
    data = make_pdf(list(pages))
    found = detect(data)
    assert found is not None
    return read_document(found, data, None, Options()).markdown


def test_an_accent_drawn_over_a_letter_becomes_one_letter_with_it() -> None:
    page = TinyPage().write("caf", 60, 100, 20).write("e au lait", 88.9, 100, 20).write("\u00b4", 91.1, 100, 20)
    assert "café au lait" in markdown(page)


def test_a_backtick_in_code_stays() -> None:
    page = TinyPage().paragraph(WORDS, 60, 100).paragraph(["echo `date`", "ls -l `pwd`"], 60, 160, 9, "F3")
    assert "echo `date`" in markdown(page)


def test_a_line_with_the_indent_of_first_lines_begins_a_paragraph() -> None:
    page = TinyPage()
    for number in range(4):
        page.write("The keepers of the second light wrote every ship into a book,", 75, 100 + 36 * number)
        page.write("which is still there, with the names of all who came by, and that of the", 60, 112 + 36 * number)
        page.write("weather", 60, 124 + 36 * number)
    page.write("h = a + b", 75, 244).write(
        "Nobody has counted them, though a teacher of the town tried it in his", 75, 256
    )
    page.write("last years.", 60, 268)
    assert "\n\nh = a + b\n\nNobody has counted" in markdown(page)


def test_a_paragraph_with_a_distance_from_both_edges_is_a_quote() -> None:
    quoted = ["No ship that came to us in the winter", "ever left before the first of April."]
    page = TinyPage().paragraph(WORDS, 60, 100).paragraph(quoted, 90, 150).paragraph(WORDS, 60, 188)
    assert f"\n\n> {' '.join(quoted)}\n\n" in markdown(page)


def test_the_line_of_the_author_is_not_a_heading() -> None:
    page = TinyPage().write("The old harbour", 220, 60, 20).write("Ann Lee", 270, 90, 13).paragraph(WORDS, 60, 130)
    page.write("The pier", 60, 190, 15, "F2").paragraph(WORDS, 60, 210)
    text = markdown(page)
    assert "# The old harbour\n\nAnn Lee\n\n" in text
    assert "## The pier" in text


def test_a_bold_line_in_the_middle_above_the_abstract_is_a_heading() -> None:
    page = TinyPage().write("The old harbour", 220, 60, 20).write("Abstract", 197, 90, 9, "F2")
    page.paragraph(WORDS, 80, 104, 9).write("The pier", 60, 190, 15, "F2")
    for number in range(3):
        page.paragraph(WORDS, 60, 210 + 50 * number)
    assert "## Abstract" in markdown(page)


def test_notes_that_differ_by_their_numbers_are_not_running_heads() -> None:
    pages = []
    for number in (1, 2, 3):
        page = TinyPage().paragraph([*WORDS, "It closed early"], 60, 100).write(str(number), 129, 132, 6)
        page.write(str(number), 60, 780, 8).write(f"As above, page {number}7 of the book.", 70, 780, 8)
        pages.append(page)
    text = markdown(*pages)
    assert [f"[^{number}]: As above, page {number}7 of the book." in text for number in (1, 2, 3)] == [True] * 3


def test_numbered_chapters_at_the_top_of_every_page_stay() -> None:
    pages = [TinyPage().write(f"Chapter {number}", 60, 80, 18).paragraph(WORDS, 60, 110) for number in (1, 2, 3)]
    assert [line for line in markdown(*pages).splitlines() if line.startswith("#")] == [
        "# Chapter 1",
        "# Chapter 2",
        "# Chapter 3",
    ]


def test_bullets_far_from_their_items_are_a_list() -> None:
    page = TinyPage().paragraph(WORDS, 60, 100)
    for number, text in enumerate(["nets", "ropes", "oars and rowlocks", "lanterns"]):
        page.write("\u2022", 70, 160 + 12 * number).write(text, 95, 160 + 12 * number)
    assert "- nets\n- ropes\n- oars and rowlocks\n- lanterns" in markdown(page)


def test_a_short_line_ends_an_item_before_text_below_it() -> None:
    page = TinyPage().paragraph(WORDS, 60, 100).write("1.", 60, 160).write("nets", 72, 160).write("2.", 60, 172)
    page.write("ropes", 72, 172).paragraph(WORDS, 72, 184)
    assert f"2. ropes\n\n{FULL}" in markdown(page)


def test_a_hyphen_before_and_stays_with_its_space() -> None:
    lines = ["The keep-", "ers note high-", "and low water in a jour-", "nal for visi-", "tors."]
    assert markdown(TinyPage().paragraph(lines, 60, 100)).startswith(
        "The keepers note high- and low water in a journal"
    )


def test_a_title_between_two_columns_does_not_make_them_one() -> None:
    page = TinyPage().write("The old harbour", 230, 60, 20)
    for x in (60, 310):
        lines = ["word word word word word word word word word"] * 8
        lines[3] = "word word word word word ends here."
        page.paragraph([*lines[:4], "Next " + lines[0][:39], *lines[5:]], x, 100)
    assert "ends here. Next" not in markdown(page)


def test_a_table_of_contents_is_a_list_without_dots_and_page_numbers() -> None:
    page = TinyPage().write("Contents", 60, 60, 18).write("1 The pier", 60, 90, 10, "F2").write("3", 400, 90, 10, "F2")
    for number in range(5):
        y = 104 + 14 * number
        page.write(f"1.{number + 1}", 75, y).write("Boats", 100, y).write(". . . . . . . . .", 300, y)
        page.write(str(number + 3), 400, y)
    assert markdown(page).startswith("# Contents\n\n- **1 The pier**\n  - 1.1 Boats\n  - 1.2 Boats\n")


def test_page_numbers_above_the_foot_of_the_page_are_removed() -> None:
    pages = [TinyPage().paragraph(WORDS, 60, 100).write(str(number), 200, 600) for number in (7, 8, 9)]
    assert markdown(*pages) == "\n\n".join([FULL] * 3) + "\n"


def test_heads_of_chapters_with_page_numbers_are_removed() -> None:
    heads = ["The pier 7", "8 The pier", "The lights 9", "10 Nets and ropes"]
    text = markdown(*[TinyPage().write(head, 60, 40).paragraph(WORDS, 60, 100) for head in heads])
    assert "pier 7" not in text
    assert "10 Nets" not in text


def test_a_title_that_is_also_the_running_head_stays() -> None:
    pages = [TinyPage().write("The old harbour", 60, 30, 8) for _ in range(3)]
    pages[0].write("The old harbour", 60, 80, 20)
    assert markdown(*[page.paragraph(WORDS, 60, 110) for page in pages]).startswith(
        "# The old harbour\n\nThe harbour lies"
    )


def test_numbers_of_lines_are_not_part_of_code() -> None:
    page = TinyPage().paragraph(WORDS, 60, 100)
    for number, line in enumerate(["def tide(x):", "return x", "tide(1)"]):
        page.write(str(number + 1), 60, 160 + 11 * number, 6).write(line, 80, 160 + 11 * number, 9, "F3")
    assert "```\ndef tide(x):\nreturn x\ntide(1)\n```" in markdown(page)


def test_items_in_a_typewriter_font_are_items() -> None:
    page = TinyPage().paragraph(WORDS, 60, 100)
    for number, word in enumerate(["INTEGER", "BIT STRING"]):
        page.write("\u2022", 70, 160 + 12 * number).write(word, 82, 160 + 12 * number, 10, "F3")
    assert "- `INTEGER`\n- `BIT STRING`" in markdown(page)


def test_sections_of_the_same_depth_have_the_same_level() -> None:
    page = TinyPage().write("The old harbour", 60, 60, 20)
    for number, font in enumerate(["F2", "F2", "F4"]):
        page.write(f"1.{number + 1} Boats", 60, 90 + 70 * number, 13, font).paragraph(WORDS, 60, 110 + 70 * number)
    assert [line for line in markdown(page).splitlines() if line.startswith("##")] == [
        f"## 1.{number} Boats" for number in (1, 2, 3)
    ]


def test_text_beside_headings_further_left_is_not_a_quote() -> None:
    page = TinyPage().write("The pier", 60, 80, 15, "F2").paragraph(WORDS, 90, 100).paragraph(WORDS, 90, 150)
    page.write("A long line of the book that ends far to the right of all the other lines on this page", 60, 200)
    assert ">" not in markdown(page)


def test_cells_that_wrap_in_a_table_without_lines_stay_together() -> None:
    page = TinyPage().paragraph(WORDS, 60, 60)
    for row, cells in enumerate([("Boat", "State"), ("Anna", "in use"), ("Bertha", "under"), ("Clara", "sold")]):
        for column, cell in enumerate(cells):
            page.write(cell, 64 + column * 120, 214 + row * 30)
        if row == 2:
            page.write("repair", 184, 214 + row * 30 + 12)
    assert "| Bertha | under repair |\n| Clara | sold |" in markdown(page)


def test_a_table_drawn_cell_by_cell_has_its_columns_from_the_lines() -> None:
    page = TinyPage().paragraph(WORDS, 60, 60)
    for row, cells in enumerate([("Boat", "State"), ("Anna", "in use"), ("Bertha the", "sold")]):
        for column, cell in enumerate(cells):
            page.write(cell, 64 + column * 60, 214 + row * 40)
            page.rules.append((60 + column * 60, 224 + row * 40, 120 + column * 60, 224 + row * 40))
    page.write("younger", 64, 306)
    page.rules += [(60 + column * 60, 312, 120 + column * 60, 312) for column in range(2)]
    assert "| Boat | State |\n| --- | --- |\n| Anna | in use |" in markdown(page)
