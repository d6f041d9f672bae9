"""EPUB books, written by hand: order, chapters, notes, pictures, protection."""

from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.capture.documents.epub import read_book
from tests.capture.documents.reading import markdown, read
from tests.capture.documents.tiny_office import make_epub

PAGES = {"b.xhtml": "<h1>Second</h1><p>Two.</p>", "a.xhtml": "<h1>First</h1><p>One.</p>"}
SPINE = '<itemref idref="a.xhtml"/><itemref idref="b.xhtml"/>'


def test_a_book_is_one_document_in_its_own_order() -> None:
    page = read(make_epub(PAGES, spine=SPINE))
    assert page.markdown == "# First\n\nOne.\n\n# Second\n\nTwo.\n"
    assert (page.metadata.title, page.metadata.author, page.metadata.language) == ("The harbour book", "Ann Lee", "en")


@pytest.mark.parametrize("version", [2, 3])
def test_chapters_without_a_heading_get_the_title_of_the_contents(version: int) -> None:
    pages = {"a.xhtml": "<p>One.</p>", "b.xhtml": "<div><h2>Own</h2><p>Two.</p></div>"}
    listed = '<ol><li><a href="a.xhtml">Dawn</a></li><li><a href="b.xhtml">Noon</a></li></ol>'
    points = "".join(
        f'<navPoint><navLabel><text>{title}</text></navLabel><content src="{name}"/></navPoint>'
        for title, name in (("Dawn", "a.xhtml"), ("Noon", "b.xhtml"))
    )
    data = make_epub(pages, listed) if version == 3 else make_epub(pages, ncx=points)
    assert markdown(data) == "# Dawn\n\nOne.\n\n## Own\n\nTwo.\n"


def test_notes_in_another_file_and_links_inside_the_book() -> None:
    pages = {
        "a.xhtml": '<p>Text<a epub:type="noteref" href="n.xhtml#n1">1</a>, see <a href="b.xhtml#x">there</a> and '
        '<a href="https://a.example/">outside</a>.</p>',
        "b.xhtml": '<p id="x">Here.</p>',
        "n.xhtml": '<aside epub:type="footnote" id="n1"><p>The note.</p></aside>',
    }
    assert (
        markdown(make_epub(pages))
        == "Text[^1], see there and [outside](https://a.example/).\n\nHere.\n\n[^1]: The note.\n"
    )


def test_tags_that_xml_closes_and_pictures() -> None:
    body = '<a id="p1"/><p>One <i/>two.</p><div><img src="x.png" alt="The quay"/></div><p><img alt="T" src="t.png"/>hen.</p>'
    assert markdown(make_epub({"a.xhtml": body})) == "One two.\n\nThe quay\n\nThen.\n"


def test_chapters_are_cut_at_the_places_of_the_contents() -> None:
    pages = {
        "cover.xhtml": "<p>Cover words</p>",
        "a.xhtml": '<div><h2 id="one">One</h2><p>1</p><h2 id="two">Two</h2><p>2</p></div>',
        "b.xhtml": "<p>still two</p>",
        "c.xhtml": "<h2>Three</h2>",
    }
    contents = "".join(
        f'<li><a href="{target}">{title}</a></li>'
        for title, target in (("One", "a.xhtml#one"), ("Two", "a.xhtml#two"), ("Three", "c.xhtml"))
    )
    book = read_book(make_epub(pages, f"<ol>{contents}</ol>"))
    assert [chapter.title for chapter in book.chapters] == ["", "One", "Two", "Three"]
    assert "still two" in dom.text_of(book.chapters[2].nodes[-1])


def test_parts_of_a_book_have_their_chapters() -> None:
    pages = {name: f"<h2>{name}</h2><p>Text.</p>" for name in ("p.xhtml", "a.xhtml", "b.xhtml")}
    contents = '<ol><li><a href="p.xhtml">Part</a><ol><li><a href="a.xhtml">A</a></li><li><a href="b.xhtml">B</a></li></ol></li></ol>'
    assert [chapter.title for chapter in read_book(make_epub(pages, contents)).chapters] == ["Part", "A", "B"]


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"META-INF/rights.xml": "<rights/>"}, "encrypted_file"),
        (
            {
                "META-INF/encryption.xml": '<encryption xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>'
                '<enc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/><enc:CipherData>'
                '<enc:CipherReference URI="OEBPS/a.xhtml"/></enc:CipherData></enc:EncryptedData></encryption>'
            },
            "encrypted_file",
        ),
        ({"OEBPS/book.opf": "<package"}, "damaged_file"),
    ],
)
def test_protected_and_damaged_books_say_why(files: dict[str, str], kind: str) -> None:
    page = read(make_epub(PAGES, files=files))
    assert page.caught is not None
    assert (page.caught.kind, page.quality.level) == (kind, "bookmark")


def test_hidden_fonts_are_not_protection_and_a_book_without_words_is_empty() -> None:
    fonts = (
        '<encryption xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:EncryptionMethod '
        'Algorithm="http://www.idpf.org/2008/embedding"/><enc:CipherData><enc:CipherReference URI="OEBPS/f.otf"/>'
        "</enc:CipherData></enc:EncryptedData></encryption>"
    )
    assert read(make_epub(PAGES, files={"META-INF/encryption.xml": fonts})).caught is None
    empty = read(make_epub({"a.xhtml": '<img src="scan.png" alt=""/>'}))
    assert empty.caught is not None
    assert empty.caught.kind == "empty_file"


CHAPTERED = make_epub(
    {
        "a.xhtml": '<h1>Dawn</h1><p>Light<a href="n.xhtml#n1">1</a>, see <a href="b.xhtml#x">noon</a>.</p>',
        "b.xhtml": '<h1 id="x">Noon</h1><p>Sun.</p>',
        "n.xhtml": '<h1>Notes</h1><p id="n1">1. The note.</p>',
    },
    "<ol>"
    + "".join(
        f'<li><a href="{name}">{title}</a></li>'
        for name, title in (("a.xhtml", "Dawn"), ("b.xhtml", "Noon"), ("n.xhtml", "Notes"))
    )
    + "</ol>",
)


def test_an_address_with_a_number_is_a_chapter_with_its_notes_and_links() -> None:
    page = read(CHAPTERED, url="https://a.example/b.epub#/1")
    assert page.markdown == "# Dawn\n\nLight[^1], see [noon](https://a.example/b.epub#/2).\n\n[^1]: The note.\n"
    assert (page.metadata.title, page.metadata.site_name, page.metadata.author) == (
        "Dawn",
        "The harbour book",
        "Ann Lee",
    )
    missing = read(CHAPTERED, url="https://a.example/b.epub#/9")
    assert missing.caught is not None
    assert missing.caught.reason == "The EPUB is damaged: it has no chapter 9"
