"""Only what the server signed, for whom it signed it."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from pagekeep.doors.http.image_proxy import is_signed, signed_path

SECRET = b"s" * 32
URL = "https://example.com/a picture?size=1&x=\u00e9#part"


def parts(path: str) -> tuple[str, str]:
    asked = parse_qs(urlsplit(path).query)
    return asked["url"][0], asked["sig"][0]


def test_what_was_signed_comes_back_as_it_was() -> None:
    url, given = parts(signed_path(SECRET, "ada", URL))
    assert url == URL
    assert is_signed(SECRET, "ada", url, given)


@pytest.mark.parametrize("given", ["", "0" * 64, "\u00e9" * 64, "\ud800"])
def test_no_other_signature_will_do(given: str) -> None:
    assert not is_signed(SECRET, "ada", URL, given)


def test_a_signature_is_for_one_address_one_user_and_one_server() -> None:
    url, given = parts(signed_path(SECRET, "ada", URL))
    assert not is_signed(SECRET, "ada", url + "2", given)
    assert not is_signed(SECRET, "grace", url, given)
    assert not is_signed(b"t" * 32, "ada", url, given)


def test_an_address_that_cannot_be_written_fails_nothing() -> None:
    url, given = parts(signed_path(SECRET, "ada", "https://example.com/\ud800"))
    assert is_signed(SECRET, "ada", url, given)
