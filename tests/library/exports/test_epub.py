"""Books that readers open: the container, what it lists, and pages that are well-formed."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from posixpath import dirname, join, normpath
from xml.etree import ElementTree
from zipfile import ZIP_STORED, ZipFile

import pytest
from PIL import Image

from pagekeep.config import Settings
from pagekeep.errors import NotFound
from pagekeep.model import ItemBlob
from pagekeep.store import Store
from tests.library.exports.making import fill, make_item, mark, send
from tests.site.gallery import draw
from tests.site.server import Reply, Request, Site

OPF = "{http://www.idpf.org/2007/opf}"
DC = "{http://purl.org/dc/elements/1.1/}"
XHTML = "{http://www.w3.org/1999/xhtml}"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
RICH = """# Tides

Text with **bold**, `code < & >`, ~~gone~~, a [link](https://example.com/?a=1&b=2 "T") and a note[^1].

![A "chart"](https://example.com/chart.png)

*The chart.*

| a | b |
|:--|--:|
| 1 | 2 |

- [x] done
- [ ] open

> [!warning] Mind
> the gap

$e^{i\\pi}$ and

$$
\\frac{a}{b}
$$

```python
if a < b and c: print("&amp;")
```

[^1]: The note, [twice](https://example.com/#x).

Control \x0b\x1f signs, <b>no tags</b> & a lone ampersand. Again[^1].
"""


def checked(path: Path) -> ZipFile:
    """The checks of a validator that matter: order and kind of files, a complete manifest, well-formed pages, links that lead
    to what is there, ids that are names and stand once."""
    book = ZipFile(path)
    assert book.testzip() is None
    first = book.infolist()[0]
    assert (first.filename, first.compress_type, book.read(first)) == ("mimetype", ZIP_STORED, b"application/epub+zip")
    assert first.extra == b""
    container = ElementTree.fromstring(book.read("META-INF/container.xml"))
    (root,) = [node.get("full-path") for node in container.iter() if node.tag.endswith("rootfile")]
    assert root is not None
    package = ElementTree.fromstring(book.read(root))
    assert package.get("version") == "3.0"
    identifiers = {node.get("id"): node.text for node in package.iter(f"{DC}identifier")}
    assert identifiers[package.get("unique-identifier")]
    assert next(node.text for node in package.iter(f"{DC}title"))
    assert next(node.text for node in package.iter(f"{DC}language"))
    modified = [node.text or "" for node in package.iter(f"{OPF}meta") if node.get("property") == "dcterms:modified"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", modified[0])
    listed = {node.get("id"): node for node in package.iter(f"{OPF}item")}
    hrefs = {join(dirname(root), node.get("href") or "") for node in listed.values()}
    assert len(hrefs) == len(listed)
    assert hrefs | {"mimetype", "META-INF/container.xml", root} == set(book.namelist())
    spine = [node.get("idref") for node in package.iter(f"{OPF}itemref")]
    assert spine
    assert set(spine) <= set(listed)
    assert [node.get("href") for node in listed.values() if node.get("properties") == "nav"] == ["nav.xhtml"]
    for node in listed.values():
        name = join(dirname(root), node.get("href") or "")
        if node.get("media-type") == "application/xhtml+xml":
            _check_page(book, name, node.get("properties") or "")
    return book


def _check_page(book: ZipFile, name: str, properties: str) -> None:
    page = ElementTree.fromstring(book.read(name))
    assert page.tag == f"{XHTML}html"
    assert page.findtext(f"{XHTML}head/{XHTML}title")
    ids = [node.get("id") for node in page.iter() if node.get("id")]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[A-Za-z_][\w.-]*", found or "") for found in ids)
    assert ("mathml" in properties) == any("MathML" in node.tag for node in page.iter())
    for node in page.iter():
        assert not {"style", "loading", "decoding", "onclick"} & set(node.attrib)
        for target in (node.get("href"), node.get("src")):
            if target is None or re.match(r"https?:|mailto:", target):
                assert not (target and node.tag == f"{XHTML}img")
                continue
            file, _, part = target.partition("#")
            where = normpath(join(dirname(name), file)) if file else name
            assert where in book.namelist()
            assert not part or part in ids


def test_a_book_of_all_kinds_of_pages_is_valid(library: Store, tmp_path: Path) -> None:
    fill(library, 25)
    item = library.items.save(make_item(30, library.user_id, body=RICH, author="A & B\x0b"), None)
    mark(library, item, "the <gap>\x1f", "a\n\nb & c")
    send(library, tmp_path / "a.epub", format="epub")
    book = checked(tmp_path / "a.epub")
    pages = [book.read(name).decode() for name in book.namelist() if "chapter" in name]
    (rich,) = [page for page in pages if "Mind" in page]
    assert "<code>code &lt; &amp; &gt;</code>" in rich
    assert "A &quot;chart&quot;</a>" in rich
    assert 'xmlns="http://www.w3.org/1998/Math/MathML"' in rich
    assert "<img" not in rich
    assert rich.index("☑") < rich.index("☐")
    assert any("Highlights" in page for page in pages)


def test_the_same_library_gives_the_same_book(library: Store, tmp_path: Path) -> None:
    fill(library, 5)
    send(library, tmp_path / "a.epub", format="epub")
    send(library, tmp_path / "b.epub", format="epub")
    assert (tmp_path / "a.epub").read_bytes() == (tmp_path / "b.epub").read_bytes()


async def _picture(_request: Request, reply: Reply) -> None:
    await reply.send(PNG)


def test_pictures_are_in_the_book_once(library: Store, tmp_path: Path) -> None:
    with Site({"p": _picture}) as site:
        body = f"![A]({site.url('/p/1.png')}) [![B]({site.url('/p/2.png')})]({site.url('/p/2.png')})\n"
        for number in (1, 2):
            library.items.save(make_item(number, library.user_id, body=body), None)
        settings = Settings(allow_hosts=("127.0.0.1",), per_host_delay=0)
        send(library, tmp_path / "a.epub", settings, format="epub", images=True)
    book = checked(tmp_path / "a.epub")
    (picture,) = [name for name in book.namelist() if name.startswith("EPUB/images/")]
    assert book.read(picture) == PNG
    assert book.read("EPUB/chapter-00001.xhtml").decode().count(f'src="images/{picture.rpartition("/")[2]}"') == 2


def test_no_pages_make_no_book(library: Store, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        send(library, tmp_path / "a.epub", format="epub")
    assert not (tmp_path / "a.epub").exists()


def test_kept_pictures_are_in_the_book_in_formats_that_every_device_shows(library: Store, tmp_path: Path) -> None:
    now = "2025-03-19T10:30:00.000000Z"
    content = "".join(f"![Picture](https://example.com/{form})\n\n" for form in ("PNG", "AVIF", "SVG"))
    item = library.items.save(make_item(1, library.user_id, content=content), None)
    files = {
        "PNG": draw(1),
        "AVIF": draw(2, "AVIF"),
        "SVG": b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
    }
    types = {"PNG": "image/png", "AVIF": "image/avif", "SVG": "image/svg+xml"}
    for form, data in files.items():
        name = library.blobs.put(data, now)
        library.blobs.link(
            item.id, [ItemBlob("picture", f"https://example.com/{form}", "kept", now, types[form], name, len(data))]
        )
    send(library, tmp_path / "book.epub", format="epub")
    with checked(tmp_path / "book.epub") as book:
        images = {name.rpartition(".")[2]: book.read(name) for name in book.namelist() if "/images/" in name}
    assert sorted(images) == ["jpg", "png", "svg"]
    assert images["png"] == files["PNG"]
    assert Image.open(BytesIO(images["jpg"])).size == (240, 160)
