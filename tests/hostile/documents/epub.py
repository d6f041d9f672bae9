"""EPUB books under attack."""

from __future__ import annotations

from collections.abc import Iterator

from tests.capture.documents.tiny_office import make_epub
from tests.hostile.documents.archives import archive_bombs
from tests.hostile.documents.kind import WORDS, Kind, mutate_archive

TEXT = " ".join(WORDS)


def originals() -> list[bytes]:
    """Return sound books of several shapes."""
    pages = {
        "a.xhtml": f'<h1 id="a">One</h1><p>{TEXT}<a epub:type="noteref" href="n.xhtml#n1">1</a></p><ul><li>{TEXT}</li></ul>',
        "b.xhtml": f"<section><h1>Two</h1><table><tr><td>{TEXT}</td><td>x</td></tr></table><pre>code()</pre></section>",
        "n.xhtml": f'<aside epub:type="footnote" id="n1"><p>{TEXT}</p></aside>',
    }
    listed = '<ol><li><a href="a.xhtml#a">One</a><ol><li><a href="b.xhtml">Two</a></li></ol></li></ol>'
    point = '<navPoint><navLabel><text>One</text></navLabel><content src="a.xhtml"/></navPoint>'
    return [make_epub(pages, listed), make_epub(pages, ncx=point)]


def bombs() -> Iterator[tuple[str, bytes]]:
    """Yield books made to take time or memory."""
    yield from archive_bombs(originals()[0], "OEBPS/book.opf")
    page = {"a.xhtml": f"<p>{TEXT}</p>"}
    yield "one page many times", make_epub(page, spine='<itemref idref="a.xhtml"/>' * 100_000)
    yield "many pages", make_epub({f"p{n}.xhtml": f"<h1>{n}</h1><p>{TEXT}</p>" for n in range(5_000)})
    entries = "".join(f'<li><a href="a.xhtml#x{n}">{n}</a></li>' for n in range(50_000))
    yield "many entries", make_epub(page, f"<ol>{entries}</ol>")
    anchors = "".join(f'<p id="x{n}">w{n}</p>' for n in range(20_000))
    yield "many anchors", make_epub({"a.xhtml": anchors}, f"<ol>{entries}</ol>")
    yield "deep contents", make_epub(page, '<ol><li><a href="a.xhtml">x</a>' * 1_000 + "</li></ol>" * 1_000)
    yield "deep page", make_epub({"a.xhtml": "<div>" * 100_000 + TEXT})
    yield "tags that XML closes", make_epub({"a.xhtml": f"<p>{TEXT}</p>" + "<i/><b/>" * 300_000})
    yield "open formatting", make_epub({"a.xhtml": "".join(f"<b a{n}='1'><p>" for n in range(20_000)) + TEXT})
    yield (
        "repeated roots",
        make_epub({"a.xhtml": "".join(f"<html a{n}='1'><body b{n}='1'>" for n in range(20_000)) + TEXT}),
    )
    yield "links in a ring", make_epub({"a.xhtml": '<p id="x"><a href="#x">1</a></p>' * 20_000})
    yield (
        "many notes",
        make_epub(
            {
                "a.xhtml": "".join(f'<p>w<a epub:type="noteref" href="#n{n}">{n}</a></p>' for n in range(10_000))
                + "".join(f'<aside epub:type="footnote" id="n{n}"><p>note {n}</p></aside>' for n in range(10_000))
            }
        ),
    )
    yield (
        "a package that is itself",
        make_epub(page, files={"META-INF/container.xml": "<container/>", "OEBPS/book.opf": "<package/>"}),
    )
    yield "long words", make_epub({"a.xhtml": "<p>" + "x" * 4_000_000 + "</p>"})


KIND = Kind(originals, bombs, mutate_archive)
