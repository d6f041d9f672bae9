"""Tags that earlier versions added become suggestions; the user's stay. `test_upgrade.py` runs it on both engines."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pagekeep.store import open_store
from pagekeep.store.migrations.split_tags import find_added
from tests.store.past_library import faults_of, make_sqlite

OWN = "---\ntitle: A title\ntags: [null-page, 'wood: oak', lathe]\nquality: article\n---\n\nSome words.\n"


@pytest.mark.parametrize(
    ("tags", "added"),
    [
        (("null-page", "wood: oak", "lathe"), ("null-page", "wood: oak", "lathe")),
        (("mine", "null-page", "wood: oak", "lathe"), ("null-page", "wood: oak", "lathe")),
        (("null-page", "lathe", "later"), ("null-page", "lathe")),  # one was removed, one added
        (("lathe", "null-page", "wood: oak"), ("null-page", "wood: oak")),  # requested: it comes before the page's own
        (("mine", "to read"), ()),
        ((), ()),
    ],
)
def test_only_tags_of_the_page_in_their_order_were_added(tags: tuple[str, ...], added: tuple[str, ...]) -> None:
    assert find_added({"tags": list(tags)}, "web", OWN) == list(added)


@pytest.mark.parametrize(
    "changes",
    [
        {"source": "import:pocket"},
        {"metadata": {"tags": ["lathe"], "imported": True}},
        {"metadata": {"tags": ["lathe"], "suggested_tags": ["oak"]}},
        {"metadata": {"tags": "lathe"}},
        {"content": "Some words without frontmatter, tags: [lathe]"},
        {"content": "---\ntags: [broken\n---\n"},
        {"content": "---\ntitle: x\n---\n\ntags: [lathe]\n"},
    ],
)
def test_tags_of_the_user_stay(changes: dict[str, Any]) -> None:
    assert find_added(**{"metadata": {"tags": ["lathe"]}, "source": "web", "content": OWN, **changes}) == []


def test_many_items_are_split_a_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagekeep.store.migrations.split_tags._BATCH", 2)
    expected = make_sqlite(tmp_path / "library.db", 4)["ada"]
    with closing(open_store(tmp_path / "library.db", "ada")) as library:
        assert faults_of(library, expected) == []
