from __future__ import annotations

import socket
import ssl

import h2.exceptions
import hpack
import httpcore
import pytest

from pagekeep import BlockedAddress, FetchError, FetchNetworkError, FetchTimeout
from pagekeep.fetch.backend import make_http_error, map_errors, was_reset

FOREIGN = [
    httpcore.ConnectTimeout("10.0.0.1"),
    httpcore.ReadError(ConnectionResetError("10.0.0.1")),
    httpcore.RemoteProtocolError("10.0.0.1"),
    httpcore.LocalProtocolError("10.0.0.1"),
    httpcore.PoolTimeout("10.0.0.1"),
    ssl.SSLError("10.0.0.1"),
    ssl.SSLCertVerificationError("10.0.0.1"),
    socket.gaierror("10.0.0.1"),
    ConnectionRefusedError("10.0.0.1"),
    TimeoutError("10.0.0.1"),
    h2.exceptions.ProtocolError("10.0.0.1"),
    hpack.HPACKDecodingError("10.0.0.1"),
]


@pytest.mark.parametrize("foreign", FOREIGN, ids=lambda error: type(error).__name__)
def test_foreign_errors_become_ours_and_tell_nothing(foreign: Exception) -> None:
    with pytest.raises(FetchError) as caught, map_errors("a.example"):
        raise foreign
    assert isinstance(caught.value, (FetchNetworkError, FetchTimeout))
    assert "a.example" in caught.value.message
    assert "10.0.0.1" not in str(caught.value.to_json())
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_our_own_errors_pass_unchanged() -> None:
    ours = BlockedAddress("no")
    with pytest.raises(BlockedAddress) as caught, map_errors("a.example"):
        raise ours
    assert caught.value is ours


def test_mistakes_of_ours_are_not_hidden() -> None:
    with pytest.raises(KeyError), map_errors("a.example"):
        raise KeyError("bug")


@pytest.mark.parametrize(
    ("error", "reset"),
    [
        (httpcore.ReadError(ConnectionResetError()), True),
        (httpcore.WriteError(BrokenPipeError()), True),
        (httpcore.RemoteProtocolError("Server disconnected without sending a response."), True),
        (httpcore.RemoteProtocolError("illegal status line"), False),
        (httpcore.ReadError(ConnectionRefusedError()), False),
        (httpcore.ReadError(), False),
        (TimeoutError(), False),
    ],
)
def test_only_a_hang_up_is_worth_another_try(error: Exception, reset: bool) -> None:
    assert was_reset(error) is reset


@pytest.mark.parametrize("status", [*range(100, 104), *range(300, 600), 999])
def test_every_status_has_words_and_a_next_step(status: int) -> None:
    error = make_http_error("a.example", status)
    assert error.status == status
    assert str(status) in error.message
    assert error.suggestions
