"""Clients take turns, and none takes all."""

from __future__ import annotations

from threading import Thread

import pytest

from pagekeep.errors import TooManyRequests
from pagekeep.workers.fair_queue import FairQueue


def make_queue(max_running: int = 10, max_waiting: int = 100) -> FairQueue[int]:
    return FairQueue(max_running=max_running, max_waiting=max_waiting)


def take(queue: FairQueue[int]) -> tuple[str, int]:
    taken = queue.take()
    assert taken is not None
    return taken


def test_clients_take_turns_and_each_is_served_in_order() -> None:
    queue = make_queue(max_running=100)
    for number in range(50):
        queue.put("many", number)
    queue.put("few", 0)
    queue.put("few", 1)
    assert [take(queue) for _ in range(5)] == [("many", 0), ("few", 0), ("many", 1), ("few", 1), ("many", 2)]


def test_a_client_that_comes_later_waits_for_one_entry_of_each_other_client() -> None:
    queue = make_queue(max_running=100)
    for client in "abc":
        for number in range(20):
            queue.put(client, number)
    take(queue)
    queue.put("new", 0)
    assert [take(queue)[0] for _ in range(5)] == ["b", "c", "a", "new", "b"]


def test_a_client_with_its_share_running_waits_while_others_go_on() -> None:
    queue = make_queue(max_running=1)
    queue.put("a", 0)
    queue.put("a", 1)
    assert take(queue) == ("a", 0)
    queue.put("b", 0)
    assert take(queue) == ("b", 0)
    queue.done("a")
    assert take(queue) == ("a", 1)


def test_one_client_cannot_fill_the_queue_for_others() -> None:
    queue = make_queue(max_waiting=2)
    queue.put("a", 0)
    queue.put("a", 1)
    with pytest.raises(TooManyRequests) as refused:
        queue.put("a", 2)
    assert "2 of your pages" in refused.value.message
    queue.put("b", 0)
    take(queue)
    queue.put("a", 2)


def test_an_entry_that_waits_can_be_removed() -> None:
    queue = make_queue()
    queue.put("a", 0)
    queue.put("a", 1)
    assert queue.remove("a", 0)
    assert not queue.remove("a", 0)
    assert not queue.remove("b", 1)
    assert take(queue) == ("a", 1)
    assert not queue.remove("a", 1)


def test_closing_ends_the_wait_and_returns_what_is_left() -> None:
    queue, taken = make_queue(), []
    thread = Thread(target=lambda: taken.append(queue.take()))
    thread.start()
    assert queue.close() == []
    thread.join(20)
    assert taken == [None]
    queue = make_queue()
    queue.put("a", 0)
    queue.put("b", 1)
    assert queue.close() == [0, 1]
    assert queue.take() is None
