from __future__ import annotations

import pytest

from pagekeep.fetch.client import MAX_COOKIES, CookieJar
from pagekeep.fetch.urls import split_url

HERE = split_url("https://www.example.com/")


def after(line: str, to: str = "https://www.example.com/") -> str | None:
    jar = CookieJar(HERE, None)
    jar.keep([line], HERE)
    return jar.header(split_url(to))


@pytest.mark.parametrize(
    "line", ["a=1", " a = 1 ; Path=/x", "a=1; HttpOnly; Secure", "a=1; Domain=www.example.com", "a=1;;"]
)
def test_a_cookie_comes_back_to_its_host(line: str) -> None:
    assert after(line) == "a=1"


@pytest.mark.parametrize(
    "line", ["", "a", "=1", "a=\x01", "a=1; Domain=other.example", "a=1; Domain=com", "a=" + "x" * 5000]
)
def test_faulty_and_foreign_cookies_are_passed_over(line: str) -> None:
    assert after(line) is None
    assert after(line, "https://other.example/") is None


def test_a_cookie_goes_to_other_hosts_only_below_its_domain() -> None:
    assert after("a=1", "https://x.www.example.com/") is None
    assert after("a=1; Domain=.example.com", "https://shop.example.com/") == "a=1"
    assert after("a=1; Domain=example.com", "https://badexample.com/") is None


def test_a_secure_cookie_is_not_sent_in_the_clear() -> None:
    assert after("a=1; Secure", "http://www.example.com/") is None
    assert after("a=1", "http://www.example.com/") == "a=1"


@pytest.mark.parametrize("how", ["Max-Age=0", "Max-Age=-1", "Expires=Thu, 01 Jan 1970 00:00:00 GMT"])
def test_a_cookie_can_be_deleted(how: str) -> None:
    jar = CookieJar(HERE, {"b": "2"})
    jar.keep(["a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT"], HERE)
    assert jar.header(HERE) == "b=2; a=1"
    jar.keep([f"a=; {how}"], HERE)
    assert jar.header(HERE) == "b=2"


def test_the_callers_cookies_go_to_the_first_host_alone_and_never_in_the_clear() -> None:
    jar = CookieJar(HERE, {"session": "x"})
    assert jar.header(HERE) == "session=x"
    assert jar.header(split_url("https://example.com/")) is None
    assert jar.header(split_url("http://www.example.com/")) is None


def test_the_jar_does_not_overflow() -> None:
    jar = CookieJar(HERE, None)
    jar.keep([f"c{number}=1" for number in range(10_000)], HERE)
    jar.keep(["c0=2"], HERE)
    header = jar.header(HERE)
    assert header is not None
    assert len(header.split("; ")) == MAX_COOKIES
    assert "c0=2" in header
