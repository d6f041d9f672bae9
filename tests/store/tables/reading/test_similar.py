"""Items that share rare words."""

from __future__ import annotations

from dataclasses import replace

from pagekeep.library.items.reading import similar_items
from pagekeep.store import Store
from tests.store.conftest import Opener
from tests.store.making import NOW, make_item

LIGHTHOUSE = (
    "The lighthouse keeper trims the paraffin lamp. Each lighthouse has its own paraffin store and its own keeper. "
)
BREAD = "Knead the dough and let the sourdough starter rest. Bake the sourdough until the dough has risen. "


def test_items_about_the_same_subject_are_found_best_first(library: Store, opened: Opener) -> None:
    def add(number: int, title: str, content: str) -> str:
        return library.items.save(make_item(number, user_id=library.user_id, title=title, content=content), None).id

    own = add(0, "A lighthouse and its keeper", LIGHTHOUSE * 5)
    near = add(1, "Paraffin in the lighthouse", LIGHTHOUSE * 4)
    add(2, "Sourdough for beginners", BREAD * 5)
    gone = add(3, "The lighthouse keeper's paraffin", LIGHTHOUSE * 5)
    library.items.delete(gone, NOW)
    found = similar_items(library, own)
    assert [one.item.id for one in found] == [near]
    assert "lighthouse" in found[0].shared
    assert found == similar_items(library, own)
    stranger = opened("stranger")
    theirs = stranger.items.save(make_item(0, user_id="stranger", title="The lighthouse", content=LIGHTHOUSE), None)
    assert similar_items(stranger, theirs.id) == ()


def test_scripts_without_spaces_are_compared_by_phrases(library: Store) -> None:
    texts = [
        "量子力学の基礎。量子力学は波動を扱う。波動関数と量子力学。" * 3,
        "量子力学と波動関数の歴史。量子力学の父。" * 3,
        "料理の本。" * 9,
    ]
    ids = []
    for number, text in enumerate(texts):
        item = make_item(number, user_id=library.user_id, title=text[:8], content=text)
        japanese = replace(item, metadata=replace(item.metadata, language="ja"))
        ids.append(library.items.save(japanese, None).id)
    assert [one.item.id for one in similar_items(library, ids[0])] == [ids[1]]


def test_a_page_without_own_words_has_no_similar_ones(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id, title="The", content="It was."), None)
    assert similar_items(library, item.id) == ()
