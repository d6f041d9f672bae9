"""RTF files, written by hand: text in code pages, formatting, lists, tables, notes."""

from __future__ import annotations

import pytest

from tests.capture.documents.reading import markdown, read

HEAD = (
    r"{\rtf1\ansi\ansicpg1252\uc1{\fonttbl{\f0\froman Times New Roman;}{\f1\fmodern Courier New;}"
    r"{\f2\fcharset204 Arial Cyr;}{\f3\fcharset128 MS Mincho;}}{\colortbl;\red0\green0\blue0;}"
    r"{\stylesheet{\s0 Normal;}{\s1 heading 1;}{\s2 heading 2;}{\s3 Quote;}{\s4 Title;}{\*\cs5 Strong;}}"
)


def rtf(body: str) -> bytes:
    return f"{HEAD}{body}}}".encode("latin-1")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"caf\'e9 \'96 \endash\u8364?\ldblquote x\rdblquote", "café – –€“x”"),
        (r"{\f2 \'cf\'f0\'e8\'e2\'e5\'f2}", "Привет"),
        (r"{\f3 \'93\'fa\'96\'7b}", "日本"),
        (r"\u-10179?\u-8704? end", "😀 end"),
        (r"{\uc2 \u8364ab}c", "€c"),
        (r"a\~b\_c\-d \{x\}", "a b-cd {x}"),
        ("one\r\ntwo", "onetwo"),
        (r"{\*\unknown junk}kept{\pict\wmetafile8 0102}", "kept"),
        (r"a{\v hidden}b{\deleted gone}c", "abc"),
    ],
)
def test_text(source: str, text: str) -> None:
    assert read(rtf(rf"\pard {source}\par")).text.strip() == text


def test_headings_marks_links_and_code() -> None:
    link = r'{\field{\*\fldinst{HYPERLINK "https://a.example/?x=1"}}{\fldrslt{\ul link}}}'
    body = (
        rf"\pard\s1 One\par\pard\plain The {{\b old}} {{\i mill}} {{\strike not}} x{{\super 2}} {{\f1 f()}} {link}\par"
    )
    body += r"\pard\outlinelevel1 Two\par\pard\s3 Words.\par\pard{\f1 if x:\par     return\par}"
    expected = (
        "# One\n\nThe **old** *mill* ~~not~~ x² `f()` [link](https://a.example/?x=1)\n\n## Two\n\n> Words.\n\n"
        "```\nif x:\n    return\n```\n"
    )
    assert markdown(rtf(body)) == expected


def test_lists_by_their_printed_marks_and_by_typed_ones() -> None:
    def item(mark: str, text: str, level: int = 0) -> str:
        return rf"\pard\li{720 * (level + 1)}\fi-360{{\listtext {mark}\tab}}\ls1\ilvl{level} {text}\par"

    body = item(r"\'b7", "one") + item("1.", "inner", 1) + item(r"\'b7", "two") + r"\pard Between\par"
    body += r"\pard\li360\fi-360 3.\tab three\par\pard\li360\fi-360 4.\tab four\par\pard\li360 more\par\pard End\par"
    expected = "- one\n  1. inner\n- two\n\nBetween\n\n3. three\n\n4. four\n\n   more\n\nEnd\n"
    assert markdown(rtf(body)) == expected


def test_tables_with_a_head_and_cells_over_columns() -> None:
    row = r"\trowd\trhdr\cellx1000\cellx3000\pard\intbl Boat\cell Size\cell\row"
    row += r"\trowd\cellx1000\cellx2000\cellx3000\pard\intbl Anna\cell 12\cell m\cell\row"
    row += r"\trowd\clvmgf\cellx1000\cellx2000\cellx3000\pard\intbl Berta\cell 9\cell m\cell\row"
    row += r"\trowd\clvmrg\cellx1000\cellx2000\cellx3000\pard\intbl\cell 30\cell ft\cell\row\pard After\par"
    html = read(rtf(row)).html
    assert '<th colspan="2">Size</th>' in html
    assert '<td rowspan="2">Berta</td>' in html
    assert html.endswith("<p>After</p>")


def test_notes_and_metadata() -> None:
    body = r"{\info{\title The mill}{\author Ann Lee}}\pard The mill{\footnote\pard Of water.} turns.\par"
    page = read(rtf(body))
    assert page.markdown == "The mill[^1] turns.\n\n[^1]: Of water.\n"
    assert (page.metadata.title, page.metadata.author) == ("The mill", "Ann Lee")


def test_a_file_without_text_is_empty_and_one_that_is_cut_keeps_its_beginning() -> None:
    empty = read(rtf(r"\pard\par"))
    assert empty.caught is not None
    assert empty.caught.kind == "empty_file"
    assert markdown(rtf(r"\pard Kept {\b bold")[:-1]) == "Kept **bold**\n"
