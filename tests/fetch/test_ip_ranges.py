from __future__ import annotations

from ipaddress import IPv4Address, ip_address

import pytest

from pagekeep.fetch.urls import REFUSED_V4, REFUSED_V6, is_public, looks_like_ipv4, parse_ipv4

PUBLIC = [
    *("1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.255.255", "172.32.0.0", "11.0.0.0", "9.255.255.255"),
    *("100.63.255.255", "100.128.0.0", "192.0.1.0", "223.255.255.255", "168.63.129.15", "169.253.255.255"),
    *("2606:4700:4700::1111", "2a00:1450:4001::1", "2001:4860:4860::8888", "2001:200::1", "64:ff9b::808:808"),
]
NOT_PUBLIC = [
    *("0.0.0.0", "0.1.2.3", "10.255.255.255", "127.0.0.1", "100.64.0.0", "100.127.255.255", "169.254.169.254"),
    *("172.16.0.0", "172.31.255.255", "192.168.0.0", "224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.255"),
    *("168.63.129.16", "192.0.0.192", "192.0.2.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "192.88.99.1"),
    *("::", "::1", "::7f00:1", "::ffff:8.8.8.8", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
    *("64:ff9b:1::1", "100::1", "2001::1", "2001:0:7f00:1::1", "2001:db8::1", "2002:7f00:1::", "2002:808:808::1"),
    *("3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1", "febf::1", "fec0::1", "ff02::1", "4000::1", "5f00::1"),
]


@pytest.mark.parametrize("address", PUBLIC)
def test_ordinary_addresses_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_special_addresses_are_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("network", [*REFUSED_V4, *REFUSED_V6], ids=str)
def test_both_ends_of_every_refused_network_are_refused(network: object) -> None:
    assert not is_public(network[0])  # type: ignore[index]
    assert not is_public(network[-1])  # type: ignore[index]


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("127.0.1", "127.0.0.1"),
        ("127.65535", "127.0.255.255"),
        ("2130706433", "127.0.0.1"),
        ("017700000001", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("0x7f.0x00.0.01", "127.0.0.1"),
        ("0", "0.0.0.0"),
        ("0x", "0.0.0.0"),
        ("4294967295", "255.255.255.255"),
        ("1.2.3.4.", "1.2.3.4"),
    ],
)
def test_every_notation_of_ipv4_is_read_as_browsers_do(host: str, address: str) -> None:
    assert looks_like_ipv4(host)
    assert parse_ipv4(host) == IPv4Address(address)


@pytest.mark.parametrize(
    "host",
    ["256.0.0.1", "1.2.3.256", "1.2.3.4.5", "4294967296", "1.16777216", "08.0.0.1", "0x100.1", "1..2", "9" * 5000],
)
def test_impossible_ipv4_is_not_read(host: str) -> None:
    assert parse_ipv4(host) is None


@pytest.mark.parametrize("host", ["example.com", "1.2.3.example", "x.0xg", "0x7f.example", "a1", ""])
def test_names_are_not_taken_for_ipv4(host: str) -> None:
    assert not looks_like_ipv4(host)
