"""The address guard: makes every outgoing connection, and only to allowed addresses."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from ipaddress import ip_address, ip_network
from typing import Final, Protocol

from pagekeep.errors import BlockedAddress, FetchNetworkError, FetchTimeout, InvalidUrl
from pagekeep.fetch.urls import IP, Host, Network, SplitUrl, is_public, parse_host, split_url

__all__ = ["Address", "Guard", "Resolver", "SplitUrl", "SystemResolver"]

_MAX_ENTRY_SHOWN = 80
"""Characters of a faulty entry that an error repeats."""
MAX_LOOKUPS: Final = 32
"""Names that are looked up at once."""
EARLY_TRY_SECONDS = 2.0
"""Seconds for one address while there are others to try: a dead IPv6 route must not use up the deadline."""


@dataclass(frozen=True, slots=True)
class Address:
    """An address that the guard allowed."""

    ip: str
    port: int

    @property
    def family(self) -> socket.AddressFamily:
        """`AF_INET6` or `AF_INET`."""
        return socket.AF_INET6 if ":" in self.ip else socket.AF_INET


class Resolver(Protocol):
    """Looks up the IP addresses of a host name; tests use their own."""

    async def addresses(self, name: str) -> list[str]:
        """Return all addresses of the name, best first; raise `OSError` when there are none."""
        ...


class SystemResolver:
    """The operating system's resolver.

    A lookup cannot be ended, and takes 10 s and more when a name server does not answer. So lookups have threads of
    their own: they never take those in which the library is read and written.
    """

    async def addresses(self, name: str) -> list[str]:
        """Return all addresses of the name, in the order the system prefers."""
        look_up = partial(socket.getaddrinfo, name, None, type=socket.SOCK_STREAM)
        entries = await asyncio.get_running_loop().run_in_executor(_lookup_threads(), look_up)
        return list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in entries))


@cache
def _lookup_threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_LOOKUPS, thread_name_prefix="pagekeep-lookup")


_NO_SUCH_HOST: Final = frozenset(
    getattr(socket, name) for name in ("EAI_NONAME", "EAI_NODATA") if hasattr(socket, name)
)


class Guard:
    """Decides where Pagekeep may connect to and makes the connection, so that the address checked is the address used.

    `allow_hosts` lists exceptions: a host name, `*.example.com` (all its subdomains), an IP address or a network such as
    `10.0.0.0/8`. An allowed name may have any address; an allowed address may have any name.
    """

    def __init__(self, allow_hosts: Sequence[str] = (), *, resolver: Resolver | None = None) -> None:
        self._names: set[str] = set()
        self._parents: list[str] = []
        self._networks: list[Network] = []
        self._resolver = resolver or SystemResolver()
        for entry in allow_hosts:
            self._allow(entry.strip())

    def _allow(self, entry: str) -> None:
        try:
            if "/" in entry:
                self._networks.append(ip_network(entry, strict=False))
            elif entry.startswith("*."):
                self._parents.append("." + parse_host(entry[2:]).name)
            elif (host := parse_host(entry)).ip is not None:
                self._networks.append(ip_network(host.ip))
            else:
                self._names.add(host.name)
        except (ValueError, InvalidUrl):
            raise InvalidUrl(
                f"`{entry[:_MAX_ENTRY_SHOWN]}` in `allow_hosts` is not a host.",
                suggestions=("Use a name, `*.example.com`, an IP address, or a network such as 10.0.0.0/8.",),
            ) from None

    def check_url(self, url: str) -> SplitUrl:
        """Return the parts of a URL; raise `InvalidUrl`, `InvalidProtocol` or `BlockedAddress`.

        Only the host itself is checked here; the addresses of a name are checked when it is connected to.
        """
        parts = split_url(url)
        self._check_host(parts.host)
        return parts

    def _check_host(self, host: Host) -> None:
        if host.ip is not None:
            if (host.disguised or not is_public(host.ip)) and not self._is_ip_allowed(host.ip):
                raise _blocked(host)
        elif (host.name == "localhost" or host.name.endswith(".localhost")) and not self._is_name_allowed(host.name):
            raise _blocked(host)

    def check_address(self, address: str, host: str) -> None:
        """Raise `BlockedAddress` unless `host` may be connected to at `address`."""
        self._check_address(ip_address(address.partition("%")[0]), parse_host(host))

    def _check_address(self, ip: IP, host: Host) -> None:
        if is_public(ip) or self._is_ip_allowed(ip) or (host.ip is None and self._is_name_allowed(host.name)):
            return
        raise _blocked(host)

    def is_exception(self, url: str) -> bool:
        """Return whether the URL's host is listed in `allow_hosts`."""
        host = split_url(url).host
        return self._is_ip_allowed(host.ip) if host.ip is not None else self._is_name_allowed(host.name)

    def _is_name_allowed(self, name: str) -> bool:
        return name in self._names or any(name.endswith(parent) for parent in self._parents)

    def _is_ip_allowed(self, ip: IP) -> bool:
        return any(ip in network for network in self._networks)

    async def resolve(self, host: str, port: int) -> list[Address]:
        """Return all addresses of the host; raise `BlockedAddress` when one of them is not allowed."""
        parsed = parse_host(host)
        self._check_host(parsed)
        if parsed.ip is not None:
            return [Address(str(parsed.ip), port)]
        missing = FetchNetworkError(f"The host `{parsed.name}` was not found.")
        try:
            addresses = await self._resolver.addresses(parsed.name)
        except (OSError, UnicodeError) as error:
            # Other codes mean that the name service itself cannot be reached, as when this machine is offline.
            missing.unknown_host = isinstance(error, socket.gaierror) and error.errno in _NO_SUCH_HOST
            raise missing from None
        if not addresses:
            raise missing
        for address in addresses:
            self._check_address(ip_address(address), parsed)
        return [Address(address, port) for address in addresses]

    async def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        """Return a connected, non-blocking socket to an allowed address of the host, within `timeout` seconds.

        The name is looked up only once, and the socket connects to an address that was checked: a hostile DNS server
        cannot give a different second answer.
        """
        try:
            async with asyncio.timeout(timeout):
                return await self._connect_to_any(await self.resolve(host, port), host)
        except TimeoutError:
            raise FetchTimeout(f"`{parse_host(host).name}` did not respond in time.") from None

    async def _connect_to_any(self, addresses: Sequence[Address], host: str) -> socket.socket:
        *earlier, last = addresses
        for address in earlier:
            try:
                return await asyncio.wait_for(_connect(address), EARLY_TRY_SECONDS)
            except (OSError, TimeoutError):
                continue
        try:
            return await _connect(last)
        except OSError as error:
            # A timeout of the kernel is an OSError too, and means the same as ours.
            if isinstance(error, TimeoutError):
                raise
            raise FetchNetworkError(f"`{parse_host(host).name}` refused the connection.") from None

    async def open_connection(
        self, host: str, port: int, timeout: float
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return a plain TCP stream to an allowed address of the host, for the browser's proxy."""
        return await asyncio.open_connection(sock=await self.connect(host, port, timeout))


async def _connect(address: Address) -> socket.socket:
    connection = socket.socket(address.family, socket.SOCK_STREAM)
    try:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(connection, (address.ip, address.port))
    except BaseException:
        connection.close()
        raise
    return connection


def _blocked(host: Host) -> BlockedAddress:
    """Return the error for a host; it names the host as the URL has it, never an address that was looked up."""
    if host.ip is not None:
        error = BlockedAddress(f"This is a private address ({host.name}).")
    else:
        error = BlockedAddress(f"`{host.name}` has a private address.")
    error.host = host.name
    return error
