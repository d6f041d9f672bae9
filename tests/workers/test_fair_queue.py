"""Clients take turns, and none takes all."""

from __future__ import annotations

from threading import Thread

import pytest

from pagekeep.errors import TooManyRequests
from pagekeep.workers.room import Client, FairQueue


def make_queue(max_running: int = 10, max_waiting: int = 100) -> FairQueue[int]:
    return FairQueue(max_of_user=max_running, max_of_client=max_running, max_waiting=max_waiting)


def put(queue: FairQueue[int], user: str, entry: int, kind: str = "") -> None:
    queue.put(Client(user, kind), entry)


def take(queue: FairQueue[int]) -> tuple[str, int]:
    taken = queue.take()
    assert taken is not None
    return taken[0].user, taken[1]


def test_users_take_turns_and_each_is_served_in_order() -> None:
    queue = make_queue(max_running=100)
    for number in range(50):
        put(queue, "many", number)
    put(queue, "few", 0)
    put(queue, "few", 1)
    assert [take(queue) for _ in range(5)] == [("many", 0), ("few", 0), ("many", 1), ("few", 1), ("many", 2)]


def test_a_client_that_comes_later_waits_for_one_entry_of_each_other_client() -> None:
    queue = make_queue(max_running=100)
    for client in "abc":
        for number in range(20):
            put(queue, client, number)
    take(queue)
    put(queue, "new", 0)
    assert [take(queue)[0] for _ in range(5)] == ["b", "c", "a", "new", "b"]


def test_a_client_with_its_share_running_waits_while_others_go_on() -> None:
    queue = make_queue(max_running=1)
    put(queue, "a", 0)
    put(queue, "a", 1)
    assert take(queue) == ("a", 0)
    put(queue, "b", 0)
    assert take(queue) == ("b", 0)
    queue.done(Client("a"))
    assert take(queue) == ("a", 1)


def test_one_client_cannot_fill_the_queue_for_others() -> None:
    queue = make_queue(max_waiting=2)
    put(queue, "a", 0)
    put(queue, "a", 1)
    with pytest.raises(TooManyRequests) as refused:
        put(queue, "a", 2)
    assert "2 of your pages" in refused.value.message
    put(queue, "b", 0)
    take(queue)
    put(queue, "a", 2)


def test_an_entry_that_waits_can_be_removed() -> None:
    queue = make_queue()
    put(queue, "a", 0)
    put(queue, "a", 1)
    assert queue.remove(Client("a"), 0)
    assert not queue.remove(Client("a"), 0)
    assert not queue.remove(Client("b"), 1)
    assert take(queue) == ("a", 1)
    assert not queue.remove(Client("a"), 1)


def test_closing_ends_the_wait_and_returns_what_is_left() -> None:
    queue, taken = make_queue(), []
    thread = Thread(target=lambda: taken.append(queue.take()))
    thread.start()
    assert queue.close() == []
    thread.join(20)
    assert taken == [None]
    queue = make_queue()
    put(queue, "a", 0)
    put(queue, "b", 1)
    assert queue.close() == [0, 1]
    assert queue.take() is None


def test_more_kinds_of_sign_in_do_not_give_a_user_a_larger_share() -> None:
    queue = make_queue(max_running=2)
    for kind in ("token", "session", "queue"):
        for number in range(5):
            put(queue, "many", number, kind)
    assert [take(queue)[0] for _ in range(2)] == ["many", "many"]
    put(queue, "few", 0)
    assert take(queue) == ("few", 0), "the third of the other user waits"
    queue.done(Client("many", "token"))
    assert take(queue) == ("many", 0)


def test_kinds_of_a_user_take_turns() -> None:
    queue = make_queue()
    for number in range(4):
        put(queue, "ada", number, "queue")
    put(queue, "ada", 10, "session")
    assert [take(queue)[1] for _ in range(3)] == [0, 10, 1]


def test_a_client_leaves_room_for_other_kinds_of_its_user() -> None:
    queue: FairQueue[int] = FairQueue(max_of_user=2, max_of_client=1, max_waiting=10)
    put(queue, "ada", 0, "queue")
    put(queue, "ada", 1, "queue")
    assert take(queue) == ("ada", 0)
    put(queue, "ada", 2, "session")
    assert take(queue) == ("ada", 2)
