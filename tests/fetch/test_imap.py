"""Reading mail folders from a real server on loopback: new messages once, nothing changed, and hostile servers bounded."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from pagekeep.errors import BlockedAddress, FetchNetworkError, FetchTimeout, NotFound, PagekeepError, TooLarge
from pagekeep.fetch import imap
from pagekeep.fetch.guard import Guard
from pagekeep.fetch.imap import FolderNews, Limits, encode_folder, read_new
from pagekeep.model import MailFolder, MailPosition
from tests.site.imap import ImapServer
from tests.site.secure import Authority

GUARD = Guard(("127.0.0.1", "localhost"))


def letter(number: int, sender: str = "ann@a.example") -> bytes:
    return f"From: <{sender}>\nSubject: Letter {number}\nMessage-ID: <{number}@a.example>\n\nText {number}\n".encode()


@pytest.fixture
def server() -> Iterator[ImapServer]:
    with ImapServer() as running:
        yield running


def visit(server: ImapServer, after: MailPosition | None = None, **more: Any) -> FolderNews:
    password = more.pop("password", server.password)
    guard = more.pop("guard", GUARD)
    tls = more.pop("tls", None)
    limits = more.pop("limits", Limits())
    wants = more.pop("wants", lambda _head: True)
    folder = MailFolder("localhost", server.port, server.user, **{"security": "plain", **more})
    return asyncio.run(
        read_new(
            folder,
            password,
            guard,
            after=after or MailPosition(),
            since=date(2026, 1, 1),
            wants=wants,
            limits=limits,
            tls=tls,
        )
    )


def bodies(news: FolderNews) -> list[int]:
    return [message.uid for message in news.messages if message.body]


def test_new_messages_come_once_and_nothing_is_changed(server: ImapServer) -> None:
    for number in range(3):
        server.add(letter(number))
    first = visit(server)
    assert (first.validity, bodies(first), first.has_more) == (7, [1, 2, 3], False)
    assert first.messages[0].body == letter(0).replace(b"\n", b"\r\n")
    assert bodies(visit(server, MailPosition(7, 3))) == []
    server.add(letter(3))
    assert bodies(visit(server, MailPosition(7, 3))) == [4]
    assert bodies(visit(server, MailPosition(6, 3))) == [1, 2, 3, 4]
    sent = " ".join(server.commands).upper()
    assert all(word in sent for word in ("EXAMINE", "PEEK"))
    assert not any(word in sent for word in ("STORE", "SELECT", "EXPUNGE", "COPY", "MOVE"))


def test_a_visit_takes_a_bounded_number_and_says_that_there_are_more(server: ImapServer) -> None:
    for number in range(7):
        server.add(letter(number))
    news = visit(server, limits=Limits(messages=5))
    assert (bodies(news), news.has_more) == ([1, 2, 3, 4, 5], True)
    assert bodies(visit(server, MailPosition(7, 5), limits=Limits(messages=5))) == [6, 7]


def test_unwanted_and_large_messages_are_not_fetched(server: ImapServer) -> None:
    server.add(letter(1, "other@b.example"))
    server.add(letter(2) + b"x" * 5000)
    server.add(letter(3))
    asked: list[int] = []
    server.on_body = asked.append
    news = visit(
        server, wants=lambda head: b"a.example>" in head.partition(b"\n")[0], limits=Limits(message_bytes=2000)
    )
    assert [message.skipped for message in news.messages] == ["unwanted", "too_large", ""]
    assert asked == [3]


@pytest.mark.parametrize("plain_auth", [True, False])
def test_signing_in_works_both_ways_and_a_wrong_password_says_so(plain_auth: bool) -> None:
    with ImapServer(plain_auth=plain_auth, password='a "secret" \\') as server:
        assert visit(server).messages == ()
        with pytest.raises(FetchNetworkError, match="refused the user name or password") as caught:
            visit(server, password="wrong-one")
        assert "wrong-one" not in str(caught.value.to_json())


def test_a_folder_that_is_not_there_is_named(server: ImapServer) -> None:
    with pytest.raises(NotFound, match="Letters"):
        visit(server, folder="Letters")


def test_folders_may_have_any_name() -> None:
    assert [encode_folder(name) for name in ("INBOX", "Entwürfe & mehr", "手紙", 'a"b\\')] == [
        "INBOX",
        "Entw&APw-rfe &- mehr",
        "&Ykt9GQ-",
        'a"b\\',
    ]


def test_encrypted_connections_check_the_certificate() -> None:
    authority = Authority()
    with ImapServer(tls=authority.server("localhost", protocols=())) as server:
        server.add(letter(1))
        assert bodies(visit(server, security="tls", tls=authority.client)) == [1]
        with pytest.raises(FetchNetworkError, match="certificate"):
            visit(server, security="tls")


def test_private_hosts_are_refused_unless_allowed(server: ImapServer) -> None:
    with pytest.raises(BlockedAddress):
        visit(server, guard=Guard())
    assert server.commands == []


def test_a_plain_connection_is_only_for_this_machine(server: ImapServer, monkeypatch: pytest.MonkeyPatch) -> None:
    class Far:
        is_loopback = False

    monkeypatch.setattr(imap, "ip_address", lambda _text: Far())
    with pytest.raises(BlockedAddress, match="without encryption"):
        visit(server)
    assert server.commands == []


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("huge_literal", TooLarge),
        ("wrong_size", TooLarge),
        ("endless_lines", TooLarge),
        ("endless_line", TooLarge),
        ("drops", FetchNetworkError),
        ("silent", FetchTimeout),
    ],
)
def test_a_hostile_server_ends_with_an_error(fault: Any, error: type[PagekeepError]) -> None:
    with ImapServer(fault=fault) as server:
        server.add(letter(1) + (b"x" * 3_000_000 if fault == "wrong_size" else b""))
        with pytest.raises(error):
            visit(server, limits=Limits(message_bytes=100_000, seconds=0.3 if fault == "silent" else 30))


def test_a_message_that_is_larger_than_its_server_said_is_left_out(server: ImapServer) -> None:
    server.fault = "wrong_size"
    server.add(letter(1) + b"x" * 5_000)
    server.add(letter(2))
    news = visit(server, limits=Limits(message_bytes=2_000))
    assert [message.skipped for message in news.messages] == ["too_large", ""]


def test_a_visit_that_breaks_off_keeps_what_came_and_fails_when_nothing_comes(server: ImapServer) -> None:
    for number in range(3):
        server.add(letter(number))

    def drop(uid: int) -> None:
        if uid == 2:
            raise ConnectionResetError

    server.on_body = drop
    first = visit(server)
    assert (bodies(first), first.has_more) == ([1], True)
    with pytest.raises(FetchNetworkError, match="closed the connection"):
        visit(server, MailPosition(7, 1))
    server.on_body = None
    assert bodies(visit(server, MailPosition(7, 1))) == [2, 3]


def test_a_listed_message_that_is_not_sent_is_never_passed_over(server: ImapServer) -> None:
    for number in range(3):
        server.add(letter(number))
    server.folders["INBOX"][2] = b""
    assert bodies(visit(server)) == [1]
    with pytest.raises(FetchNetworkError, match="the message 2"):
        visit(server, MailPosition(7, 1))
    del server.folders["INBOX"][2]
    assert bodies(visit(server, MailPosition(7, 1))) == [3]
