from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.extraction.input import urls


def test_relative_address_is_joined_to_the_base() -> None:
    assert urls.absolute("../b.html?q=1", "https://example.com/a/c/d") == "https://example.com/a/b.html?q=1"


def test_address_without_scheme_takes_the_scheme_of_the_base() -> None:
    assert urls.absolute("//cdn.example.com/x.png", "https://example.com/") == "https://cdn.example.com/x.png"


@pytest.mark.parametrize(
    "address",
    [
        None,
        "",
        "javascript:alert(1)",
        "data:text/plain,x",
        "mailto:a@example.com",
        "/only/path",
        "http://[bad",
        "https://a]b/",
        "https:///x",
    ],
)
def test_what_is_not_a_web_address_is_refused(address: str | None) -> None:
    assert urls.absolute(address) is None


def test_control_characters_and_spaces_do_not_survive_in_an_address() -> None:
    assert urls.absolute(" https://example.com/a\n b\x00c\ud800 ") == "https://example.com/a%20bc"


def test_overlong_address_is_refused() -> None:
    assert urls.absolute("https://example.com/" + "a" * 10_000) is None


def test_host_is_lower_case_without_port_and_user() -> None:
    assert urls.host("https://me:secret@WWW.Example.COM.:8443/x") == "www.example.com"
    assert urls.host("http://[bad") == ""
    assert urls.host(None) == ""


def test_domain_drops_a_www_label_but_no_letters() -> None:
    assert urls.domain("https://www.wwwork.example/") == "wwwork.example"
    assert urls.domain("https://wwwork.example/") == "wwwork.example"


def test_base_element_changes_what_relative_addresses_mean() -> None:
    document = dom.parse('<base href="/deep/"><p>x')
    assert urls.base(document, "https://example.com/page") == "https://example.com/deep/"
    assert urls.base(dom.parse("<p>x"), "https://example.com/page") == "https://example.com/page"


def test_broken_base_element_is_ignored() -> None:
    assert urls.base(dom.parse('<base href="http://[bad">'), "https://example.com/page") == "https://example.com/page"
