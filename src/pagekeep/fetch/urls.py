"""The URL parser and the tables of refused IP ranges that guard and client share, so that the two cannot disagree.

`ipaddress.is_global` accepts multicast, NAT64, v4-compatible and cloud addresses, so the policy is written out. IPv4 is
allowed unless it is in the table; IPv6 is refused unless it is global unicast and not in the table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final
from urllib.parse import quote, unquote_to_bytes, urljoin

from pagekeep.errors import InvalidProtocol, InvalidUrl
from pagekeep.text import printable

DEFAULT_PORTS: Final = {"http": 80, "https": 443}
MAX_URL_CHARS: Final = 8192
"""Most servers refuse longer request lines."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_UNWANTED = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_AUTHORITY = re.compile(r"//([^/?#\\]*)")
_NO_HOST = re.compile(r"(?:[Hh][Tt][Tt][Pp][Ss]?:)?//(?:[/?#]|\Z)")
_PORT = re.compile(r"[0-9]{1,5}")
_NAME = re.compile(
    r"(?=.{1,253}\.?\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.?"
)
_ENDS = "".join(map(chr, range(0x21)))
# Characters that a request line may contain; everything else is percent-encoded, as browsers do.
_TARGET_SAFE: Final = "%/?:@!$&'()*+,;=-._~[]|{}^`"

_MAX_SHOWN: Final = 80
"""Characters of a faulty input that an error repeats."""
_MAX_SCHEME_SHOWN: Final = 20


IP = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Host:
    """A host in normal form."""

    name: str
    """Lower-case ASCII, without brackets or trailing dot; an IP address in its usual notation."""
    ip: IP | None
    """Set when the host is an IP address and not a name."""
    disguised: bool = False
    """An IP address in an unusual notation, which is only used to hide it."""


@dataclass(frozen=True, slots=True)
class SplitUrl:
    """The parts of an http or https URL, normalised."""

    scheme: str
    host: Host
    port: int
    target: str
    """Path and query, percent-encoded, as in the request line."""

    @property
    def origin(self) -> str:
        """Scheme, host and port; the default port is left out."""
        return f"{self.scheme}://{self.authority}"

    @property
    def authority(self) -> str:
        """Host and port, as in the `Host` header."""
        name = f"[{self.host.name}]" if isinstance(self.host.ip, IPv6Address) else self.host.name
        return name if self.port == DEFAULT_PORTS[self.scheme] else f"{name}:{self.port}"

    @property
    def url(self) -> str:
        """The whole URL, without a fragment."""
        return self.origin + self.target


def split_url(url: str) -> SplitUrl:
    """Split a URL into its parts; raise `InvalidUrl`, or `InvalidProtocol` for a scheme other than http and https."""
    url = url.strip(_ENDS)
    if not url:
        raise InvalidUrl("The URL is empty.")
    if len(url) > MAX_URL_CHARS:
        raise InvalidUrl(f"The URL is longer than {MAX_URL_CHARS:,} characters.")
    if _UNWANTED.search(url):
        raise InvalidUrl("The URL contains control characters.")
    scheme, rest = _scheme(url)
    authority = _AUTHORITY.match(rest)
    if authority is None or not authority[1]:
        raise InvalidUrl("The URL has no host.")
    after = rest[authority.end() :]
    if after.startswith("\\"):
        raise InvalidUrl("The URL has a backslash after its host.")
    host, port = _host_and_port(authority[1], DEFAULT_PORTS[scheme])
    return SplitUrl(scheme, host, port, _target(after))


def join(base: str, location: str) -> str:
    """Return the URL that a `Location` header means, seen from `base`, without its fragment."""
    # Browsers read a backslash as a slash here; `urljoin` does not, and would take `/\\host` for a path.
    before, mark, query = location.strip(_ENDS).partition("?")
    location = before.replace("\\", "/") + mark + query
    try:
        # Here `urljoin` would fill in the host of `base`.
        if _NO_HOST.match(location):
            raise ValueError
        return urljoin(base, location).partition("#")[0]
    except ValueError:
        raise InvalidUrl(f"The page redirects to `{printable(location[:_MAX_SHOWN])}`, which is not a URL.") from None


def _scheme(url: str) -> tuple[str, str]:
    match = _SCHEME.match(url)
    if match is None:
        raise InvalidUrl("The URL does not start with http:// or https://.")
    scheme = match[1].lower()
    rest = url[match.end() :]
    if scheme in DEFAULT_PORTS:
        return scheme, rest
    if "." in scheme or re.match(r"[0-9]+(?:[/?#]|\Z)", rest):  # example.com:8080/page
        raise InvalidUrl("The URL does not start with http:// or https://.")
    raise InvalidProtocol(f"Pagekeep cannot fetch `{scheme[:_MAX_SCHEME_SHOWN]}:` URLs.")


def _host_and_port(authority: str, default: int) -> tuple[Host, int]:
    if "@" in authority:
        raise InvalidUrl(
            "The URL contains a user name or password.",
            suggestions=("Remove everything between // and @ from the URL.",),
        )
    host, colon, port = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        return parse_host(authority), default
    if not port:
        return parse_host(host), default
    if not _PORT.fullmatch(port) or not 0 < int(port) < 65536:
        raise InvalidUrl(f"`{port[:_MAX_SHOWN]}` is not a valid port.")
    return parse_host(host), int(port)


@lru_cache(maxsize=4096)
def parse_host(host: str) -> Host:
    """Return a host in normal form, read as browsers do, IPv6 with or without brackets; raise `InvalidUrl`."""
    if host.startswith("[") and host.endswith("]"):
        return _ipv6(host[1:-1])
    if ":" in host:
        return _ipv6(host)
    name = _ascii_name(host)
    if looks_like_ipv4(name):
        return _ipv4(name, host)
    if not _NAME.fullmatch(name):
        raise _invalid_host(host)
    return Host(name.removesuffix("."), None)


def _ipv6(text: str) -> Host:
    try:
        ip = IPv6Address(text)
    except AddressValueError:
        raise _invalid_host(text) from None
    if ip.scope_id is not None:
        raise InvalidUrl("The URL names a network interface (`%`).")
    return Host(str(ip), ip)


def _invalid_host(host: str) -> InvalidUrl:
    return InvalidUrl(f"`{printable(host[:_MAX_SHOWN])}` is not a valid host name.")


def _ipv4(name: str, original: str) -> Host:
    ip = parse_ipv4(name)
    if ip is None:
        raise _invalid_host(name)
    return Host(str(ip), ip, disguised=str(ip) != original)


def _ascii_name(host: str) -> str:
    """Return a host name percent-decoded, mapped by UTS 46 (full-width digits, other dots), in punycode."""
    if "%" in host:
        try:
            host = unquote_to_bytes(host).decode("utf-8")
        except UnicodeDecodeError:
            raise _invalid_host(host) from None
    if host.isascii():
        return host.lower()
    import idna  # takes 8 ms to import, and most hosts do not need it

    try:
        # NFKC and lower case first: UTS 46 would refuse a bare number instead of reading it.
        return idna.encode(idna.uts46_remap(host, std3_rules=False, transitional=False), std3_rules=False).decode(
            "ascii"
        )
    except idna.IDNAError:
        raise _invalid_host(host) from None


def _target(after: str) -> str:
    path_and_query = after.partition("#")[0]
    path, mark, query = path_and_query.partition("?")
    path = quote(path.replace("\\", "/") or "/", safe=_TARGET_SAFE)
    return path + mark + quote(query, safe=_TARGET_SAFE)


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
