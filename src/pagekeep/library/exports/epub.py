"""The library as a book: EPUB 3, a chapter an item, with the navigation that older readers know as well."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import BinaryIO, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from pagekeep import clock
from pagekeep.errors import NotFound
from pagekeep.library.exports.html import article, pictures_of, xml_of, xml_text
from pagekeep.library.exports.pictures import Picture, Pictures
from pagekeep.model import Item
from pagekeep.store import Store

_KINDS: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What every reader of EPUB 3 shows."""
_XML: Final = '<?xml version="1.0" encoding="utf-8"?>\n'
_CONTAINER: Final = (
    f'{_XML}<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/></rootfiles></container>\n'
)
_STYLE: Final = """body { line-height: 1.5 }
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
    math: bool


@dataclass(slots=True)
class _Book:
    """What is known of the book while its chapters are written."""

    zip: ZipFile
    chapters: list[_Chapter] = field(default_factory=list)
    pictures: dict[str, str] = field(default_factory=dict)
    """Name to kind."""
    languages: Counter[str] = field(default_factory=Counter)
    ids: list[str] = field(default_factory=list)
    updated: str = ""

    def add(self, name: str, data: str | bytes, *, packed: bool = True) -> None:
        """A file, always with the same date: the same library gives the same book."""
        info = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.compress_type = ZIP_DEFLATED if packed else ZIP_STORED
        info.external_attr = 0o644 << 16
        self.zip.writestr(info, data.encode("utf-8", "replace") if isinstance(data, str) else data)


async def write_book(out: BinaryIO, items: Iterable[Item], store: Store, pictures: Pictures | None) -> None:
    """All items in their order; pictures that are fetched stand in the book, others become links. `NotFound` for none."""
    with ZipFile(out, "w") as zipped:
        book = _Book(zipped)
        book.add("mimetype", "application/epub+zip", packed=False)
        book.add("META-INF/container.xml", _CONTAINER)
        book.add("EPUB/style.css", _STYLE)
        for item in items:
            came = await pictures.fetch(pictures_of(item)) if pictures else {}
            _add_chapter(book, item, store, {url: one for url, one in came.items() if one.kind in _KINDS})
        if not book.chapters:
            raise NotFound("There is no page to make a book of.")
        book.add("EPUB/nav.xhtml", _navigation(book))
        book.add("EPUB/toc.ncx", _old_navigation(book))
        book.add("EPUB/package.opf", _package(book))


def _add_chapter(book: _Book, item: Item, store: Store, came: dict[str, Picture]) -> None:
    for picture in came.values():
        if picture.name not in book.pictures:
            book.pictures[picture.name] = picture.kind
            book.add(f"EPUB/images/{picture.name}", picture.data, packed=False)
    made = article(item, store.annotations(item.id), {url: f"images/{one.name}" for url, one in came.items()})
    body = xml_of(made.body)
    name = f"chapter-{len(book.chapters) + 1:05}.xhtml"
    text = f"<article><h1>{xml_text(made.title)}</h1>{made.head}{body}{made.passages}</article>"
    book.add(f"EPUB/{name}", _page(made.title, text, made.language))
    book.chapters.append(_Chapter(name, made.title, "<math" in body))
    book.ids.append(item.id)
    book.updated = max(book.updated, item.updated_at)
    if made.language:
        book.languages[made.language] += 1


def _page(title: str, body: str, language: str | None) -> str:
    spoken = f' xml:lang="{language}" lang="{language}"' if language else ""
    return (
        f'{_XML}<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"{spoken}>'
        f'<head><title>{xml_text(title)}</title><link rel="stylesheet" type="text/css" href="style.css"/></head>\n'
        f"<body>{body}</body></html>\n"
    )


def _title(book: _Book) -> str:
    return book.chapters[0].title if len(book.chapters) == 1 else f"{len(book.chapters):,} saved pages"


def _name(book: _Book) -> str:
    return f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, 'pagekeep ' + ' '.join(book.ids))}"


def _navigation(book: _Book) -> str:
    lines = "".join(f'<li><a href="{one.name}">{xml_text(one.title)}</a></li>\n' for one in book.chapters)
    return _page("Contents", f'<nav epub:type="toc"><h1>Contents</h1><ol>\n{lines}</ol></nav>', "en")


def _old_navigation(book: _Book) -> str:
    points = "".join(
        f'<navPoint id="n{number}" playOrder="{number}"><navLabel><text>{xml_text(one.title)}</text></navLabel>'
        f'<content src="{one.name}"/></navPoint>\n'
        for number, one in enumerate(book.chapters, start=1)
    )
    return (
        f'{_XML}<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><head>'
        f'<meta name="dtb:uid" content="{_name(book)}"/></head><docTitle><text>{xml_text(_title(book))}</text></docTitle>'
        f"<navMap>\n{points}</navMap></ncx>\n"
    )


def _package(book: _Book) -> str:
    language = book.languages.most_common(1)[0][0] if book.languages else "en"
    return (
        f'{_XML}<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="{language}">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f'<dc:identifier id="id">{_name(book)}</dc:identifier><dc:title>{xml_text(_title(book))}</dc:title>'
        f"<dc:language>{language}</dc:language><dc:creator>Pagekeep</dc:creator>"
        f'<meta property="dcterms:modified">{clock.to_the_second(book.updated)}</meta></metadata>\n'
        f"<manifest>{''.join(_manifest(book))}</manifest>\n"
        f'<spine toc="ncx">{"".join(f"""<itemref idref="c{n}"/>""" for n in range(1, len(book.chapters) + 1))}</spine>'
        "</package>\n"
    )


def _manifest(book: _Book) -> Iterable[str]:
    yield '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>\n'
    yield '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>\n'
    yield '<item id="style" href="style.css" media-type="text/css"/>\n'
    for number, one in enumerate(book.chapters, start=1):
        math = ' properties="mathml"' if one.math else ""
        yield f'<item id="c{number}" href="{one.name}" media-type="application/xhtml+xml"{math}/>\n'
    for number, (name, kind) in enumerate(book.pictures.items(), start=1):
        yield f'<item id="i{number}" href="images/{name}" media-type="{kind}"/>\n'
