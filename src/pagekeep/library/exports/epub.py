"""Export the library as an EPUB 3 book with one chapter per item, and the EPUB 2 navigation for older devices."""

from __future__ import annotations

import uuid
from asyncio import to_thread
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from pagekeep import clock, dom
from pagekeep.capture.pictures import PICTURE, SVG_TYPE, ConvertPicture, Copy
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.library.exports.article_html import build_article, escape_xml, picture_urls, serialize_xml
from pagekeep.library.exports.selection import ENDINGS, Picture, PictureFetcher, SelectedItem
from pagekeep.model import Annotation, Item
from pagekeep.workers import run_alone

_PICTURE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", SVG_TYPE})
"""The picture types that every EPUB 3 device must show."""
_XML: Final = '<?xml version="1.0" encoding="utf-8"?>\n'
_CONTAINER: Final = (
    f'{_XML}<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/></rootfiles></container>\n'
)
_STYLESHEET: Final = """body { line-height: 1.5 }
img { max-width: 100% }
pre { white-space: pre-wrap; font-size: .85em }
table { border-collapse: collapse }
th, td { border: 1px solid #888; padding: .2em .4em }
blockquote { border-left: 3px solid #888; margin-left: 0; padding-left: 1em }
.from, figcaption { font-size: .9em }
"""


@dataclass(frozen=True, slots=True)
class _Chapter:
    name: str
    title: str
    has_math: bool
    level: int = 0
    """In the table of contents."""
    headings: tuple[str, ...] = ()
    """Above it in the table of contents, from the outside in."""


@dataclass(slots=True)
class Book:
    """The state of the book while its chapters are written."""

    zip: ZipFile
    chapters: list[_Chapter] = field(default_factory=list)
    pictures: dict[str, str] = field(default_factory=dict)
    """Media type by file name."""
    languages: Counter[str] = field(default_factory=Counter)
    ids: list[str] = field(default_factory=list)
    updated: str = ""
    title: str | None = None
    """By default that of its only chapter, or the number of chapters."""
    creator: str = "Pagekeep"
    cover: str | None = None
    """File name of the picture that is the cover."""

    def add(self, name: str, data: str | bytes, *, compress: bool = True) -> None:
        """Add a file with a fixed date, so that the same library gives the same book."""
        info = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.compress_type = ZIP_DEFLATED if compress else ZIP_STORED
        info.external_attr = 0o644 << 16
        self.zip.writestr(info, data.encode("utf-8", "replace") if isinstance(data, str) else data)

    def add_picture(self, picture: Picture) -> None:
        """Add a picture, once."""
        if picture.name not in self.pictures:
            self.pictures[picture.name] = picture.media_type
            self.add(f"EPUB/images/{picture.name}", picture.data, compress=False)

    def begin(self) -> None:
        """Add the files that come first."""
        self.add("mimetype", "application/epub+zip", compress=False)
        self.add("META-INF/container.xml", _CONTAINER)
        self.add("EPUB/style.css", _STYLESHEET)

    def finish(self) -> None:
        """Add the tables of contents, after all chapters; raise `NotFound` without any."""
        if not self.chapters:
            raise NotFound("No items match, so the book would be empty.")
        self.add("EPUB/nav.xhtml", _navigation(self))
        self.add("EPUB/toc.ncx", _ncx_navigation(self))
        self.add("EPUB/package.opf", _package(self))


async def write_book(out: BinaryIO, items: Iterable[SelectedItem], pictures: PictureFetcher | None) -> None:
    """Write all items in order; pictures go into the book, missing ones become links. Raise `NotFound` without items."""
    with ZipFile(out, "w") as zipped:
        book = Book(zipped)
        book.begin()
        for one in items:
            fetched = await pictures.fetch(picture_urls(one.item)) if pictures else {}
            supported = {url: await to_thread(_convert, picture) for url, picture in fetched.items()}
            shown = {url: picture for url, picture in supported.items() if picture}
            add_chapter(book, one.item, one.annotations, shown)
        book.finish()


def add_chapter(
    book: Book,
    item: Item,
    annotations: Sequence[Annotation],
    pictures: Mapping[str, Picture],
    *,
    headings: tuple[str, ...] = (),
    level: int = 0,
    find_chapter: Callable[[str], str | None] = lambda _url: None,
) -> None:
    """Add an item, its content directly under `main`: programs name the place of a highlight by the path from there.

    Links whose address is that of another chapter lead to it; `find_chapter` returns its file.
    """
    for picture in pictures.values():
        book.add_picture(picture)
    picture_paths = {url: f"images/{picture.name}" for url, picture in pictures.items()}
    article = build_article(item, annotations, picture_paths)
    for link in dom.tagged(article.body, ("a",)):
        if (chapter := find_chapter(link.attr("href") or "")) is not None:
            dom.set_attr(link, "href", chapter)
    body = serialize_xml(article.body)
    name = f"chapter-{len(book.chapters) + 1:05}.xhtml"
    header = f"<header><h1>{escape_xml(article.title)}</h1>{article.byline}</header>"
    html = f"{header}<main>{body}</main>{article.annotations}"
    book.add(f"EPUB/{name}", _xhtml_page(article.title, html, article.language))
    book.chapters.append(_Chapter(name, article.title, "<math" in body, level, headings))
    book.ids.append(item.id)
    book.updated = max(book.updated, item.updated_at)
    if article.language:
        book.languages[article.language] += 1


def _convert(picture: Picture) -> Picture | None:
    """Return the picture in a format that every device must show; `None` when that is not possible. In a worker."""
    if picture.media_type in _PICTURE_TYPES:
        return picture
    try:
        copy = run_alone(ConvertPicture(picture.data), PICTURE)
    except PagekeepError:
        return None
    if not isinstance(copy, Copy):
        return None
    return Picture(f"{picture.name.partition('.')[0]}{ENDINGS[copy.media_type]}", copy.media_type, copy.body)


def _xhtml_page(title: str, body: str, language: str | None) -> str:
    attributes = f' xml:lang="{language}" lang="{language}"' if language else ""
    return (
        f'{_XML}<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"{attributes}>'
        f'<head><title>{escape_xml(title)}</title><link rel="stylesheet" type="text/css" href="style.css"/></head>\n'
        f"<body>{body}</body></html>\n"
    )


def _book_title(book: Book) -> str:
    only = book.chapters[0].title if len(book.chapters) == 1 else None
    return book.title or only or f"{len(book.chapters):,} saved pages"


def _book_id(book: Book) -> str:
    return f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, 'pagekeep ' + ' '.join(book.ids))}"


def _navigation(book: Book) -> str:
    lines = list_contents(
        [(one.headings, one.level, f'<a href="{one.name}">{escape_xml(one.title)}</a>') for one in book.chapters]
    )
    return _xhtml_page("Contents", f'<nav epub:type="toc"><h1>Contents</h1>{lines}</nav>', "en")


def _ncx_navigation(book: Book) -> str:
    points = "".join(
        f'<navPoint id="n{number}" playOrder="{number}"><navLabel><text>{escape_xml(chapter.title)}</text></navLabel>'
        f'<content src="{chapter.name}"/></navPoint>\n'
        for number, chapter in enumerate(book.chapters, start=1)
    )
    return (
        f'{_XML}<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><head>'
        f'<meta name="dtb:uid" content="{_book_id(book)}"/></head>'
        f"<docTitle><text>{escape_xml(_book_title(book))}</text></docTitle>"
        f"<navMap>\n{points}</navMap></ncx>\n"
    )


def _package(book: Book) -> str:
    language = book.languages.most_common(1)[0][0] if book.languages else "en"
    return (
        f'{_XML}<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="{language}">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f'<dc:identifier id="id">{_book_id(book)}</dc:identifier><dc:title>{escape_xml(_book_title(book))}</dc:title>'
        f"<dc:language>{language}</dc:language><dc:creator>{escape_xml(book.creator)}</dc:creator>"
        f'<meta property="dcterms:modified">{clock.to_the_second(book.updated)}</meta>'
        f"{_cover_meta(book)}</metadata>\n"
        f"<manifest>{''.join(_manifest(book))}</manifest>\n"
        f'<spine toc="ncx">{"".join(f"""<itemref idref="c{n}"/>""" for n in range(1, len(book.chapters) + 1))}</spine>'
        "</package>\n"
    )


def _cover_meta(book: Book) -> str:
    """Return what older devices find the cover by."""
    return '<meta name="cover" content="cover"/>' if book.cover else ""


def _manifest(book: Book) -> Iterable[str]:
    yield '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>\n'
    yield '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>\n'
    yield '<item id="style" href="style.css" media-type="text/css"/>\n'
    for number, chapter in enumerate(book.chapters, start=1):
        math = ' properties="mathml"' if chapter.has_math else ""
        yield f'<item id="c{number}" href="{chapter.name}" media-type="application/xhtml+xml"{math}/>\n'
    for number, (name, media_type) in enumerate(book.pictures.items(), start=1):
        if name == book.cover:
            yield f'<item id="cover" href="images/{name}" media-type="{media_type}" properties="cover-image"/>\n'
        else:
            yield f'<item id="i{number}" href="images/{name}" media-type="{media_type}"/>\n'


@dataclass(slots=True)
class _Entry:
    html: str
    depth: int
    inner: list[_Entry] = field(default_factory=list)


def list_contents(lines: Sequence[tuple[tuple[str, ...], int, str]]) -> str:
    """Return the lines as nested lists: each has the headings above it, its level, and its HTML.

    Headings that the line before has too are not repeated. No level is skipped, whatever the lines say.
    """
    root = _Entry("", -1)
    open_entries = [root]
    before: tuple[str, ...] = ()
    for headings, level, html in lines:
        shared = next(
            (n for n, pair in enumerate(zip(headings, before, strict=False)) if pair[0] != pair[1]),
            min(len(headings), len(before)),
        )
        for depth in range(shared, len(headings)):
            _add(open_entries, _Entry(f"<span>{escape_xml(headings[depth])}</span>", depth))
        _add(open_entries, _Entry(html, max(level, len(headings))))
        before = headings
    return _write(root)


def _add(open_entries: list[_Entry], entry: _Entry) -> None:
    while open_entries[-1].depth >= entry.depth:
        open_entries.pop()
    open_entries[-1].inner.append(entry)
    open_entries.append(entry)


def _write(root: _Entry) -> str:
    """Write the tree without recursion: a navigation may be deep."""
    parts: list[str] = []
    waiting: list[_Entry | str] = [root]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            parts.append(one)
            continue
        parts.append(f"<li>{one.html}" if one is not root else "")
        waiting.append("</li>\n" if one is not root else "")
        if one.inner:
            parts.append("<ol>\n")
            waiting.append("</ol>")
            waiting += reversed(one.inner)
    return "".join(parts)
