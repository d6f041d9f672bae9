"""A request with a key is done once."""

from __future__ import annotations

from pagekeep.store import Store
from tests.store.conftest import Opener
from tests.store.making import moment


def claim(library: Store, request: str, at: int, *, since: int = 0, silent: int = 0) -> object:
    return library.idempotency.claim("k", request, moment(at), moment(since), moment(silent))


def test_a_key_is_claimed_once_and_gives_back_its_answer(library: Store) -> None:
    assert claim(library, "save x", 1) is None
    assert claim(library, "save x", 2) == ("save x", None)
    library.idempotency.keep_response("k", moment(1), {"id": 1})
    assert claim(library, "save y", 3) == ("save x", {"id": 1})


def test_a_key_whose_request_failed_or_that_is_old_may_be_used_again(library: Store) -> None:
    claim(library, "save x", 1)
    library.idempotency.keep_response("k", moment(1), None)
    assert claim(library, "save x", 2) is None
    assert claim(library, "save x", 9, since=5) is None


def test_a_claim_that_fell_silent_is_taken_over_by_the_same_request_alone(library: Store) -> None:
    claim(library, "save x", 1)
    assert claim(library, "save x", 5, silent=0) == ("save x", None)
    assert claim(library, "save y", 5, silent=2) == ("save x", None)
    assert claim(library, "save x", 6, silent=2) is None
    assert claim(library, "save x", 7, silent=2) == ("save x", None)


def test_a_claim_that_is_renewed_is_not_taken_over(library: Store) -> None:
    claim(library, "save x", 1)
    assert library.idempotency.renew("k", moment(1), moment(4))
    assert claim(library, "save x", 5, silent=3) == ("save x", None)
    library.idempotency.keep_response("k", moment(4), {"id": 1})
    assert claim(library, "save x", 9, silent=8) == ("save x", {"id": 1})


def test_a_client_that_lost_its_claim_can_neither_renew_it_nor_answer_nor_let_go(library: Store) -> None:
    claim(library, "save x", 1)
    assert claim(library, "save x", 6, silent=2) is None
    assert not library.idempotency.renew("k", moment(1), moment(7))
    library.idempotency.keep_response("k", moment(1), None)
    library.idempotency.keep_response("k", moment(1), {"id": "late"})
    assert claim(library, "save x", 8) == ("save x", None)
    library.idempotency.keep_response("k", moment(6), {"id": "second"})
    assert claim(library, "save x", 9) == ("save x", {"id": "second"})


def test_keys_of_users_do_not_meet(library: Store, opened: Opener) -> None:
    claim(library, "save x", 1)
    assert claim(opened("other"), "save x", 1) is None


def test_a_claim_has_a_time_until_it_has_a_response(library: Store) -> None:
    assert library.idempotency.claimed_at("k") is None
    claim(library, "save x", 1)
    assert library.idempotency.claimed_at("k") == moment(1)
    library.idempotency.renew("k", moment(1), moment(4))
    assert library.idempotency.claimed_at("k") == moment(4)
    library.idempotency.keep_response("k", moment(4), {"id": 1})
    assert library.idempotency.claimed_at("k") is None
