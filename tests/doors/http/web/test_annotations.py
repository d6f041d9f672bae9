"""Passages that are marked, by plain forms."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from pagekeep import dom
from pagekeep.library.items.annotations import annotate
from pagekeep.store import Store
from tests.store.making import make_item


@pytest.fixture
def key(library: Store, client: TestClient) -> str:
    return library.items.save(make_item(title="Boats", content="The boats lie at the quay until noon."), None).id


def shown(client: TestClient, key: str) -> list[str]:
    tree = dom.parse(client.get(f"/items/{key}").text)
    return [
        " ".join(dom.text_of(node).split()) for node in dom.select(tree, ".annotation blockquote, .annotation .note")
    ]


def test_annotations_and_notes_are_listed_on_the_page(client: TestClient, library: Store, key: str) -> None:
    annotate(library, key, "lie at the quay", note="Which one?")
    annotate(library, key, "", note="Read <again>.")
    assert shown(client, key) == ["lie at the quay", "Which one?", "Read <again>."]


def test_an_annotation_is_marked_changed_and_taken_off_by_forms(client: TestClient, library: Store, key: str) -> None:
    words = {"quote": " lie at the quay ", "before": "The boats", "after": "until noon.", "note": "One.\r\nTwo."}
    answer = client.post(f"/items/{key}/annotations", data={**words, "colour": "green"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/items/{key}#annotations")
    [made] = library.annotations.of_item(key)
    assert (made.quote, made.before, made.after, made.note) == (
        "lie at the quay",
        "The boats",
        "until noon.",
        "One.\nTwo.",
    )
    client.post(f"/items/{key}/annotations/{made.id}", data={"note": "Three.", "colour": "blue"})
    [changed] = library.annotations.of_item(key)
    assert (changed.id, changed.quote, changed.note, changed.colour) == (made.id, "lie at the quay", "Three.", "blue")
    client.post(f"/items/{key}/annotations/{made.id}", data={"action": "delete"})
    assert library.annotations.of_item(key) == ()


def test_the_end_of_a_line_counts_as_one_character(client: TestClient, library: Store, key: str) -> None:
    for length, status in ((10_000, 303), (10_001, 422)):
        note = ("a\r\n" * 5_000).ljust(length + 5_000, "b")
        answer = client.post(f"/items/{key}/annotations", data={"note": note}, follow_redirects=False)
        assert answer.status_code == status
    assert [len(one.note) for one in library.annotations.of_item(key)] == [9_999]  # without the last end of a line


def test_a_note_on_the_whole_page_needs_no_annotation(client: TestClient, library: Store, key: str) -> None:
    client.post(f"/items/{key}/annotations", data={"note": "Before the summer."})
    assert [(one.quote, one.note) for one in library.annotations.of_item(key)] == [("", "Before the summer.")]


def test_of_nothing_nothing_is_made(client: TestClient, library: Store, key: str) -> None:
    client.post(f"/items/{key}/annotations", data={"quote": " ", "note": "\n"})
    assert library.annotations.of_item(key) == ()


def test_our_script_gets_the_list_alone(client: TestClient, key: str) -> None:
    page = client.post(f"/items/{key}/annotations", data={"quote": "the quay"}, headers={"x-part": "1"}).text
    assert "the quay" in page
    assert "<main" not in page


def test_an_annotation_of_another_page_cannot_be_changed_through_this_one(
    client: TestClient, library: Store, key: str
) -> None:
    other = library.items.save(make_item(2, title="Oars"), None).id
    made = annotate(library, other, "Some words")
    assert client.post(f"/items/{key}/annotations/{made.id}", data={"action": "delete"}).status_code == 404
    assert library.annotations.of_item(other) == (made,)


def test_words_of_a_stranger_stay_words(client: TestClient, library: Store, key: str) -> None:
    annotate(library, key, '"><script>alert(1)</script>', note="<img src=x onerror=alert(1)>")
    page = client.get(f"/items/{key}").text
    assert "<script>alert" not in page
    assert "<img src=x" not in page


def test_a_new_note_leaves_the_colour_another_program_gave(client: TestClient, library: Store, key: str) -> None:
    made = annotate(library, key, "the quay", colour="purple")
    client.post(f"/items/{key}/annotations/{made.id}", data={"note": "Here.", "colour": "blue"})
    assert [(one.note, one.colour) for one in library.annotations.of_item(key)] == [("Here.", "purple")]
    client.post(f"/items/{key}/annotations/{made.id}", data={"note": "Here.", "colour": "pink"})
    assert library.annotations.of_item(key)[0].colour == "pink"
