"""Files of the mirror show the kept pictures from `images/`; the library keeps the web addresses."""

from __future__ import annotations

from pathlib import Path

import pytest

from pagekeep.library.mirror import folder as renaming
from pagekeep.library.mirror.run import mirror
from pagekeep.model import Item, ItemBlob
from pagekeep.store import Store, open_store
from tests.site.gallery import draw
from tests.store.making import NOW, make_item

SOURCE = "https://example.com/a_(1).png"
BODY = f"Some words.\n\n[![A picture]({SOURCE})]({SOURCE})\n\n![Not kept](https://example.com/b.png)\n"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "library.db")


def save(store: Store) -> Item:
    return store.items.save(make_item(title="A page", content=f"---\ntitle: A page\n---\n\n{BODY}"), None)


def keep(store: Store, item: Item, data: bytes) -> None:
    name = store.blobs.put(data, NOW)
    store.blobs.link(item.id, [ItemBlob("picture", SOURCE, "kept", NOW, "image/png", name, len(data))])


def sync(store: Store, folder: Path) -> dict[str, str]:
    """Run the mirror as if all files were old; return the text of each file."""
    later = iter(range(10**19, 2 * 10**19, 10**12))
    report = mirror(store, folder, now=lambda: next(later), wait=lambda _: None)
    assert report.problems == []
    return {path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("[!.]*.md"))}


def test_file_shows_the_kept_picture(store: Store, tmp_path: Path) -> None:
    item, folder = save(store), tmp_path / "mirror"
    (before,) = sync(store, folder).values()
    assert f"[![A picture]({SOURCE})]({SOURCE})" in before
    keep(store, item, draw(1))  # the pictures come later than the text
    (after,) = sync(store, folder).values()
    (picture,) = (folder / "images").glob("*.png")
    assert f"[![A picture](images/{picture.name})]({SOURCE})" in after
    assert "![Not kept](https://example.com/b.png)" in after
    assert picture.read_bytes() == draw(1)
    assert sync(store, folder) == sync(store, folder)
    assert store.items.get(item.id) == item  # nothing of this is an edit


def test_edit_of_such_a_file_keeps_the_web_address(store: Store, tmp_path: Path) -> None:
    item, folder = save(store), tmp_path / "mirror"
    keep(store, item, draw(1))
    ((name, text),) = sync(store, folder).items()
    (folder / name).write_text(text.replace("Some words.", "My own words."))
    (after,) = sync(store, folder).values()
    assert store.items.get(item.id).content.partition("---\n\n")[2] == BODY.replace("Some", "My own")
    assert "images/" in after
    assert "My own words." in after


def test_file_that_was_moved_still_finds_its_pictures(store: Store, tmp_path: Path) -> None:
    item, folder = save(store), tmp_path / "mirror"
    keep(store, item, draw(1))
    ((name, _),) = sync(store, folder).items()
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / name).rename(folder / "deep" / "er" / name)
    ((path, text),) = sync(store, folder).items()
    assert path == f"deep/er/{name}"
    link = text.partition("![A picture](")[2].partition(")")[0]
    assert link.startswith("../../images/")
    assert (folder / "deep" / "er" / link).read_bytes() == draw(1)
    assert store.items.get(item.id) == item


def test_a_picture_that_appears_meanwhile_is_not_replaced(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(store, save(store), draw(1))
    move = renaming.move_to_free_name

    def move_late(draft: Path, target: Path) -> bool:
        if target.suffix == ".png":
            target.write_bytes(b"of the user")
        return move(draft, target)

    monkeypatch.setattr(renaming, "move_to_free_name", move_late)
    sync(store, tmp_path / "vault")
    (picture,) = (tmp_path / "vault" / "images").glob("*.png")
    assert picture.read_bytes() == b"of the user"
    assert not list((tmp_path / "vault" / "images").glob(".*.part"))
