"""Which names the server answers to."""

from __future__ import annotations

import pytest

from pagekeep.config import Settings
from pagekeep.doors.http.middleware.origins import allowed_names, host_of


def test_the_owners_names_and_the_address_listened_at_are_answered_to() -> None:
    names = allowed_names(Settings(listen="192.0.2.4:80", server_names=("Pages.Example.org", "2001:db8::1")))
    assert {"192.0.2.4", "pages.example.org", "[2001:db8::1]", "localhost"} <= names


@pytest.mark.parametrize("listen", ["0.0.0.0:8470", "[::]:8470"])
def test_all_addresses_are_the_name_of_none(listen: str) -> None:
    assert allowed_names(Settings(listen=listen)) == allowed_names(Settings())


@pytest.mark.parametrize(
    ("hosts", "name"),
    [
        ([b"Localhost:8470"], "localhost"),
        ([b"[::1]:8470"], "[::1]"),
        ([b"[::1]"], "[::1]"),
        ([], ""),
        ([b"localhost", b"evil.example"], ""),
        ([b"localhost:8470@evil.example"], "localhost:8470@evil.example"),
        ([b"localhost."], "localhost."),
    ],
)
def test_a_name_is_read_without_its_port(hosts: list[bytes], name: str) -> None:
    assert host_of({"headers": [(b"host", host) for host in hosts]}) == name
