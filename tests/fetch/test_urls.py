from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep import InvalidProtocol, InvalidUrl, PagekeepError
from pagekeep.fetch.urls import join, parse_host, split_url


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("http://example.com", "http://example.com/"),
        ("HTTP://EXAMPLE.com:80/A", "http://example.com/A"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com:/x", "https://example.com/x"),
        ("https://example.com:8443/x?y#z", "https://example.com:8443/x?y"),
        ("https://example.com?q=1", "https://example.com/?q=1"),
        ("https://example.com/a b", "https://example.com/a%20b"),
        ("https://example.com/ä?ö=ü", "https://example.com/%C3%A4?%C3%B6=%C3%BC"),
        ("https://example.com/%C3%A4%2f", "https://example.com/%C3%A4%2f"),
        ("https://example.com/a\\b?c\\d", "https://example.com/a/b?c%5Cd"),
        ("https://example.com/a@b:c", "https://example.com/a@b:c"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://BÜCHER.example./", "https://xn--bcher-kva.example/"),
        ("https://a_b.example/", "https://a_b.example/"),
        ("http://[2606:4700::1111]:80/", "http://[2606:4700::1111]/"),
        ("http://[2606:4700:0:0::1111]:81/", "http://[2606:4700::1111]:81/"),
        ("  https://example.com/\n", "https://example.com/"),
    ],
)
def test_urls_come_out_in_normal_form(url: str, normal: str) -> None:
    assert split_url(url).url == normal
    assert split_url(normal).url == normal


@pytest.mark.parametrize(
    "url",
    [
        *(
            "",
            " ",
            "example.com",
            "example.com/page",
            "example.com:8080/page",
            "localhost:80",
            "//example.com/",
            "/page",
        ),
        *("http:", "http://", "http:///x", "http:example.com", "http:/example.com", "https://?q", "https://#f"),
        *("http://a@b/", "http://a:b@c/", "http://@a/", "http://a\\@b/", "http://a\\b"),
        *("http://a:0/", "http://a:65536/", "http://a:x/", "http://a:-1/", "http://a:8٠/", "http://a:1:2/"),
        *("http://a b/", "http://a\tb/", "http://a\nb/", "http://a\x00b/", "http://exa%00mple/", "http://a%2fb/"),
        *("http://-a/", "http://a..b/", "http://.a/", "http://a,b/", "http://a%/", "http://%ff%fe/", "http://\ud800/"),
        *("http://[::1/", "http://[::1]x/", "http://[1.2.3.4]/", "http://[::1%25lo]/", "http://[::g]/", "http://::1/x"),
        *("http://1.2.3.4.5/", "http://256.1.1.1/", "http://a.1.2.3/", "http://" + "a" * 64 + ".com/"),
        "http://example.com/" + "a" * 9000,
    ],
)
def test_what_is_not_a_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidUrl):
        split_url(url)


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://example.com/", "javascript:alert(1)", "data:text/html,x", "gopher://a/", "ws://a/"],
)
def test_other_protocols_are_refused(url: str) -> None:
    with pytest.raises(InvalidProtocol):
        split_url(url)


def test_an_address_in_disguise_is_known_as_one() -> None:
    assert parse_host("0x7f.1").disguised
    assert parse_host("127.0.0.1.").disguised
    assert not parse_host("127.0.0.1").disguised
    assert parse_host("１２７.0.0.1").name == "127.0.0.1"


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/b", "https://a.example/b"),
        ("b", "https://a.example/x/b"),
        ("?q", "https://a.example/x/y?q"),
        ("//b.example/c", "https://b.example/c"),
        ("/\\b.example/c", "https://b.example/c"),
        ("\\\\b.example/c", "https://b.example/c"),
        ("http://b.example#f", "http://b.example"),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("http:\\\\b.example", "http://b.example"),
        ("/ü", "https://a.example/ü"),
    ],
)
def test_a_location_is_joined_as_browsers_do(location: str, target: str) -> None:
    assert join("https://a.example/x/y", location) == target


def test_a_location_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidUrl):
        join("https://a.example/", "http://[::1")


@given(st.text())
def test_any_text_is_split_or_refused_with_our_error(text: str) -> None:
    for url in (text, "http://" + text, "http://" + text + "/", "https://a/" + text):
        try:
            parts = split_url(url)
        except PagekeepError:
            continue
        assert parts.url.isascii()
        assert split_url(parts.url) == parts or parts.host.disguised
        assert not set(parts.target) & set(" \r\n\t\\#")
