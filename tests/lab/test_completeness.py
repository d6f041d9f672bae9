from __future__ import annotations

from pagekeep import extract
from pagekeep_lab.corpus import Reference, Sample
from pagekeep_lab.evaluate import find_missing_fields

BODY = b"<h1>Rye</h1><article><p>" + b"The dough rests for a night in a cool place and grows. " * 30 + b"</p></article>"


def sample(head: bytes, **gold: str) -> Sample:
    html = b"<title>Rye</title>" + head + BODY
    return Sample("a", "https://mill.example/rye", "article", html, Reference(text="", **gold))


def lacks(page: Sample) -> tuple[str, ...]:
    return find_missing_fields(page, extract(page.html, page.url))


def test_page_with_everything_its_source_has_is_complete() -> None:
    head = b'<meta name="author" content="Ann Lee"><meta name="description" content="How rye grows.">'
    assert lacks(sample(head, title="Rye", author="Ann Lee")) == ()


def test_field_the_source_has_and_the_result_lacks_is_reported() -> None:
    assert lacks(sample(b"", author="Ann Lee", published="2024-05-03")) == ("author", "published_date")


def test_described_page_must_have_its_description() -> None:
    page = sample(b'<meta name="description" content="How rye grows.">')
    assert find_missing_fields(page, extract(BODY, page.url)) == ("description",)


def test_field_the_source_does_not_have_is_not_asked_for() -> None:
    assert lacks(sample(b'<meta name="description" content=" ">')) == ()
