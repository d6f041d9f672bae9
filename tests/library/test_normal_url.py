"""When two addresses are the same page, and which address a page goes by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.errors import InvalidProtocol, InvalidUrl, PagekeepError
from pagekeep.library import normal_url


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("HTTPS://Example.COM:443/Post", "https://example.com/Post"),
        ("http://example.com:80", "http://example.com/"),
        ("http://example.com:8080/a", "http://example.com:8080/a"),
        ("https://example.com/post#comments", "https://example.com/post"),
        ("https://example.com/#!/post/7", "https://example.com/#!/post/7"),
        ("https://example.com/app#/post/7", "https://example.com/app#/post/7"),
        ("https://example.com/app#/", "https://example.com/app"),
        ("https://example.com/post#:~:text=ships", "https://example.com/post"),
        ("https://example.com/p?utm_source=x&id=7&fbclid=abc", "https://example.com/p?id=7"),
        ("https://example.com/p?UTM_Source=x", "https://example.com/p"),
        ("https://example.com/p?b=2&a=1", "https://example.com/p?b=2&a=1"),
        ("https://example.com/p?a=1&a=2&&", "https://example.com/p?a=1&a=2"),
        ("https://example.com/p?flag", "https://example.com/p?flag"),
        ("https://example.com/p?", "https://example.com/p"),
        ("https://example.com/%7ekeeper/%c3%a9", "https://example.com/~keeper/%C3%A9"),
        ("https://example.com/é", "https://example.com/%C3%A9"),
        ("https://example.com/a%2fb", "https://example.com/a%2Fb"),
        ("https://bücher.example/a", "https://xn--bcher-kva.example/a"),
        ("https://example.com/a/./b/../c", "https://example.com/a/c"),
        ("https://example.com/a/..", "https://example.com/"),
        ("https://example.com/a/", "https://example.com/a/"),
        ("  https://example.com/a  ", "https://example.com/a"),
    ],
)
def test_what_does_not_say_which_page_is_meant_is_dropped(written: str, normal: str) -> None:
    assert normal_url.normalise(written) == normal


@pytest.mark.parametrize("kept", ["id=7", "page=2", "q=utm_source", "ref=main", "v=abc", "story_fbid=9", "source=x"])
def test_parameters_that_may_name_the_page_stay(kept: str) -> None:
    assert normal_url.normalise(f"https://example.com/p?{kept}").endswith(f"?{kept}")


@pytest.mark.parametrize("bad", ["", "example.com/a", "https://", "https://a b/", "https://u:p@example.com/"])
def test_what_is_not_an_address_is_refused(bad: str) -> None:
    with pytest.raises(InvalidUrl):
        normal_url.normalise(bad)


def test_another_protocol_is_refused() -> None:
    with pytest.raises(InvalidProtocol):
        normal_url.normalise("ftp://example.com/a")


@given(st.text(max_size=60))
def test_the_normal_form_is_its_own_normal_form_whatever_the_address(rest: str) -> None:
    try:
        once = normal_url.normalise(f"https://example.com/{rest}")
    except PagekeepError:
        return
    assert normal_url.normalise(once) == once


PAGE = "https://example.com/2024/ships?id=7"


@pytest.mark.parametrize(
    ("final", "canonical"),
    [
        ("https://example.com/?p=7", "https://example.com/2024/ships"),
        ("https://www.example.com/2024/ships", "https://example.com/2024/ships"),
        ("https://m.example.com/2024/ships", "https://www.example.com/2024/ships"),
        ("http://example.com/2024/ships", "https://example.com/2024/ships"),
        ("https://example.com/2024/ships/amp", "https://example.com/2024/ships"),
        ("https://example.com/2024/ships/", "https://example.com/2024/ships"),
        ("https://example.com/view?id=7&mode=x", "https://example.com/view?id=7"),
    ],
)
def test_a_canonical_link_of_the_same_site_is_believed(final: str, canonical: str) -> None:
    assert normal_url.identity(final, final, canonical) == canonical


@pytest.mark.parametrize(
    ("final", "canonical"),
    [
        (PAGE, "https://elsewhere.example/2024/ships"),
        (PAGE, "https://example.com/"),
        (PAGE, "https://www.example.com"),
        (PAGE, "https://example.com/2024/"),
        (PAGE, "https://example.com/2024/ships"),
        (PAGE, "https://tenant.example.com/2024/ships?id=7"),
        (PAGE, "javascript:alert(1)"),
        (PAGE, "https://"),
        ("https://example.com/2024/ships/2", "https://example.com/2024/ships"),
        ("https://example.com/app#!/post/7", "https://example.com/app"),
        ("https://example.com:8443/a", "https://example.com/b"),
    ],
)
def test_a_canonical_link_that_may_name_another_page_is_not_believed(final: str, canonical: str) -> None:
    assert normal_url.identity(final, final, canonical) == normal_url.normalise(final)


def test_a_page_goes_by_where_redirects_led() -> None:
    assert (
        normal_url.identity("https://sho.rt/x", "https://example.com/post?utm_medium=a", None)
        == "https://example.com/post"
    )


def test_a_page_that_was_sent_to_the_home_page_of_its_site_is_still_itself() -> None:
    asked = "https://example.com/gone"
    assert normal_url.identity(asked, "https://www.example.com/", "https://example.com/") == asked
    assert normal_url.identity("https://sho.rt/x", "https://example.com/", None) == "https://example.com/"


def test_a_route_survives_the_request_that_cannot_carry_it() -> None:
    assert normal_url.identity("https://example.com/#!/7", "https://example.com/", None) == "https://example.com/#!/7"


def test_the_domain_has_no_www() -> None:
    assert normal_url.domain("https://www.example.com/a") == "example.com"


@pytest.mark.parametrize(
    ("url", "normal", "domain"),
    [
        ("mid:1@News.Example.com", "mid:1@News.Example.com", "news.example.com"),
        (" MID:a%2fb@host.example ", "mid:a%2Fb@host.example", "host.example"),
        ("mid:abc@geopod-3", "mid:abc@geopod-3", "mail.invalid"),
        ("mid:1@a.example/part-2", "mid:1@a.example/part-2", "a.example"),
    ],
)
def test_the_address_of_a_message_is_its_id(url: str, normal: str, domain: str) -> None:
    assert normal_url.normalise(url.strip()) == normal
    assert normal_url.domain(normal) == domain
    assert normal_url.identity(normal, "https://example.com/", None) == normal


@pytest.mark.parametrize(
    "url", ["mid:", "mid:a b@c.example", "mid:<1@a.example>", 'mid:"@a.example', "mid:é@a.example"]
)
def test_an_address_without_a_message_id_is_refused(url: str) -> None:
    with pytest.raises(InvalidUrl):
        normal_url.normalise(url)
