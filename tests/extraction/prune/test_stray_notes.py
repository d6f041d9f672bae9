"""Footnotes outside the box of the text."""

from __future__ import annotations

from pagekeep import extract

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still. "
NOTES = (
    '<div><div class="Post__footnotes"><h4>Footnotes</h4><ol><li id="footnote-1">Forty of them.</li></ol></div></div>'
)


def article(mark: str) -> str:
    return f"<body><article><h1>The mill</h1><p>{SENTENCE * 6}{mark}</p><p>{SENTENCE * 6}</p></article>{NOTES}</body>"


def test_notes_beside_the_article_come_with_it() -> None:
    page = extract(article("<sup>1</sup>"))
    assert "[^1]: Forty of them." in page.markdown
    assert "Footnotes" not in page.markdown


def test_notes_that_nothing_asks_for_stay_where_they_are() -> None:
    assert "Forty" not in extract(article("")).markdown


def test_names_of_notes_accuse_of_nothing() -> None:
    notes = '<div class="footnotes-footer"><p id="footnote-1"><sup>1</sup> Forty of them.</p></div>'
    page = extract(f"<body><article><p>{SENTENCE * 6}<sup>1</sup></p><p>{SENTENCE * 6}</p>{notes}</article></body>")
    assert "[^1]: Forty of them." in page.markdown
