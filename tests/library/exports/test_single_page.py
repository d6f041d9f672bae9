"""One page that holds all and loads nothing."""

from __future__ import annotations

from pathlib import Path

from pagekeep import dom
from pagekeep.config import Settings
from pagekeep.store import Store
from tests.library.exports.making import fill, make_item, send
from tests.library.exports.test_epub import PNG, RICH
from tests.site.server import Reply, Request, Site


def test_all_pages_are_behind_a_table_of_contents_and_nothing_is_loaded(library: Store, tmp_path: Path) -> None:
    fill(library, 10)
    library.items.save(make_item(30, library.user_id, title="<script>alert(1)</script>", body=RICH), None)
    send(library, tmp_path / "a.html", format="html")
    page = dom.parse((tmp_path / "a.html").read_text("utf-8"))
    links = [link.attr("href") or "" for link in dom.select(page, "nav a")]
    articles = [article.attr("id") for article in dom.select(page, "main > article")]
    assert links == [f"#{name}" for name in articles]
    assert len(links) == 11
    assert dom.select(page, "script, iframe, link, img, object, embed, form, base") == []
    ids = [node.attr("id") for node in dom.select(page, "[id]")]
    assert len(ids) == len(set(ids))
    targets = [(node.attr("href") or "")[1:] for node in dom.select(page, "a[href^='#']")]
    assert set(targets) <= set(ids)
    assert "&lt;script&gt;alert(1)" in (tmp_path / "a.html").read_text("utf-8")


def test_pictures_that_are_fetched_are_in_the_page(library: Store, tmp_path: Path) -> None:
    async def picture(_request: Request, reply: Reply) -> None:
        await reply.send(PNG)

    with Site({"p": picture}) as site:
        library.items.save(
            make_item(1, library.user_id, body=f"![A]({site.url('/p/1.png')}) ![B]({site.url('/x')})\n"), None
        )
        send(
            library,
            tmp_path / "a.html",
            Settings(allow_hosts=("127.0.0.1",), per_host_delay=0),
            format="html",
            images=True,
        )
    page = dom.parse((tmp_path / "a.html").read_text("utf-8"))
    (shown,) = dom.select(page, "img")
    assert (shown.attr("src") or "").startswith("data:image/png;base64,iVBORw0KGgo")
    assert [dom.text_of(link) for link in dom.select(page, "main a") if link.attr("href") == site.url("/x")] == ["B"]
