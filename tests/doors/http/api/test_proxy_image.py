"""The image proxy: signed addresses only, through the guard, and nothing comes back but a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.doors.http.image_proxy import signed_path
from pagekeep.model import ItemBlob
from pagekeep.store import Store
from tests.doors.http.conftest import service_of
from tests.doors.http.image_proxy.pictures import FORMATS, claims, picture
from tests.site.address_forms import ALL
from tests.site.server import Canary, Reply, Request, Site
from tests.store.making import NOW, make_item

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'


async def _kind(request: Request, reply: Reply) -> None:
    await reply.send(picture(request.path.rpartition("/")[2]), content_type="text/html")


async def _svg(_request: Request, reply: Reply) -> None:
    await reply.send(SVG, content_type="image/png")


async def _huge(_request: Request, reply: Reply) -> None:
    await reply.send(claims("PNG", 50_000, 50_000), content_type="image/png")


async def _long(_request: Request, reply: Reply) -> None:
    await reply.head(200, ["content-type: image/png"])
    await reply.raw(picture("PNG"))
    for _ in range(25):
        await reply.raw(b"\0" * 1_000_000)


async def _gone(_request: Request, reply: Reply) -> None:
    await reply.send("<script>alert(1)</script>", status=404)


@pytest.fixture(scope="module")
def gallery() -> Iterator[Site]:
    with Site({"kind": _kind, "svg": _svg, "huge": _huge, "long": _long, "gone": _gone}) as site:
        yield site


def signed(client: TestClient, url: str, user: str = "local") -> str:
    return signed_path(service_of(client).secret, user, url)


@pytest.mark.parametrize("form", FORMATS)
def test_a_picture_comes_with_its_own_type_whatever_its_server_says(
    client: TestClient, gallery: Site, form: str
) -> None:
    answer = client.get(signed(client, gallery.url(f"/kind/{form}")))
    assert answer.status_code == 200
    assert answer.content == picture(form)
    assert answer.headers["content-type"] == FORMATS[form]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_a_picture_is_fetched_once(client: TestClient, gallery: Site) -> None:
    url = gallery.url("/kind/PNG?once")
    before = gallery.connections, len(gallery.requests)
    answers = [client.get(signed(client, url)) for _ in range(3)]
    assert len(gallery.requests) == before[1] + 1
    assert {answer.content for answer in answers} == {picture("PNG")}
    again = client.get(signed(client, url), headers={"if-none-match": answers[0].headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_without_room_pictures_come_all_the_same(
    settings: Settings, serve: Callable[..., TestClient], gallery: Site
) -> None:
    client = serve(replace(settings, image_cache=0))
    asked = len(gallery.requests)
    for _ in range(2):
        assert client.get(signed(client, gallery.url("/kind/PNG"))).status_code == 200
    assert len(gallery.requests) == asked + 2


@pytest.mark.parametrize(("path", "status"), [("/svg", 415), ("/huge", 413), ("/long", 413), ("/gone", 502)])
def test_what_is_not_a_picture_that_may_be_shown_is_refused(
    client: TestClient, gallery: Site, path: str, status: int
) -> None:
    answer = client.get(signed(client, gallery.url(path)))
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    assert "<" not in answer.text


def test_unsigned_addresses_are_refused_and_nothing_is_fetched(client: TestClient, gallery: Site) -> None:
    url, asked = gallery.url("/kind/PNG"), len(gallery.requests)
    good = signed(client, url)
    for path in (
        good.replace("PNG", "GIF"),
        good[:-1] + ("0" if good[-1] != "0" else "1"),
        signed(client, url, "someone else"),
        f"/api/proxy-image?url={quote(url)}&sig=",
    ):
        assert client.get(path).status_code == 403
    assert client.get(f"/api/proxy-image?url={quote(url)}").status_code == 422
    assert len(gallery.requests) == asked


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)//<script>alert(2)</script>",
        "http://x.invalid/<script>alert(1)</script>",
        "http://<script>alert(1)</script>/",
        "http://a\"b'<c>/",
        "data:image/png;base64,AAAA<b>",
        "file:///etc/passwd<b>",
    ],
)
def test_an_error_never_repeats_the_address(client: TestClient, url: str) -> None:
    answer = client.get(signed(client, url))
    assert 400 <= answer.status_code < 600
    assert answer.headers["content-type"] == "application/json"
    assert "<" not in answer.text
    assert (
        "sandbox" in answer.headers["content-security-policy"]
        or "default-src 'none'" in answer.headers["content-security-policy"]
    )


def test_no_form_of_a_forbidden_address_is_reached(settings: Settings, serve: Callable[..., TestClient]) -> None:
    client = serve(replace(settings, allow_hosts=(), timeout=1))
    with Canary() as canary:
        statuses = {
            name: client.get(signed(client, form.format(port=canary.port))).status_code for name, form in ALL.items()
        }
        assert canary.connections == 0
    assert {name: status for name, status in statuses.items() if status < 400} == {}
    assert len(statuses) >= 60


def test_a_redirect_to_a_forbidden_address_is_not_followed(
    settings: Settings, serve: Callable[..., TestClient]
) -> None:
    async def away(request: Request, reply: Reply) -> None:
        await reply.send("", status=302, location=request.query["to"])

    client = serve(settings)
    with Canary() as canary, Site({"away": away}) as site:
        to = quote(f"http://127.0.0.2:{canary.port}/", safe="")
        assert client.get(signed(client, site.url(f"/away?to={to}"))).status_code == 403
        assert canary.connections == 0


def test_strangers_get_no_pictures(shared: TestClient, gallery: Site) -> None:
    asked = len(gallery.requests)
    assert shared.get(signed(shared, gallery.url("/kind/PNG"))).status_code == 401
    assert len(gallery.requests) == asked


def test_a_damaged_file_on_the_shelf_is_fetched_again(client: TestClient, gallery: Site, settings: Settings) -> None:
    from pathlib import Path

    path = signed(client, gallery.url("/kind/PNG?damaged"))
    client.get(path)
    (kept,) = Path(str(settings.library)).parent.glob("image-cache/*/*")
    kept.write_bytes(SVG)
    answer = client.get(path)
    assert (answer.status_code, answer.content) == (200, picture("PNG"))


def keep(client: TestClient, library: Store, url: str, data: bytes, media_type: str, *, role: str = "picture") -> str:
    """Keep a picture with an item; return its address in the reader."""
    item = library.items.save(make_item(), None)
    name = library.blobs.put(data, NOW)
    library.blobs.link(item.id, [ItemBlob(role, url, "kept", NOW, media_type, name, len(data))])  # type: ignore[arg-type]
    return signed(client, url)


def test_kept_picture_comes_without_its_site(client: TestClient, library: Store) -> None:
    url = "http://127.0.0.1:1/gone.png"
    path = keep(client, library, url, picture("PNG"), "image/png")
    answer = client.get(path)
    assert (answer.status_code, answer.content) == (200, picture("PNG"))
    assert answer.headers["content-type"] == "image/png"
    assert client.get(path, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    keep(client, library, url, picture("JPEG"), "image/jpeg", role="thumbnail")
    assert client.get(f"{path}&small=true").content == picture("JPEG")
    assert client.get(path).content == picture("PNG")


def test_kept_drawing_is_never_opened_on_our_origin(client: TestClient, library: Store) -> None:
    answer = client.get(keep(client, library, "http://127.0.0.1:1/a.svg", SVG, "image/svg+xml"))
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == "attachment"
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_lost_file_is_fetched_again(client: TestClient, library: Store, gallery: Site, settings: Settings) -> None:
    path = keep(client, library, gallery.url("/kind/PNG"), picture("WEBP"), "image/webp")
    for file in Path(f"{settings.library}.blobs").rglob("*"):
        if file.is_file():
            file.unlink()
    assert client.get(path).content == picture("PNG")
