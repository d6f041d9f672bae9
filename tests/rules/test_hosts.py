"""Hosts and their forms; among them what the first sketch of this got wrong."""

from __future__ import annotations

import pytest

from pagekeep.rules import hosts


@pytest.mark.parametrize(
    ("url", "name", "bare"),
    [
        ("https://www.wsj.com/a", "www.wsj.com", "wsj.com"),
        ("https://WSJ.com:8443/a?b#c", "wsj.com", "wsj.com"),
        ("http://reader:secret@www.example.com./", "www.example.com", "example.com"),
        ("//example.com/x", "example.com", "example.com"),
        ("https://wwwhatever.org", "wwwhatever.org", "wwwhatever.org"),
        ("https://wwf.org", "wwf.org", "wwf.org"),
        ("https://www.com/", "www.com", "www.com"),
        ("https://münchen.example/", "xn--mnchen-3ya.example", "xn--mnchen-3ya.example"),
        ("https://XN--MNCHEN-3YA.example/", "xn--mnchen-3ya.example", "xn--mnchen-3ya.example"),
        ("http://[2001:DB8::1]:8080/", "2001:db8::1", "2001:db8::1"),
        ("http://192.0.2.7:81/", "192.0.2.7", "192.0.2.7"),
    ],
)
def test_host_is_normal_and_only_a_whole_www_label_is_left_out(url: str, name: str, bare: str) -> None:
    host = hosts.of_url(url)
    assert host is not None
    assert (host.name, host.bare) == (name, bare)


@pytest.mark.parametrize(
    "url", [None, "", "about:blank", "file:///etc/hosts", "http:///x", "https://\ud800.example", "a b"]
)
def test_address_without_a_readable_host_has_none(url: str | None) -> None:
    assert hosts.of_url(url) is None


def test_suffixes_are_whole_labels() -> None:
    host = hosts.of_url("https://live.www.notwsj.com")
    assert host is not None
    assert host.suffixes == ("live.www.notwsj.com", "www.notwsj.com", "notwsj.com", "com")


def test_ip_address_is_in_nothing() -> None:
    host = hosts.of_url("http://192.0.2.7/")
    assert host is not None
    assert host.suffixes == ("192.0.2.7",)


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.bbc.co.uk", "bbc.co.uk"),
        ("news.example.com", "example.com"),
        ("co.uk", None),
        ("192.0.2.7", None),
        ("2001:db8::1", None),
        ("a.xn--p1ai", "a.xn--p1ai"),
    ],
)
def test_registered_domain_is_by_the_public_suffix_list(host: str, domain: str | None) -> None:
    assert hosts.registrable(host) == domain


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("https://www.wsj.com/news", "`www.wsj.com`"),
        ("wsj.com/news", "`wsj.com`"),
        ("wsj.com:443", "`wsj.com`"),
        ("*.wsj.com", "`ends_with: wsj.com`"),
        (".wsj.com", "`ends_with: wsj.com`"),
    ],
)
def test_what_is_not_a_host_is_refused_with_the_host_that_was_meant(text: str, meant: str) -> None:
    with pytest.raises(hosts.HostError) as caught:
        hosts.normalise(text)
    assert meant in caught.value.suggestion


@pytest.mark.parametrize("text", ["", " ", "a b", "a..b", "-a.com", "x" * 300, "[::1", "[zz]", "\ud800"])
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(hosts.HostError):
        hosts.normalise(text)
