"""Tables of the IP ranges that Pagekeep must not connect to, and a parser for IPv4 addresses in any notation.

`ipaddress.is_global` accepts multicast, NAT64, v4-compatible and cloud addresses, so the policy is written out. IPv4 is
allowed unless it is in the table; IPv6 is refused unless it is global unicast and not in the table.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

IP = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

REFUSED_V4: Final = {
    IPv4Network(network): reason
    for network, reason in {
        "0.0.0.0/8": "this network; many systems connect it to themselves",
        "10.0.0.0/8": "private",
        "100.64.0.0/10": "carrier-grade NAT; cloud metadata at 100.100.100.200",
        "127.0.0.0/8": "loopback",
        "168.63.129.16/32": "cloud platform services behind a public-looking address",
        "169.254.0.0/16": "link-local; cloud metadata at 169.254.169.254",
        "172.16.0.0/12": "private",
        "192.0.0.0/24": "protocol assignments; cloud metadata at 192.0.0.192",
        "192.0.2.0/24": "documentation",
        "192.31.196.0/24": "AS112 service",
        "192.52.193.0/24": "multicast tunnelling",
        "192.88.99.0/24": "6to4 relays",
        "192.168.0.0/16": "private",
        "192.175.48.0/24": "AS112 service",
        "198.18.0.0/15": "benchmarking",
        "198.51.100.0/24": "documentation",
        "203.0.113.0/24": "documentation",
        "224.0.0.0/4": "multicast",
        "240.0.0.0/4": "reserved and broadcast",
    }.items()
}

GLOBAL_V6: Final = IPv6Network("2000::/3")
"""The public internet. Loopback, mapped, compatible, unique-local, link-local, site-local and multicast addresses are
outside of it."""

REFUSED_V6: Final = {
    IPv6Network(network): reason
    for network, reason in {
        "2001::/23": "protocol assignments such as Teredo, which contains an IPv4 address",
        "2001:db8::/32": "documentation",
        "2002::/16": "6to4, which contains an IPv4 address",
        "3ffe::/16": "withdrawn",
        "3fff::/20": "documentation",
    }.items()
}

NAT64: Final = IPv6Network("64:ff9b::/96")
"""The one range whose inner IPv4 address is checked: IPv6-only networks reach every IPv4 site through it."""

_DIGITS: Final = {10: re.compile(r"[0-9]+"), 8: re.compile(r"[0-7]*"), 16: re.compile(r"[0-9a-f]*")}

_MAX_DIGITS: Final = 40
"""A longer number is too big for any part, and `int()` refuses very long ones."""


@lru_cache(maxsize=4096)
def is_public(address: IP) -> bool:
    """Return whether the address is on the public internet."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in REFUSED_V4)
    if address in NAT64:
        return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
    return address in GLOBAL_V6 and not any(address in network for network in REFUSED_V6)


def looks_like_ipv4(host: str) -> bool:
    """Return whether a browser would read the (lower-case) host as an IPv4 address: its last label is a number."""
    last = host.removesuffix(".").rpartition(".")[2]
    return last.isdigit() or (last.startswith("0x") and _DIGITS[16].fullmatch(last, 2) is not None)


def parse_ipv4(host: str) -> IPv4Address | None:
    """Parse an address in any notation that browsers and `inet_aton` accept: decimal, octal, hex, one to four parts."""
    parts = [_parse_number(part) for part in host.removesuffix(".").split(".")]
    numbers = [number for number in parts if number is not None]
    if len(numbers) != len(parts) or len(numbers) > 4:
        return None
    *leading, last = numbers
    if any(number > 255 for number in leading) or last >= 256 ** (4 - len(leading)):
        return None
    return IPv4Address(last + sum(number << (24 - 8 * place) for place, number in enumerate(leading)))


def _parse_number(part: str) -> int | None:
    if not part or len(part) > _MAX_DIGITS:
        return None
    if part.startswith("0x"):
        base, digits = 16, part[2:]
    elif part.startswith("0") and len(part) > 1:
        base, digits = 8, part[1:]
    else:
        base, digits = 10, part
    return int(digits or "0", base) if _DIGITS[base].fullmatch(digits) else None
