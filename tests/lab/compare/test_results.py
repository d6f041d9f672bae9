"""What others made of a page, in our form."""

from __future__ import annotations

from pagekeep.text import split_words
from pagekeep_lab.results import result_from_html, result_from_markdown


def test_html_is_read_for_words_links_pictures_films_and_structure() -> None:
    found = result_from_html(
        '<h1>A</h1><p>b <a href="https://x.example">c</a></p><img src="p.png"><iframe src="https://www.youtube.com/embed/1"></iframe><ul><li>d</ul>'
    )
    assert split_words(found.text) == ["a", "b", "c", "d"]
    assert (found.links, found.images) == (("https://x.example",), ("p.png",))
    assert found.videos == ("https://www.youtube.com/embed/1",)
    assert (found.structure.paragraphs, found.structure.lists) == (1, 1)


def test_markdown_is_read_as_it_is_shown() -> None:
    found = result_from_markdown(
        "# A\n\n[![alt](https://x.example/p.png)](https://x.example/p.png) b[^1] [c](https://y.example)\n\n[^1]: d\n"
    )
    assert split_words(found.text) == ["a", "b", "c", "d"]
    assert (found.links, found.images) == (("https://y.example",), ("https://x.example/p.png",))
