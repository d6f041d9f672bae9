from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pagekeep.store.query import CLOSE, MAX_SNIPPET_CHARS, OPEN, parse_query, snippet
from tests.store.making import make_item


def shown(query: str, content: str, **fields: str) -> str:
    return snippet(parse_query(query).terms, make_item(content=content, **fields))  # type: ignore[arg-type]


def test_the_words_found_are_marked_within_their_surroundings() -> None:
    text = shown("needle", "hay " * 500 + "a needle here " + "straw " * 500)
    assert "[[needle]] here straw" in text
    assert text.startswith("…hay")
    assert text.endswith("straw…")
    assert len(text) < MAX_SNIPPET_CHARS + 20


def test_only_whole_words_are_marked() -> None:
    assert shown("art", "Party of art, artful") == "Party of [[art]], artful"
    assert shown("art*", "Party of art, artful") == "Party of [[art]], [[art]]ful"


def test_a_phrase_is_marked_whole() -> None:
    assert shown('"solar panel"', "A solar cell, a *Solar* panel.") == "A solar cell, a [[Solar panel]]."


def test_marks_stand_right_where_folding_changes_lengths() -> None:
    assert shown("gross", "Fußball ist groß, ﬁn ist gross") == "Fußball ist [[groß]], ﬁn ist [[gross]]"


def test_a_word_of_the_title_alone_is_shown_there() -> None:
    assert shown("oak", "Elm", title="The Oak") == "The [[Oak]]"


def test_text_cannot_forge_marks() -> None:
    text = shown("oak", "[[elm]] oak [[[x]]]]", title="t")
    assert text.count(OPEN) == text.count(CLOSE) == 1
    assert shown("", "x", title="[[oak]]") == "x"


def test_markdown_is_left_out() -> None:
    content = '---\na: b\n---\n# Head\n\n- **bold** [link](https://e.org/x "t") `code`\n> snake_case _it_ ![alt](i.png)\n\n| a | b |\n|---|---|\n'
    assert shown("none", content) == "Head bold link code snake_case it alt a b"


@given(st.text(max_size=80), st.text(max_size=20))
def test_any_text_has_a_snippet(content: str, query: str) -> None:
    terms = parse_query(f'"{query}" a').terms
    assert isinstance(snippet(terms, make_item(content=content * 5)), str)
