"""Mail sources: what can be added, who is allowed, and where the password comes from."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest

from pagekeep.config import Settings
from pagekeep.errors import InvalidQuery, InvalidUrl, NotAllowed, NotFound, PagekeepError, ParseError
from pagekeep.library.feeds.mail_poll import find_password
from pagekeep.library.feeds.mail_sources import (
    add_source,
    change_source,
    clean_senders,
    find_sender,
    get_source,
    is_allowed,
    list_sources,
    remove_source,
)
from pagekeep.store import Store


def test_a_source_is_added_once_listed_changed_and_removed(any_library: Store, settings: Settings) -> None:
    source, is_new = add_source(any_library, settings, "IMAP.Example.com", "ann", senders=["A@b.example"])
    again, is_new_again = add_source(any_library, settings, "imap.example.com", "ann", senders=["c.example"], every=600)
    assert (is_new, is_new_again, again.id) == (True, False, source.id)
    assert (again.label, again.senders, again.every) == ("ann@imap.example.com/INBOX", ("c.example",), 600)
    assert get_source(any_library, source.id[:8]).folder.port == 993
    changed = change_source(any_library, "ann@imap.example.com/INBOX", senders=["*"], every=3600)
    assert (changed.senders, changed.every) == (("*",), 3600)
    remove_source(any_library, source.id)
    assert list_sources(any_library) == ()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"host": "a b"}, InvalidUrl),
        ({"user": ""}, InvalidQuery),
        ({"user": "a\nb"}, InvalidQuery),
        ({"folder": "x\r\nA1 LOGOUT"}, InvalidQuery),
        ({"port": 70_000}, InvalidQuery),
        ({"senders": []}, InvalidQuery),
        ({"senders": ["not an address"]}, InvalidQuery),
        ({"every": 10}, InvalidQuery),
    ],
)
def test_what_cannot_be_is_refused(
    library: Store, settings: Settings, change: dict[str, Any], error: type[PagekeepError]
) -> None:
    values: dict[str, Any] = {"host": "imap.example.com", "user": "ann", "senders": ["*"], **change}
    with pytest.raises(error):
        add_source(library, settings, values.pop("host"), values.pop("user"), **values)
    assert list_sources(library) == ()


def test_a_server_of_several_users_has_no_mail_sources(library: Store, settings: Settings) -> None:
    with pytest.raises(NotAllowed):
        add_source(library, replace(settings, shared=True), "imap.example.com", "ann", senders=["*"])


@pytest.mark.parametrize(
    ("sender", "allowed", "is_in"),
    [
        ("ann@a.example", ("ann@a.example",), True),
        ("ann@a.example", ("a.example",), True),
        ("ann@news.a.example", ("a.example",), True),
        ("ann@nota.example", ("a.example",), False),
        ("ann@a.example.evil.example", ("a.example",), False),
        ("ann@a.example", ("example",), False),
        ("", ("a.example",), False),
        ("", ("*",), True),
    ],
)
def test_senders_are_matched_by_whole_labels(sender: str, allowed: tuple[str, ...], is_in: bool) -> None:
    assert is_allowed(sender, allowed) == is_in


def test_the_sender_is_the_address_and_not_a_name_that_looks_like_one() -> None:
    assert find_sender(b'From: "ann@a.example" <x@evil.example>\r\nSubject: s\r\n\r\n') == "x@evil.example"
    assert find_sender(b"Subject: s\n\n") == ""
    assert clean_senders(["@A.example", " a.example "]) == ("a.example",)


def test_the_password_of_the_settings_is_for_one_mailbox_only(settings: Settings) -> None:
    own = replace(settings, mail_account="ann@imap.example.com", mail_password="secret")
    assert find_password(own, "ann@imap.example.com") == "secret"
    with pytest.raises(NotFound) as caught:
        find_password(own, "ann@evil.example")
    assert "secret" not in str(caught.value.to_json())
    assert "secret" not in repr(own)


def test_a_command_prints_the_password(settings: Settings) -> None:
    command = f"{sys.executable} -c \"import sys; print('pw of', sys.argv[1])\""
    assert find_password(replace(settings, mail_password_command=command), "a@b.example") == "pw of a@b.example"
    for broken in (f"{sys.executable} -c \"print('secret'); raise SystemExit(1)\"", "/no/such/program", "'"):
        with pytest.raises(ParseError) as caught:
            find_password(replace(settings, mail_password_command=broken), "a@b.example")
        assert "secret" not in str(caught.value.to_json())
