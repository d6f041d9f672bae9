"""Deliveries: each version once as the receiver sees it, in order, again after a failure, and dead when that cannot help."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from pagekeep.errors import InvalidQuery
from pagekeep.library.open import open_library
from pagekeep.library.queue import pause_after
from pagekeep.library.sinks import outbox
from pagekeep.library.sinks.manage import (
    NewSink,
    add_sink,
    drop_dead,
    event_sink,
    get_sink,
    list_deliveries,
    list_sinks,
    post_event,
    revive_deliveries,
    send_existing,
    set_rules,
    switch_sink,
)
from pagekeep.library.sinks.outbox import FIRST_PAUSE
from pagekeep.library.sinks.runner import MAX_SINKS
from pagekeep.library.webhooks import new_secret
from tests.library.sinks.conftest import FAST, Bench
from tests.library.sinks.fakes import Fake, Webhooks, running

SECRET = new_secret()


def ids(fake: Webhooks) -> list[str]:
    return [fake.messages[name]["data"]["id"] for name in fake.order]


def test_saved_and_changed_items_arrive_in_order_and_nothing_is_sent_twice(bench: Bench) -> None:
    with running(Webhooks(SECRET)) as fake:
        bench.add("webhook", fake.url, SECRET, "tag:work")
        first = bench.save(1, tags=["work"])
        bench.save(2, tags=["play"])
        third = bench.save(3, tags=["work"])
        bench.deliver()
        assert ids(fake) == [first, third]
        assert [message["type"] for message in fake.messages.values()] == ["item.saved"] * 2
        bench.store.items.set_metadata(first, "2025-03-20T00:00:00.000000Z", pinned=True)
        bench.deliver()
        assert len(fake.messages) == 2, "pinning is no new version"
        bench.save(1, tags=["work"], content="Other words.")
        bench.store.items.set_metadata(third, "2025-03-20T00:00:00.000000Z", tags=())
        bench.deliver()
        assert ids(fake) == [first, third, first]
        last = fake.messages[fake.order[-1]]
        assert (last["type"], last["data"]["markdown"]) == ("item.changed", "Other words.")
        bench.store.items.delete(first, "2025-03-21T00:00:00.000000Z")
        bench.deliver()
        assert (len(fake.messages), fake.faults, fake.repeated) == (3, [], {})


@pytest.mark.parametrize("how", ["500", "lost", "die", "die after", "429", "stall"])
def test_a_sink_that_fails_is_tried_again_and_keeps_the_order(bench: Bench, how: str) -> None:
    with running(Webhooks(SECRET, lambda number: how if number in (1, 2) else "ok")) as fake:
        sink = bench.add("webhook", fake.url, SECRET)
        saved = [bench.save(number) for number in range(4)]
        bench.deliver(rounds=4)
        assert ids(fake) == saved
        assert fake.faults == []
        assert bench.store.outbox.list() == ()
        view = get_sink(bench.store, sink.name)
        assert (view.sink.sent, view.sink.error, view.queued) == (4, None, 0)


def test_while_it_fails_the_sink_shows_why_and_waits_longer_each_time(bench: Bench) -> None:
    with running(Webhooks(SECRET, lambda _number: "500")) as fake:
        sink = bench.add("webhook", fake.url, SECRET)
        bench.save(1)
        bench.save(2)
        bench.deliver(replace(FAST, first_pause=60.0, max_wait=60.0), rounds=2)
        view = get_sink(bench.store, sink.name)
        assert view.sink.error == '`127.0.0.1` answered with status 500: {"message": "a fault of the fake"}'
        first, second = list_deliveries(bench.store)
        assert (first.delivery.attempts, second.delivery.attempts, first.sink) == (1, 0, "webhook")
        assert first.title == "A title"
    assert [pause_after(number, FIRST_PAUSE) for number in (1, 2, 3, 20)] == [5.0, 20.0, 80.0, 21_600.0]


def test_what_cannot_succeed_is_dead_with_its_reason_and_the_next_one_passes(bench: Bench) -> None:
    class Picky(Webhooks):
        refuses = True

        def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, object]:
            return (
                (422, {"error": "too odd"})
                if self.refuses and b"odd" in body
                else super().answer(method, path, headers, body)
            )

    with running(Picky(SECRET)) as fake:
        bench.add("webhook", fake.url, SECRET)
        odd = bench.save(1, title="An odd page")
        plain = bench.save(2)
        bench.deliver()
        assert ids(fake) == [plain]
        (dead,) = list_deliveries(bench.store, "webhook", "dead")
        assert (dead.delivery.item_id, dead.title) == (odd, "An odd page")
        assert dead.delivery.error is not None
        assert "422" in dead.delivery.error["message"]
        assert "too odd" in dead.delivery.error["message"]
        fake.refuses = False
        assert revive_deliveries(bench.store, "webhook", dead.delivery.position) == 1
        bench.deliver()
        assert ids(fake) == [plain, odd]
        assert drop_dead(bench.store) == 0


def test_after_the_last_attempt_a_delivery_is_dead(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "MAX_ATTEMPTS", 3)
    with running(Webhooks(SECRET, lambda number: "500" if number < 3 else "ok")) as fake:
        bench.add("webhook", fake.url, SECRET)
        bench.save(1)
        second = bench.save(2)
        bench.deliver(rounds=4)
        assert ids(fake) == [second]
        assert [one.delivery.state for one in list_deliveries(bench.store)] == ["dead"]


def test_a_busy_sink_is_not_a_failed_attempt(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "MAX_ATTEMPTS", 2)
    with running(Webhooks(SECRET, lambda number: "429" if number < 5 else "ok")) as fake:
        bench.add("webhook", fake.url, SECRET)
        bench.save(1)
        bench.deliver(rounds=8)
        assert len(fake.messages) == 1


def test_status_410_switches_the_sink_off_and_nothing_is_lost(bench: Bench) -> None:
    class Gone(Webhooks):
        gone = True

        def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, object]:
            return (410, {}) if self.gone else super().answer(method, path, headers, body)

    with running(Gone(SECRET)) as fake:
        bench.add("webhook", fake.url, SECRET)
        first = bench.save(1)
        bench.deliver()
        view = get_sink(bench.store, "webhook")
        assert (view.sink.state, view.queued) == ("off", 1)
        assert "410" in str(view.sink.error)
        bench.save(2)
        bench.deliver()
        fake.gone = False
        switch_sink(bench.store, "webhook", on=True)
        bench.deliver()
        assert ids(fake) == [first], "what was saved while it was off is not sent"
        assert send_existing(bench.store, "webhook") == 2
        bench.deliver()
        assert len(ids(fake)) == 2


def test_a_private_address_is_refused_even_if_it_got_into_the_library(make_bench: Callable[..., Bench]) -> None:
    careless, careful = make_bench(), make_bench(allow_hosts=())
    with running(Webhooks(SECRET)) as fake:
        careless.add("webhook", fake.url, SECRET)
        careless.save(1)
        careful.deliver()
        assert fake.requests == []
        (dead,) = list_deliveries(careful.store, state="dead")
        assert dead.delivery.error is not None
        assert "private address" in dead.delivery.error["message"]


def test_a_redirect_is_not_followed(bench: Bench) -> None:
    class Elsewhere(Fake):
        def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, object]:
            return 307, {}

    with running(Elsewhere()) as fake:
        bench.add("webhook", fake.url, SECRET)
        bench.save(1)
        bench.deliver()
        assert len(fake.requests) == 1
        assert "redirects" in str(list_deliveries(bench.store)[0].delivery.error)


def test_events_of_another_part_are_delivered_in_order_and_once_per_id(bench: Bench) -> None:
    with running(Webhooks(SECRET, lambda number: "lost" if number == 0 else "ok")) as fake:
        sink = event_sink(bench.store, "webhook", "crawl 1", fake.url, bench.settings, SECRET)
        assert event_sink(bench.store, "webhook", "crawl 1", fake.url, bench.settings).id == sink.id
        for number in range(3):
            body = {"type": f"crawl.{number}", "timestamp": "now", "data": {"n": number}}
            assert post_event(bench.store, sink.id, f"crawl-1-{number}", body)
            assert not post_event(bench.store, sink.id, f"crawl-1-{number}", body)
        bench.save(1)
        bench.deliver(rounds=3)
        assert fake.order == ["crawl-1-0", "crawl-1-1", "crawl-1-2"]
        assert list(fake.repeated) == ["crawl-1-0"]
        assert [view.sink.name for view in list_sinks(bench.store)] == ["crawl 1"]
        with pytest.raises(InvalidQuery, match="stays as its request named it"):
            set_rules(bench.store, "crawl 1", ["*"])


def test_rules_can_change_and_any_of_them_is_enough(bench: Bench) -> None:
    with running(Webhooks(SECRET)) as fake:
        bench.add("webhook", fake.url, SECRET, "tag:a")
        set_rules(bench.store, "webhook", ["tag:b", '"solar panels"', "tag:b"])
        assert get_sink(bench.store, "webhook").sink.rules == ("tag:b", '"solar panels"')
        bench.save(1, tags=["a"])
        second = bench.save(2, tags=["b"])
        third = bench.save(3, content="On solar panels.")
        bench.deliver()
        assert ids(fake) == [second, third]


def test_slow_receivers_of_one_user_do_not_hold_up_another(bench: Bench) -> None:
    released, in_time = threading.Event(), list[bool]()

    class Slow(Webhooks):
        def answer(self, *values: Any) -> tuple[int, Any]:
            in_time.append(released.wait(20))
            return super().answer(*values)

    class Quick(Webhooks):
        def answer(self, *values: Any) -> tuple[int, Any]:
            released.set()
            return super().answer(*values)

    with closing(open_library(bench.settings, "ann")) as others, running(Slow(SECRET)) as slow:
        for number in range(2 * MAX_SINKS):
            new = NewSink("webhook", f"slow {number}", slow.url, ("*",), secret=SECRET)
            add_sink(bench.store, bench.settings, new)
        bench.save(1)
        with running(Quick(SECRET)) as quick:
            add_sink(others, bench.settings, NewSink("webhook", "quick", quick.url, ("*",), secret=SECRET))
            Bench(bench.settings, others).save(2, user_id="ann")
            bench.deliver(replace(FAST, request_seconds=60.0))
            assert len(quick.order) == 1
        assert in_time == [True] * 2 * MAX_SINKS
