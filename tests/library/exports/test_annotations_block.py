"""Marked passages written for people, and read back."""

from __future__ import annotations

import uuid

from hypothesis import given
from hypothesis import strategies as st

from pagekeep.library.exports.markdown_files import format_annotations, split_annotations
from pagekeep.model import Annotation

TEXTS = st.text("ab >^\\#\n-`é", max_size=60)


def passage(quote: str, note: str = "", number: int = 1) -> Annotation:
    return Annotation(str(uuid.UUID(int=number)), "", quote, "", "", note, None, "", "")


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=4), TEXTS)
def test_what_is_written_is_read_back_and_written_the_same(marked: list[tuple[str, str]], body: str) -> None:
    passages = [passage(*texts, number) for number, texts in enumerate(marked)]
    written = f"{body}\n\n{format_annotations(passages)}"
    before, found = split_annotations(written)
    assert [one.id for one in found] == [one.id for one in passages]
    again = [passage(one.quote, one.note, number) for number, one in enumerate(found)]
    assert format_annotations(again) == format_annotations(passages)
    if passages:
        assert before.strip("\n") == body.strip("\n") or before.strip() == body.strip()


def test_an_articles_own_highlights_belong_to_the_article() -> None:
    body = "Text.\n\n## Highlights\n\n> Goals\n\nMany of them.\n"
    assert split_annotations(body) == (body, ())
    assert split_annotations(f"{body}\n{format_annotations([passage('Goals')])}")[0].strip() == body.strip()


def test_the_form_is_a_quotation_a_note_and_a_name() -> None:
    reported = format_annotations([passage("Ships\ncounted", "^so few?")])
    assert reported == "## Highlights\n\n> Ships\n> counted\n\n\\^so few?\n\n^00000000-0000-0000-0000-000000000001\n"
