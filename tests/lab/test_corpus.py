from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from pagekeep import dom
from pagekeep.errors import NotFound, ParseError
from pagekeep_lab.corpus import block_text, find_cases, read_case

AddPage = Callable[..., Path]


def test_pages_come_in_name_order_plain_and_gzipped(add_page: AddPage) -> None:
    add_page("b", "<p>plain")
    corpus = add_page("a", "<p>packed", zipped=True)
    samples = [read_case(case) for case in find_cases(corpus)]
    assert [(sample.name, sample.html) for sample in samples] == [("a", b"<p>packed"), ("b", b"<p>plain")]


def test_reference_fields_are_read(add_page: AddPage) -> None:
    gold = read_case(find_cases(add_page("a", author="", links=["https://example.com/x"]))[0]).gold
    assert (gold.title, gold.author, gold.published) == ("The Blue Door", None, "2024-05-06")
    assert (gold.with_, gold.without) == (("two three",), ("buy now",))
    assert (gold.links, gold.images) == (("https://example.com/x",), None)


def test_limit_spreads_evenly_over_the_corpus(add_page: AddPage) -> None:
    for number in range(10):
        corpus = add_page(f"page{number}")
    assert [case.name for case in find_cases(corpus, 3)] == ["page0", "page3", "page6"]
    assert len(find_cases(corpus, 99)) == 10


def test_missing_and_empty_corpora_are_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        find_cases(tmp_path / "nowhere")
    with pytest.raises(NotFound):
        find_cases(tmp_path)


def test_reference_without_its_page_is_not_found(add_page: AddPage) -> None:
    corpus = add_page("a")
    (corpus / "a.html").unlink()
    with pytest.raises(NotFound, match=r"a\.json"):
        find_cases(corpus)


@pytest.mark.parametrize("content", ["{", "[]", '{"kind": "poem", "text": ""}', '{"kind": "article"}'])
def test_malformed_reference_is_named(add_page: AddPage, content: str) -> None:
    corpus = add_page("a")
    (corpus / "a.json").write_text(content)
    with pytest.raises(ParseError, match=r"a\.json"):
        read_case(find_cases(corpus)[0])


def test_cut_off_gzip_is_named(add_page: AddPage) -> None:
    corpus = add_page("a", "<p>" * 500, zipped=True)
    packed = corpus / "a.html.gz"
    packed.write_bytes(packed.read_bytes()[:-12])
    with pytest.raises(ParseError, match=r"a\.html\.gz"):
        read_case(find_cases(corpus)[0])


def test_folder_layout_takes_text_links_and_images_from_the_expected_html(tmp_path: Path) -> None:
    folder = tmp_path / "corpus" / "page-1"
    folder.mkdir(parents=True)
    (folder / "source.html.gz").write_bytes(gzip.compress(b"<p>source"))
    (folder / "expected.html").write_text(
        "<div><p>One</p><p>two <b>th</b>ree</p><a href='/x'>x</a><img src='/i.png'>"
        "<iframe src='https://player.vimeo.com/video/1'></iframe><iframe src='https://example.com/ad'></iframe></div>"
    )
    (folder / "expected-metadata.json").write_text('{"title": "T", "byline": null, "publishedTime": "2020-01-02"}')
    (tmp_path / "corpus" / "not-a-page").mkdir()
    cases = find_cases(tmp_path / "corpus")
    sample = read_case(cases[0])
    assert len(cases) == 1
    assert sample.html == b"<p>source"
    assert sample.gold.text.split() == ["One", "two", "three", "x"]
    assert (sample.gold.title, sample.gold.author, sample.gold.published) == ("T", None, "2020-01-02")
    assert (sample.gold.links, sample.gold.images) == (("/x",), ("/i.png",))
    assert sample.gold.videos == ("https://player.vimeo.com/video/1",)


def test_blocks_part_words_and_inline_elements_do_not() -> None:
    root = dom.parse_fragment("<div><span>o<b>ne</b></span></div>two<br>three<!-- no --><table><td>4<td>5</table>")
    assert block_text(root).split() == ["one", "two", "three", "4", "5"]
