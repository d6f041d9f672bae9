"""Reading a URL: the one parser whose parts both the guard and the client use, so that the two cannot disagree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import AddressValueError, IPv6Address
from typing import Final
from urllib.parse import quote, unquote_to_bytes, urljoin

from pagekeep.errors import InvalidProtocol, InvalidUrl
from pagekeep.fetch.ip_ranges import IP, looks_like_ipv4, read_ipv4

DEFAULT_PORTS: Final = {"http": 80, "https": 443}
MAX_LENGTH: Final = 8192

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_UNWANTED = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_AUTHORITY = re.compile(r"//([^/?#\\]*)")
_NO_HOST = re.compile(r"(?:[Hh][Tt][Tt][Pp][Ss]?:)?//(?:[/?#]|\Z)")
_PORT = re.compile(r"[0-9]{1,5}")
_NAME = re.compile(
    r"(?=.{1,253}\.?\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.?"
)
_ENDS = "".join(map(chr, range(0x21)))
# What a request line may hold as it is; everything else is percent-encoded as browsers do.
_TARGET_SAFE: Final = "%/?:@!$&'()*+,;=-._~[]|{}^`"


@dataclass(frozen=True, slots=True)
class Host:
    """A host in its one normal form."""

    name: str
    """Lower-case ASCII, no brackets, no trailing dot; an IP address in its usual notation."""
    ip: IP | None
    """Set when the host is an address and not a name."""
    odd: bool = False
    """An address in a notation that nobody writes but to hide it."""


@dataclass(frozen=True, slots=True)
class SplitUrl:
    """The parts of an http or https URL, normalised."""

    scheme: str
    host: Host
    port: int
    target: str
    """Path and query, percent-encoded: what stands in the request line."""

    @property
    def origin(self) -> str:
        """Scheme, host and port, the port only when it is not the scheme's own."""
        return f"{self.scheme}://{self.authority}"

    @property
    def authority(self) -> str:
        """Host and port as the `Host` header has them."""
        name = f"[{self.host.name}]" if isinstance(self.host.ip, IPv6Address) else self.host.name
        return name if self.port == DEFAULT_PORTS[self.scheme] else f"{name}:{self.port}"

    @property
    def url(self) -> str:
        """The whole, without a fragment."""
        return self.origin + self.target


def split_url(url: str) -> SplitUrl:
    """The parts of a URL; `InvalidUrl` for what is none, `InvalidProtocol` for other schemes than http and https."""
    url = url.strip(_ENDS)
    if not url or len(url) > MAX_LENGTH or _UNWANTED.search(url):
        raise InvalidUrl("The address is empty, too long, or holds characters that no address has.")
    scheme, rest = _scheme(url)
    authority = _AUTHORITY.match(rest)
    if authority is None or not authority[1]:
        raise InvalidUrl("The address names no host.")
    after = rest[authority.end() :]
    if after.startswith("\\"):
        raise InvalidUrl("The address has a backslash where its host ends.")
    host, port = _host_and_port(authority[1], DEFAULT_PORTS[scheme])
    return SplitUrl(scheme, host, port, _target(after))


def join(base: str, location: str) -> str:
    """Where a `Location` header leads from `base`, as a URL that is still to be split; its fragment is dropped."""
    # Browsers read a backslash as a slash here; `urljoin` does not know, and would take `/\\host` for a path.
    before, mark, query = location.strip(_ENDS).partition("?")
    location = before.replace("\\", "/") + mark + query
    try:
        # `urljoin` would fill in the host of `base` here.
        if _NO_HOST.match(location):
            raise ValueError
        return urljoin(base, location).partition("#")[0]
    except ValueError:
        raise InvalidUrl("The page redirects to something that is not an address.") from None


def _scheme(url: str) -> tuple[str, str]:
    found = _SCHEME.match(url)
    if found is None:
        raise InvalidUrl("The address does not start with http:// or https://.")
    scheme = found[1].lower()
    rest = url[found.end() :]
    if scheme in DEFAULT_PORTS:
        return scheme, rest
    if "." in scheme or re.match(r"[0-9]+(?:[/?#]|\Z)", rest):  # example.com:8080/page
        raise InvalidUrl("The address does not start with http:// or https://.")
    raise InvalidProtocol(f"Pagekeep does not fetch `{scheme[:20]}:` addresses.")


def _host_and_port(authority: str, default: int) -> tuple[Host, int]:
    if "@" in authority:
        raise InvalidUrl(
            "The address holds a user name or password.",
            suggestions=("Remove everything between // and @ from the address.",),
        )
    host, colon, port = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        return read_host(authority), default
    if not port:
        return read_host(host), default
    if not _PORT.fullmatch(port) or not 0 < int(port) < 65536:
        raise InvalidUrl("The address has an impossible port.")
    return read_host(host), int(port)


@lru_cache(maxsize=4096)
def read_host(host: str) -> Host:
    """The host in normal form, read as browsers do; `InvalidUrl` for what cannot be one. IPv6 with or without brackets."""
    if host.startswith("[") and host.endswith("]"):
        return _ipv6(host[1:-1])
    if ":" in host:
        return _ipv6(host)
    name = _ascii_name(host)
    if looks_like_ipv4(name):
        return _ipv4(name, host)
    if not _NAME.fullmatch(name):
        raise InvalidUrl("The address has an impossible host name.")
    return Host(name.removesuffix("."), None)


def _ipv6(text: str) -> Host:
    try:
        ip = IPv6Address(text)
    except AddressValueError:
        raise InvalidUrl("The address has an impossible IPv6 host.") from None
    if ip.scope_id is not None:
        raise InvalidUrl("The address names a network interface.")
    return Host(str(ip), ip)


def _ipv4(name: str, written: str) -> Host:
    ip = read_ipv4(name)
    if ip is None:
        raise InvalidUrl("The address has an impossible IPv4 host.")
    return Host(str(ip), ip, odd=str(ip) != written)


def _ascii_name(host: str) -> str:
    """Percent-decoded, mapped as UTS 46 says (full-width digits, other dots), in punycode."""
    if "%" in host:
        try:
            host = unquote_to_bytes(host).decode("utf-8")
        except UnicodeDecodeError:
            raise InvalidUrl("The address has an impossible host name.") from None
    if host.isascii():
        return host.lower()
    import idna  # 8 ms to load, and most hosts are plain

    try:
        # NFKC and lower case first: UTS 46 leaves what is no name (a bare number) to be refused, not read.
        return idna.encode(idna.uts46_remap(host, std3_rules=False, transitional=False), std3_rules=False).decode(
            "ascii"
        )
    except idna.IDNAError:
        raise InvalidUrl("The address has an impossible host name.") from None


def _target(after: str) -> str:
    path_and_query = after.partition("#")[0]
    path, mark, query = path_and_query.partition("?")
    path = quote(path.replace("\\", "/") or "/", safe=_TARGET_SAFE)
    return path + mark + quote(query, safe=_TARGET_SAFE)
