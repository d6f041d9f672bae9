"""A request with a key is done once."""

from __future__ import annotations

from pagekeep.store import Store
from tests.store.conftest import Opener
from tests.store.making import moment


def test_a_key_is_claimed_once_and_gives_back_its_answer(library: Store) -> None:
    assert library.claim("k", "save x", moment(1), moment(0)) is None
    assert library.claim("k", "save x", moment(2), moment(0)) == ("save x", None)
    library.keep_answer("k", {"id": 1})
    assert library.claim("k", "save y", moment(3), moment(0)) == ("save x", {"id": 1})


def test_a_key_whose_request_failed_or_that_is_old_may_be_used_again(library: Store) -> None:
    library.claim("k", "save x", moment(1), moment(0))
    library.keep_answer("k", None)
    assert library.claim("k", "save x", moment(2), moment(0)) is None
    assert library.claim("k", "save x", moment(9), moment(5)) is None


def test_keys_of_users_do_not_meet(library: Store, opened: Opener) -> None:
    library.claim("k", "save x", moment(1), moment(0))
    assert opened("other").claim("k", "save x", moment(1), moment(0)) is None
