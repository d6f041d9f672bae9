"""The address guard: every outgoing connection of the house passes here, and only an allowed address is connected to."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Protocol

from pagekeep.errors import BlockedAddress, FetchNetworkError, FetchTimeout, InvalidUrl
from pagekeep.fetch.ip_ranges import IP, Network, is_public
from pagekeep.fetch.urls import Host, SplitUrl, read_host, split_url

__all__ = ["Address", "Guard", "Resolver", "SplitUrl", "SystemResolver"]

FIRST_TRIES = 2.0
"""Seconds for an address while others are left to try: a dead IPv6 route must not eat the deadline."""


@dataclass(frozen=True, slots=True)
class Address:
    """An address that the guard let through, ready to connect to."""

    ip: str
    port: int

    @property
    def family(self) -> socket.AddressFamily:
        """IPv6 or IPv4."""
        return socket.AF_INET6 if ":" in self.ip else socket.AF_INET


class Resolver(Protocol):
    """Turns a name into IP addresses. The seam that tests put their own DNS behind."""

    async def addresses(self, name: str) -> list[str]:
        """All addresses of the name, best first; `OSError` when it has none."""
        ...


class SystemResolver:
    """The operating system's resolver."""

    async def addresses(self, name: str) -> list[str]:
        """All addresses of the name, in the order the system prefers."""
        found = await asyncio.get_running_loop().getaddrinfo(name, None, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))


class Guard:
    """Decides where Pagekeep may connect to, and makes the connection, so that what was checked is what is used.

    `allow_hosts` opens exceptions: a host name, `*.example.com` (all below it), an IP address or a network such as
    `10.0.0.0/8`. An allowed name may lead anywhere; an allowed address may be reached by any name.
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
                self._parents.append("." + read_host(entry[2:]).name)
            elif (host := read_host(entry)).ip is not None:
                self._networks.append(ip_network(host.ip))
            else:
                self._names.add(host.name)
        except (ValueError, InvalidUrl):
            raise InvalidUrl(
                f"`{entry[:80]}` in allow_hosts names no host.",
                suggestions=("Write a name, `*.example.com`, an IP address, or a network such as 10.0.0.0/8.",),
            ) from None

    def check_url(self, url: str) -> SplitUrl:
        """The URL's parts; `InvalidUrl`, `InvalidProtocol`, or `BlockedAddress` when its host alone settles it.

        A name that is let through here is checked again, with its addresses, when it is connected to.
        """
        parts = split_url(url)
        self._check_host(parts.host)
        return parts

    def _check_host(self, host: Host) -> None:
        if host.ip is not None:
            if (host.odd or not is_public(host.ip)) and not self._network_allowed(host.ip):
                raise _blocked("The address", host)
        elif (host.name == "localhost" or host.name.endswith(".localhost")) and not self._name_allowed(host.name):
            raise _blocked(f"`{host.name}`", host)

    def check_address(self, address: str, host: str) -> None:
        """`BlockedAddress` unless `host` may be connected to at `address`."""
        self._check_address(ip_address(address.partition("%")[0]), read_host(host))

    def _check_address(self, ip: IP, host: Host) -> None:
        if is_public(ip) or self._network_allowed(ip) or (host.ip is None and self._name_allowed(host.name)):
            return
        raise _blocked("The address" if host.ip is not None else f"`{host.name}`", host)

    def is_exception(self, url: str) -> bool:
        """Whether the owner has named the URL's host as one that need not be public."""
        host = split_url(url).host
        return self._network_allowed(host.ip) if host.ip is not None else self._name_allowed(host.name)

    def _name_allowed(self, name: str) -> bool:
        return name in self._names or any(name.endswith(parent) for parent in self._parents)

    def _network_allowed(self, ip: IP) -> bool:
        return any(ip in network for network in self._networks)

    async def resolve(self, host: str, port: int) -> list[Address]:
        """All addresses of the host. One that is not allowed refuses the host altogether, with `BlockedAddress`."""
        wanted = read_host(host)
        self._check_host(wanted)
        if wanted.ip is not None:
            return [Address(str(wanted.ip), port)]
        try:
            found = await self._resolver.addresses(wanted.name)
        except (OSError, UnicodeError):
            found = []
        if not found:
            raise FetchNetworkError(f"No server was found for `{wanted.name}`.")
        for address in found:
            self._check_address(ip_address(address), wanted)
        return [Address(address, port) for address in found]

    async def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        """A connected, non-blocking socket to an allowed address of the host, within `timeout` seconds in all.

        The names are looked up once and the very addresses that were checked are connected to: a second answer from a
        hostile DNS is never asked for.
        """
        try:
            async with asyncio.timeout(timeout):
                return await self._first_to_answer(await self.resolve(host, port), host)
        except TimeoutError:
            raise FetchTimeout(f"`{read_host(host).name}` did not answer in time.") from None

    async def _first_to_answer(self, addresses: Sequence[Address], host: str) -> socket.socket:
        *earlier, last = addresses
        for address in earlier:
            try:
                return await asyncio.wait_for(_connect(address), FIRST_TRIES)
            except (OSError, TimeoutError):
                continue
        try:
            return await _connect(last)
        except OSError as error:
            # A timeout of the kernel's is an OSError too, and means the same as ours.
            if isinstance(error, TimeoutError):
                raise
            raise FetchNetworkError(f"`{read_host(host).name}` refused the connection.") from None

    async def open_connection(
        self, host: str, port: int, timeout: float
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A plain TCP stream to an allowed address of the host, for the browser's proxy."""
        return await asyncio.open_connection(sock=await self.connect(host, port, timeout))


async def _connect(address: Address) -> socket.socket:
    made = socket.socket(address.family, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(made, (address.ip, address.port))
    except BaseException:
        made.close()
        raise
    return made


def _blocked(what: str, host: Host) -> BlockedAddress:
    error = BlockedAddress(f"{what} leads to a place that is not on the public internet.")
    error.host = host.name
    return error
