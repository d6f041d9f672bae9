"""Subtitles, tables, plain text and Markdown; files that are recognised and not read."""

from __future__ import annotations

import pytest

from pagekeep.capture.documents.file_types import TYPE_NAMES, declared_type, detect
from pagekeep.errors import UnsupportedContent
from tests.capture.documents.reading import markdown, read
from tests.capture.documents.tiny_office import make_docx, make_epub, make_odt, p, pack

VTT = (
    "WEBVTT - A talk\nLanguage: en\n\nNOTE a comment\n\n1\n00:00:01.000 --> 00:00:02.000 align:start\n<v Ann Lee>The <i>mill</i>,\n\n"
    "00:02.000 --> 00:03.000\n<v Ann Lee>turns &amp; turns.\n\n00:04.000 --> 00:05.000\n<v Bo>Does it?\n"
)
ROLLING = (
    "WEBVTT\n\n00:00.000 --> 00:02.000\nso<00:00.500><c> today</c>\n\n00:02.000 --> 00:02.010\nso today\n\n"
    "00:02.010 --> 00:04.000\nso today\nwe sail\n"
)
SRT = "1\n00:00:01,000 --> 00:00:04,000\n{\\an8}<b>Old.</b>\n\n2\n00:00:10,000 --> 00:00:12,000\n- Really?\n- Yes.\n\n3\n00:00:13,000 --> 00:00:14,000\nJOHN: I see\nit.\n"


@pytest.mark.parametrize(
    ("data", "declared", "name"),
    [
        (make_docx(p("x")), None, "DOCX"),
        (make_odt("<text:p>x</text:p>"), None, "ODT"),
        (pack({"content.xml": "", "META-INF/manifest.xml": ""}), None, "ODT"),
        (make_epub({"a.xhtml": "x"}), "text/plain", "EPUB"),
        (b"\n{\\rtf1 x}", None, "RTF"),
        (VTT.encode(), "text/plain", "WebVTT file"),
        (b"\xef\xbb\xbf" + SRT.encode(), None, "SubRip file"),
        (b"a,b\n1,2\n", "text/csv", "CSV"),
        (b"a,b\n1,2\n", None, None),
        (b"# x\n", "text/markdown", "Markdown file"),
        (b"<!-- x --><!doctype html><p>x", "text/plain", None),
        (b"<p>words", "text/markdown", "Markdown file"),
        (pack({"a.txt": "x"}), "text/plain", "text file"),
    ],
)
def test_content_decides_and_the_declared_type_where_it_cannot(
    data: bytes, declared: str | None, name: str | None
) -> None:
    found = detect(data, declared)
    assert (found.name if found else None) == name


def test_names_of_types_lead_to_content_types() -> None:
    assert all(declared_type(name) for name in TYPE_NAMES)
    assert (declared_type("Notes.MD"), declared_type("a.tsv")) == ("text/markdown", "text/tab-separated-values")


def test_subtitles_become_paragraphs_with_speakers() -> None:
    page = read(VTT.encode())
    assert page.markdown == "**Ann Lee:** The mill, turns & turns.\n\n**Bo:** Does it?\n"
    assert (page.metadata.title, page.metadata.language) == ("A talk", "en")
    assert markdown(ROLLING.encode()) == "so today we sail\n"
    assert markdown(SRT.encode()) == "Old.\n\nReally?\n\nYes.\n\n**JOHN:** I see it.\n"


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        ('a,b\n1,"x, ""y"""\n', ["| a | b |", '| 1 | x, "y" |']),
        ("a;b;c\n1,5;2\n", ["| a | b | c |", "| 1,5 | 2 |  |"]),
        ("a\tb\n1\t2\t3\n", ["| a | b |  |", "| 1 | 2 | 3 |"]),
        ("sep=|\na|b\n1|2\n", ["| a | b |", "| 1 | 2 |"]),
    ],
)
def test_tables(source: str, rows: list[str]) -> None:
    lines = markdown(source.encode(), "text/csv").splitlines()
    assert [lines[0], lines[2]] == rows


def test_a_long_table_is_cut_with_a_warning() -> None:
    page = read(b"n,m\n" + b"1,2\n" * 2_500, "text/csv")
    assert [warning.text for warning in page.trace.warnings] == ["only the first 2,000 rows were read"]
    assert page.markdown.count("\n") == 2_001


def test_wrapped_lines_are_joined_and_short_ones_stay() -> None:
    text = (
        "MILLS\n\nThe mill lies at the river and is older than the bridge that\nleads to it, see https://a.example/x.\n\n"
        "Roses are red,\nviolets are blue.\n\n- one goes on\n  here\n  - inner\n- two\n\n    x = f();\n\n> said\n\nTwo\n===\n\nThe end of the text.\n"
    )
    expected = (
        "# MILLS\n\nThe mill lies at the river and is older than the bridge that leads to it, see "
        "[https://a.example/x](https://a.example/x).\n\nRoses are red,\\\nviolets are blue.\n\n- one goes on here\n  - inner\n- two\n\n"
        "```\nx = f();\n```\n\n> said\n\n# Two\n\nThe end of the text.\n"
    )
    assert markdown(text.encode(), "text/plain") == expected


def test_source_code_as_text_stays_whole() -> None:
    code = "import os\n\ndef f(x):\n    if x:\n        return g(x)\n    for y in x:\n        print(y)\n"
    assert markdown(code.encode(), "text/plain") == f"```\n{code}```\n"


def test_markdown_keeps_its_text_and_frontmatter_is_metadata() -> None:
    head = "---\ntitle: Mills\nauthor: [Ann, Bo]\ndate: 2025-03-01\ntags: [water]\n---\n\n"
    body = "# Mills\n\n* one\n* [two](https://a.example/)[^n]\n\n[^n]: Note.\n"
    page = read((head + body).encode(), "text/markdown")
    about = page.metadata
    assert (page.markdown, page.kind, page.links[0].url) == (body, "document", "https://a.example/")
    assert (about.title, about.author, about.published, about.keywords) == (
        "Mills",
        "Ann, Bo",
        "2025-03-01",
        ("water",),
    )
    toml = read(b'+++\ntitle = "Dams"\n+++\nText\n', "text/markdown")
    assert (toml.metadata.title, toml.markdown) == ("Dams", "Text\n")


def test_markdown_with_html_is_written_again() -> None:
    source = "> [!NOTE] Mind\n> Gap\n\n- [x] done\n\n<div onclick=x><b>bold</b></div><script>x()</script>\n\n$x^2$\n"
    assert markdown(source.encode(), "text/markdown") == "> [!note] Mind\n> Gap\n\n- [x] done\n\n**bold**\n\n$x^2$\n"


def test_frontmatter_that_is_a_bomb_or_broken_is_text() -> None:
    assert "a" in markdown(b"---\na: &x [1, 1]\nb: [*x, *x]\n---\nText\n", "text/markdown")
    assert "Text" in markdown(b"---\n[[[: \n---\nText\n", "text/markdown")
    assert "Text" in markdown(b"---\ntitle: !!float\n---\nText\n", "text/markdown")


@pytest.mark.parametrize("frontmatter", ["---\ntitle: 0x%s\n---\n", "+++\ntitle = 0x%s\n+++\n"])
def test_a_huge_number_in_frontmatter_is_not_a_failure(frontmatter: str) -> None:
    assert "Text" in markdown((frontmatter % ("f" * 5_000) + "Text\n").encode(), "text/markdown")


@pytest.mark.parametrize(
    ("data", "what", "step"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "WordDocument\0".encode("utf-16-le"), ".doc", "DOCX"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "Workbook\0".encode("utf-16-le"), ".xls", "CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "PowerPoint Document\0".encode("utf-16-le"), ".ppt", "PDF"),
        (pack({"[Content_Types].xml": "", "xl/workbook.xml": ""}), ".xlsx", "CSV"),
    ],
)
def test_other_office_files_say_what_to_do(data: bytes, what: str, step: str) -> None:
    with pytest.raises(UnsupportedContent) as raised:
        read(data)
    assert what in raised.value.message
    assert step in raised.value.suggestions[0]


def test_a_newer_file_with_a_password_is_protected() -> None:
    page = read(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage\0".encode("utf-16-le"))
    assert page.caught is not None
    assert page.caught.kind == "encrypted_file"


@pytest.mark.parametrize("declared", ["text/plain", "text/markdown", "text/csv"])
def test_empty_text_is_an_empty_file(declared: str) -> None:
    page = read(b" \n\n", declared)
    assert page.caught is not None
    assert page.caught.kind == "empty_file"
