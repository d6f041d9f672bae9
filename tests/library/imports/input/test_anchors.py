from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from pagekeep.library.imports.formats.bookmark_files import Anchor, read_anchors


def read(text: str) -> list[Anchor]:
    return list(read_anchors(io.StringIO(text)))


def test_folders_nest_and_end() -> None:
    found = read(
        '<DL><p><DT><H3 X="1">A &amp; B</H3><DL><p><DT><A HREF="1">one</A><DT><H3>C</H3><DL><p><DT><A HREF="2">two</A></DL><p>'
        '<DT><A HREF="3">three</A></DL><p><DT><A HREF="4">four</A></DL>'
    )
    assert [(link.title, [folder.name for folder in link.folders if folder.name]) for link in found] == [
        ("one", ["A & B"]),
        ("two", ["A & B", "C"]),
        ("three", ["A & B"]),
        ("four", []),
    ]
    assert found[0].folders[1].attributes == {"x": "1"}


def test_lines_attributes_and_notes_are_read() -> None:
    (link,) = read(
        "\n\n<DT><A HREF=\"a?b&amp;c\" Tags='x,y' PRIVATE=1>A title\n on two lines</A>\n<DD>First<br>second\n<HR>"
    )
    assert (link.line, link.title, link.note) == (3, "A title on two lines", "First\nsecond")
    assert link.attributes == {"href": "a?b&c", "tags": "x,y", "private": "1"}


def test_signs_within_attributes_and_titles_do_not_end_them() -> None:
    found = read('<DT><A HREF="a?x>y" ICON="data:<svg>">1 < 2 > 0</A><DT><A HREF="b" TITLE="odd " quote">b</A>')
    assert [link.attributes["href"] for link in found] == ["a?x>y", "b"]
    assert found[0].title == "1 < 2 > 0"


def test_a_file_in_one_line_and_links_that_are_not_closed_are_read() -> None:
    text = "".join(f'<DT><A HREF="{number}">t{number}' for number in range(5_000))
    assert [link.title for link in read(text)] == [f"t{number}" for number in range(5_000)]


def test_the_section_is_the_last_heading_of_the_first_rank() -> None:
    found = read("<h1>Unread</h1><ul><li><a href=1>a</a></li></ul><h1>Read Archive</h1><ul><li><a href=2>b</a></ul>")
    assert [link.section for link in found] == ["Unread", "Read Archive"]


@given(st.text(st.sampled_from("<>\"'/=&; \nadDtlLhH3p!-"), max_size=300))
def test_any_text_is_read(text: str) -> None:
    read(text)


def test_hostile_files_take_no_more_than_their_length() -> None:
    for part in ("<", "<a ", '<a "', "<a href='", "<dl>", "<dl><dt><h3>x</h3>", "</dl>", "<a>", "<a><b>", "&", "<!--"):
        read(part * (300_000 // len(part)))
