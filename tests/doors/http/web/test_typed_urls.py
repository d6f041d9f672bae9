"""Addresses as people type and paste them."""

from __future__ import annotations

import pytest

from pagekeep.doors.http.web.add import parse_urls


def urls(text: str) -> list[str]:
    return [one.url for one in parse_urls(text)]


@pytest.mark.parametrize(
    "written", ["example.com/post", "example.com", "Example.co.uk:8080?a=1", "bücher.example/über", "a.xn--p1ai#top"]
)
def test_an_address_without_its_beginning_is_completed(written: str) -> None:
    [one] = parse_urls(f"  {written} ")
    assert (one.line, one.url, one.is_completed) == (written, f"https://{written}", True)


@pytest.mark.parametrize(
    "written",
    [
        "foo",
        "two words",
        "1.5",
        "e.g.",
        "a@b.example",
        "mailto:a@b.example",
        "-a.example",
        "/a/b.html",
        "a..b",
        "v1.2:x",
    ],
)
def test_a_line_without_an_address_is_left_as_it_is(written: str) -> None:
    assert parse_urls(written) == [(written, written)]


def test_each_address_comes_once_in_its_order() -> None:
    text = "https://b.example/\r\n\na.example/x  c.example\nhttps://b.example/\nftp://d.example"
    assert urls(text) == ["https://b.example/", "https://a.example/x", "https://c.example", "ftp://d.example"]


def test_words_beside_a_whole_address_are_its_title() -> None:
    assert urls("A boat, by me.com https://b.example/boat") == ["https://b.example/boat"]
