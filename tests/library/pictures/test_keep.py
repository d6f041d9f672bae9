"""Pictures of a saved page are kept with it, once; what is left out is noted with the reason."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import BytesIO

import pytest
from PIL import Image

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.errors import NotFound
from pagekeep.library.archive.keep_pictures import keep_uploaded, request_pictures, run_pictures_job
from pagekeep.library.archive.pictures import find_picture, list_pictures, normal_source, wanted_sources
from pagekeep.library.imports.run import ImportPlan, import_stream
from pagekeep.model import Item, ItemQuery, SaveResult
from pagekeep.rules import Rulebook
from pagekeep.store import Store
from tests.site.gallery import SVG, Gallery, draw

Keep = Callable[..., SaveResult]


@pytest.fixture
def gallery() -> Iterator[Gallery]:
    with Gallery() as site:
        yield site


@pytest.fixture
def keep_all(keep: Keep, library: Store, settings: Settings) -> Callable[..., Item]:
    """Saves a page and runs its pictures job, if there is one."""

    def run(url: str, **changes: object) -> Item:
        chosen = replace(settings, retries=0, **changes)  # type: ignore[arg-type]
        saved = keep(url, settings=chosen)

        async def pictures() -> None:
            async with Retrieval(chosen) as retrieval:
                if saved.pictures_job is not None:
                    await run_pictures_job(saved.pictures_job, library, retrieval)

        asyncio.run(pictures())
        return saved.item

    return run


def states(library: Store, item: Item) -> dict[str, str | None]:
    """Name of each picture to why it was left out."""
    return {link.source.rpartition("/")[2]: link.reason for link in list_pictures(library, item.id)}


def test_pictures_are_kept_as_they_are(gallery: Gallery, keep_all: Callable[..., Item], library: Store) -> None:
    gallery.put_pictures("a.png", "b.jpg", "c.webp")
    item = keep_all(gallery.put_page("x", "a.png", "b.jpg", "c.webp"))
    assert states(library, item) == {"a.png": None, "b.jpg": None, "c.webp": None}
    for name in ("a.png", "b.jpg", "c.webp"):
        found = find_picture(library, gallery.source(name))
        assert found is not None
        assert found.data == gallery.pictures[name]
    assert [link.media_type for link in list_pictures(library, item.id)] == ["image/png", "image/jpeg", "image/webp"]
    assert library.check() == []


def test_same_picture_of_many_pages_is_stored_once(
    gallery: Gallery, keep_all: Callable[..., Item], library: Store
) -> None:
    gallery.pictures |= {name: draw(1) for name in ("a.png", "same.png")}
    keep_all(gallery.put_page("x", "a.png", "same.png", "a.png"))
    keep_all(gallery.put_page("y", "a.png"))
    assert library.blobs.storage().roles["picture"].count == 1
    assert library.blobs.storage().blobs.count == 2  # with the thumbnail


def test_main_picture_has_a_thumbnail(gallery: Gallery, keep_all: Callable[..., Item], library: Store) -> None:
    gallery.pictures |= {"hero.jpg": draw(1, "JPEG", (1600, 900))}
    item = keep_all(gallery.put_page("x", hero="hero.jpg"))
    (small,) = library.blobs.of_item(item.id, ("thumbnail",))
    assert (small.width, small.height) == (480, 270)
    found = find_picture(library, gallery.source("hero.jpg"), small=True)
    assert found is not None
    assert Image.open(BytesIO(found.data)).size == (480, 270)
    whole = find_picture(library, gallery.source("hero.jpg"))
    assert whole is not None
    assert whole.data == gallery.pictures["hero.jpg"]


@pytest.mark.parametrize(("choice", "kept"), [("none", []), ("hero", ["hero.jpg"])])
def test_setting_chooses_what_is_kept(
    gallery: Gallery, keep_all: Callable[..., Item], library: Store, choice: str, kept: list[str]
) -> None:
    gallery.put_pictures("hero.jpg", "a.png")
    item = keep_all(gallery.put_page("x", "hero.jpg", "a.png"), keep_pictures=choice)
    assert list(states(library, item)) == kept


def test_what_cannot_be_kept_is_noted_with_the_reason(
    gallery: Gallery, keep_all: Callable[..., Item], library: Store
) -> None:
    gallery.pictures |= {
        "gone.png": 404,
        "login.png": 403,
        "broken.png": draw(1)[:200],
        "page.png": b"<!doctype html><p>Sign in",
        "busy.png": 500,
        "fine.png": draw(2),
    }
    item = keep_all(gallery.put_page("x", *gallery.pictures))
    assert states(library, item) == {
        "gone.png": "not_found",
        "login.png": "refused",
        "broken.png": "damaged",
        "page.png": "not_a_picture",
        "busy.png": "unreachable",
        "fine.png": None,
    }


def test_limits_of_a_page_and_of_the_library_hold(
    gallery: Gallery, keep_all: Callable[..., Item], library: Store
) -> None:
    gallery.put_pictures("a.png", "b.png", "c.png", "d.png")
    size = max(len(data) for data in gallery.pictures.values() if isinstance(data, bytes))
    url = gallery.put_page("x", "a.png", "b.png", "c.png", "d.png")
    item = keep_all(url, page_pictures=2)
    assert states(library, item) == {"a.png": None, "b.png": None, "c.png": "too_many", "d.png": "too_many"}
    gallery.put_page("x", "a.png", "b.png", "c.png", "d.png", title="The keeper, again")
    keep_all(url, page_picture_bytes=3 * size)
    assert sorted(map(str, states(library, item).values())) == ["None", "None", "None", "page_full"]
    gallery.put_pictures("e.png")
    other = keep_all(gallery.put_page("y", "e.png"), archive_bytes=3 * size)
    assert states(library, other) == {"e.png": "library_full"}


def test_larger_picture_is_downscaled(gallery: Gallery, keep_all: Callable[..., Item], library: Store) -> None:
    gallery.pictures["large.png"] = draw(1, size=(3000, 2000))
    item = keep_all(gallery.put_page("x", "large.png"), picture_bytes=15_000)
    (link,) = list_pictures(library, item.id)
    assert (link.state, link.reason, link.media_type) == ("kept", "downscaled", "image/jpeg")
    assert link.size is not None
    assert link.size <= 15_000


def test_picture_on_a_private_address_is_refused(
    gallery: Gallery, keep_all: Callable[..., Item], library: Store
) -> None:
    gallery.put_page("x", "a.png")
    gallery.pages["x"] = gallery.pages["x"].replace("/picture/a.png", "http://10.0.0.1/a.png")
    assert states(library, keep_all(gallery.site.url("/page/x"))) == {"a.png": "refused"}


def test_drawing_is_kept_without_its_script(gallery: Gallery, keep_all: Callable[..., Item], library: Store) -> None:
    gallery.pictures["a.svg"] = SVG.encode()
    keep_all(gallery.put_page("x", "a.svg"))
    found = find_picture(library, gallery.source("a.svg"))
    assert found is not None
    assert found.media_type == "image/svg+xml"
    assert b"#205080" in found.data
    assert b"ran" not in found.data


def test_unchanged_page_asks_for_nothing_again(gallery: Gallery, keep_all: Callable[..., Item], library: Store) -> None:
    gallery.pictures |= {"a.png": draw(1), "gone.png": 404}
    url = gallery.put_page("x", "a.png", "gone.png")
    keep_all(url)
    keep_all(url)
    assert gallery.site.asked("/picture/a.png") == 1
    assert gallery.site.asked("/picture/gone.png") == 1
    gallery.put_pictures("new.png", "gone.png")
    item = keep_all(gallery.put_page("x", "a.png", "new.png", "gone.png"))
    assert states(library, item) == {"a.png": None, "new.png": None, "gone.png": None}
    assert gallery.site.asked("/picture/a.png") == 1


def test_job_waits_in_the_queue_until_it_is_run(
    gallery: Gallery, keep: Keep, library: Store, settings: Settings
) -> None:
    gallery.put_pictures("a.png")
    saved = keep(gallery.put_page("x", "a.png"))
    (job,) = library.jobs.list("queued")
    assert (job.id, job.options["task"]) == (saved.pictures_job, "pictures")
    assert list_pictures(library, saved.item.id) == ()
    again = request_pictures(library, saved.item, settings)
    assert again is not None
    assert again.id == job.id
    library.items.delete(saved.item.id, saved.item.saved_at)
    assert request_pictures(library, library.items.get(saved.item.id), settings) is None


def test_job_of_a_purged_item_ends(gallery: Gallery, keep: Keep, library: Store, settings: Settings) -> None:
    gallery.put_pictures("a.png")
    saved = keep(gallery.put_page("x", "a.png"))
    library.items.delete(saved.item.id, saved.item.saved_at)
    library.items.purge()

    async def run() -> None:
        async with Retrieval(settings) as retrieval:
            await run_pictures_job(str(saved.pictures_job), library, retrieval)

    asyncio.run(run())
    assert [job.state for job in library.jobs.list()] == ["done"]
    assert gallery.site.asked("/picture/a.png") == 0


def test_picture_of_the_browser_replaces_one_that_was_refused(
    gallery: Gallery, keep_all: Callable[..., Item], library: Store, settings: Settings
) -> None:
    gallery.pictures["private.png"] = 403
    item = keep_all(gallery.put_page("x", "private.png"))
    assert states(library, item) == {"private.png": "refused"}

    async def upload(source: str, data: bytes) -> object:
        async with Retrieval(settings) as retrieval:
            return await keep_uploaded(item, library, retrieval, source, data)

    asyncio.run(upload(gallery.source("private.png"), draw(5)))
    assert states(library, item) == {"private.png": None}
    with pytest.raises(NotFound):
        asyncio.run(upload("https://example.com/not-on-the-page.png", draw(5)))


def test_addresses_are_the_same_in_text_and_page(library: Store, keep: Keep, gallery: Gallery) -> None:
    from pagekeep.present.markdown_html import render
    from pagekeep.present.sections import body_of

    names = ("a b.png", "ä.png", "x(1).png", "y_z*.png", "q.png?a=1&amp;b=2", "c.png?u=http%3A%2F%2Fx")
    item = keep(gallery.put_page("odd", *names)).item
    shown: list[str] = []

    def note(url: str) -> str:
        shown.append(url)
        return url

    render(body_of(item.content), base=item.url, title=item.title, image_url=note)
    assert len(shown) == len(names)
    assert wanted_sources(item, Settings()) == [normal_source(url) for url in shown]


def test_imported_page_with_its_content_gets_its_pictures(library: Store, settings: Settings, gallery: Gallery) -> None:
    gallery.put_pictures("a.png")
    content = gallery.put_page("x", "a.png") and gallery.pages["x"].replace("/picture/", gallery.site.url("/picture/"))
    line = json.dumps({"id": 1, "url": "https://example.com/x", "title": "The keeper", "content": content, "tags": []})
    plan = ImportPlan(Rulebook(()), format="wallabag", queue=True, pictures=settings)
    report = import_stream(io.BytesIO(f"[{line}]".encode()), "wallabag.json", library, plan)
    assert (report.added, report.carried) == (1, 1)
    (job,) = [job for job in library.jobs.list("queued") if job.options == {"task": "pictures"}]

    async def run() -> None:
        async with Retrieval(settings) as retrieval:
            await run_pictures_job(job.id, library, retrieval)

    asyncio.run(run())
    (item,) = library.search.find(ItemQuery()).items
    assert states(library, item) == {"a.png": None}
