"""Sinks and the outbox: nothing that changed is missed, deliveries keep their order, and one process delivers at a time."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import pytest

from pagekeep.errors import Conflict, NotFound
from pagekeep.model.sinks import Sink
from pagekeep.store import Store
from tests.store.conftest import Opener
from tests.store.making import NOW, make_item, moment
from tests.store.sinks import add_sink

FAR = "2025-07-01T00:00:00.000000Z"
LATER, LATEST = moment(700), moment(800)


def save(library: Store, number: int = 0, **values: Any) -> str:
    return library.items.save(make_item(number, user_id=library.user_id, **values), None).id


def route_all(library: Store, *sinks: Sink, version: str = "one") -> int:
    return sum(
        library.outbox.route(changed, version, [sink.id for sink in sinks], NOW)
        for changed in library.outbox.changed_items(1_000)
    )


def lease(library: Store, sink: Sink, worker: str = "me", now: str = NOW, until: str = LATER) -> Sink | None:
    return library.sinks.lease(sink.id, worker, now, until, FAR)


def test_a_sink_is_stored_as_it_was_added_and_its_name_is_unique(library: Store) -> None:
    sink = add_sink(library, secret="sealed", hidden=False)
    assert library.sinks.get(sink.id) == sink
    assert (sink.rules, sink.secret, sink.due_at) == (("tag:work",), "sealed", None)
    with pytest.raises(Conflict):
        add_sink(library)
    hidden = add_sink(library, "crawl 1", (), hidden=True)
    assert [one.id for one in library.sinks.list()] == [hidden.id, sink.id]
    assert library.sinks.change(sink.id, {"rules": []}, None).rules == ()
    assert library.sinks.remove(sink.id)
    assert not library.sinks.remove(sink.id)
    with pytest.raises(NotFound):
        library.sinks.get(sink.id)


def test_every_change_of_an_item_is_noted_in_its_order_while_there_is_a_sink_with_rules(library: Store) -> None:
    first = save(library)
    assert library.outbox.changed_items() == ()
    add_sink(library, "events", ())
    library.items.set_metadata(first, NOW, tags=("work",))
    assert library.outbox.changed_items() == ()
    add_sink(library)
    second = save(library, 1)
    third = library.items.save_many([_new(library, 2)], lambda old, _new: old)[0][0].id
    library.items.set_metadata(first, NOW, tags=())
    library.items.delete(second, NOW)
    library.items.mark_opened(third, LATER)
    assert [changed.item_id for changed in library.outbox.changed_items()] == [third, first, second]
    assert library.sinks.users_with_changes() == (library.user_id,)


def _new(library: Store, number: int) -> Any:
    from pagekeep.model import NewItem

    return NewItem(make_item(number, user_id=library.user_id))


def test_a_change_that_is_undone_with_its_transaction_is_not_noted(library: Store) -> None:
    add_sink(library)
    with pytest.raises(NotFound):
        library.items.set_metadata(str(uuid.uuid4()), NOW, pinned=True)
    assert library.outbox.changed_items() == ()


def test_routing_takes_each_change_once_and_not_one_that_changed_again(library: Store) -> None:
    sink = add_sink(library)
    item = save(library)
    (before,) = library.outbox.changed_items()
    library.items.set_metadata(item, NOW, pinned=True)
    assert library.outbox.route(before, "one", [sink.id], NOW) == 0
    (changed,) = library.outbox.changed_items()
    assert library.outbox.route(changed, "one", [sink.id], NOW) == 1
    assert library.outbox.route(changed, "one", [sink.id], NOW) == 0
    assert [delivery.item_id for delivery in library.outbox.list()] == [item]
    assert library.sinks.get(sink.id).due_at == NOW


def test_deliveries_come_in_order_and_are_remembered_with_their_version(library: Store) -> None:
    sink = add_sink(library)
    ids = [save(library, number) for number in range(3)]
    assert route_all(library, sink) == 3
    assert lease(library, sink) is not None
    seen = []
    while (delivery := library.outbox.begin(sink.id, "me", NOW, LATER)) is not None:
        assert delivery.attempts == 1
        seen.append(delivery.item_id)
        library.outbox.finish(delivery, "me", NOW, version="one", remote_id=f"object {len(seen)}")
    assert seen == ids
    state = library.sinks.get(sink.id)
    assert (state.sent, state.sent_at, state.due_at) == (3, NOW, None)
    sent = library.outbox.sent_item(sink.id, ids[1])
    assert sent is not None
    assert (sent.version, sent.remote_id) == ("one", "object 2")
    library.outbox.note_changed(ids)
    assert route_all(library, sink) == 0, "the sink has this version"
    library.outbox.note_changed(ids[:1])
    assert route_all(library, sink, version="two") == 1


def test_one_process_delivers_to_a_sink_until_its_lease_ends(opened: Opener) -> None:
    library, other = opened(), opened()
    sink = add_sink(library)
    assert lease(library, sink) is None, "nothing is due"
    save(library)
    route_all(library, sink)
    assert lease(library, sink, "me") is not None
    assert lease(other, sink, "you") is None
    delivery = library.outbox.begin(sink.id, "me", NOW, LATER)
    assert delivery is not None
    assert lease(other, sink, "you", LATER, LATEST) is not None, "the first one was killed"
    again = other.outbox.begin(sink.id, "you", LATER, LATEST)
    assert again is not None
    assert (again.position, again.attempts) == (delivery.position, 2)
    assert library.outbox.begin(sink.id, "me", LATER, LATEST) is None, "its lease was lost"
    library.outbox.fail(delivery, "me", {"message": "late"}, retry_at=None, now=LATER)
    assert library.outbox.list()[0].state == "queued", "what a process without the lease says is not believed"
    other.outbox.finish(again, "you", LATER, version="one")
    library.outbox.finish(delivery, "me", LATER, version="one")
    assert library.sinks.get(sink.id).sent == 1
    assert library.outbox.list() == ()


def test_a_failure_makes_the_whole_sink_wait_and_keeps_the_order(library: Store) -> None:
    sink = add_sink(library)
    ids = [save(library, number) for number in range(2)]
    route_all(library, sink)
    lease(library, sink)
    delivery = library.outbox.begin(sink.id, "me", NOW, LATER)
    assert delivery is not None
    library.outbox.fail(delivery, "me", {"type": "x", "message": "It is down."}, retry_at=LATER, now=NOW)
    save(library, 3)
    route_all(library, sink)
    state = library.sinks.get(sink.id)
    assert (state.error, state.due_at) == ("It is down.", LATER)
    assert lease(library, sink) is None
    assert library.sinks.due(NOW, FAR, each=5) == ()
    assert library.sinks.due(LATER, FAR, each=5) == ((library.user_id, sink.id),)
    lease(library, sink, now=LATER, until=LATEST)
    delivery = library.outbox.begin(sink.id, "me", LATER, LATEST)
    assert delivery is not None
    assert (delivery.item_id, delivery.attempts) == (ids[0], 2)
    library.outbox.fail(delivery, "me", {"message": "busy"}, retry_at=LATEST, now=LATER, counts=False)
    assert library.outbox.list()[0].attempts == 1


def test_a_clock_that_was_ahead_does_not_block_a_sink(library: Store) -> None:
    sink = add_sink(library)
    save(library)
    route_all(library, sink)
    lease(library, sink, until="2031-01-01T00:00:00.000000Z")
    assert library.sinks.due(NOW, FAR, each=5) == ((library.user_id, sink.id),)
    assert lease(library, sink, "you") is not None


def test_a_dead_delivery_lets_the_next_pass_and_can_be_revived_or_dropped(library: Store) -> None:
    sink = add_sink(library)
    ids = [save(library, number) for number in range(2)]
    route_all(library, sink)
    lease(library, sink)
    for _ in ids:
        delivery = library.outbox.begin(sink.id, "me", NOW, LATER)
        assert delivery is not None
        library.outbox.fail(delivery, "me", {"message": "Too large."}, retry_at=None, now=NOW)
    assert library.outbox.begin(sink.id, "me", NOW, LATER) is None
    assert library.outbox.counts() == {sink.id: {"queued": 0, "dead": 2}}
    first, second = library.outbox.list(sink.id, "dead")
    assert [first.item_id, second.item_id] == ids
    assert first.error == {"message": "Too large."}
    assert library.outbox.revive(NOW, position=first.position) == 1
    assert library.sinks.get(sink.id).due_at == NOW
    assert library.outbox.remove_dead(sink_id=sink.id) == 1
    assert [delivery.attempts for delivery in library.outbox.list()] == [0]


def test_a_change_during_a_delivery_is_delivered_after_it(library: Store) -> None:
    sink = add_sink(library)
    item = save(library)
    route_all(library, sink)
    library.outbox.note_changed([item])
    assert route_all(library, sink, version="two") == 0, "it waits already, and is sent as it is then"
    lease(library, sink)
    delivery = library.outbox.begin(sink.id, "me", NOW, LATER)
    library.outbox.note_changed([item])
    assert route_all(library, sink, version="three") == 1
    assert delivery is not None
    library.outbox.finish(delivery, "me", NOW, version="two")
    following = library.outbox.begin(sink.id, "me", NOW, LATER)
    assert following is not None
    assert following.item_id == item


def test_an_event_is_added_once_and_its_body_comes_back(library: Store) -> None:
    sink = add_sink(library, rules=())
    assert library.outbox.post_event(sink.id, "event-1", {"type": "crawl.page", "data": [1, "ä"]}, NOW)
    assert not library.outbox.post_event(sink.id, "event-1", {"other": 1}, NOW)
    lease(library, sink)
    delivery = library.outbox.begin(sink.id, "me", NOW, LATER)
    assert delivery is not None
    assert (delivery.event, delivery.body) == ("event-1", {"type": "crawl.page", "data": [1, "ä"]})
    with pytest.raises(NotFound):
        library.outbox.post_event(str(uuid.uuid4()), "event-2", {}, NOW)


def test_a_sink_that_is_off_delivers_nothing_until_it_is_on_again(library: Store) -> None:
    sink = add_sink(library)
    save(library)
    route_all(library, sink)
    off = library.sinks.switch(sink.id, on=False, error="It wants no more.", now=NOW)
    assert (off.state, off.error, library.sinks.due(NOW, FAR, each=5)) == ("off", "It wants no more.", ())
    assert lease(library, sink) is None
    on = library.sinks.switch(sink.id, on=True, error=None, now=LATER)
    assert (on.state, on.error, on.due_at) == ("active", None, LATER)


def test_users_see_their_own_sinks_alone_and_workers_what_is_due_of_all(opened: Opener) -> None:
    mine, other = opened(), opened(f"user-{uuid.uuid4()}")
    sink = add_sink(mine, secret="sealed")
    item = save(mine)
    workers = opened(workers=True)
    assert mine.user_id in workers.sinks.users_with_changes()
    route_all(mine, sink)
    assert (mine.user_id, sink.id) in workers.sinks.due(NOW, FAR, each=5)
    assert (other.sinks.list(), other.outbox.list(), other.outbox.changed_items()) == ((), (), ())
    assert (other.sinks.due(NOW, FAR, each=5), other.sinks.users_with_changes()) == ((), ())
    assert not other.sinks.remove(sink.id)
    assert other.sinks.lease(sink.id, "you", NOW, LATER, FAR) is None
    assert other.outbox.sent_item(sink.id, item) is None
    assert other.outbox.revive(NOW) == 0
    with pytest.raises(NotFound):
        other.outbox.post_event(sink.id, "event", {}, NOW)
    with pytest.raises(NotFound):
        other.sinks.switch(sink.id, on=False, error=None, now=NOW)
    add_sink(other)  # the same name
    assert mine.sinks.add(replace(sink, id=str(uuid.uuid4()), name="second")).user_id == mine.user_id


def test_one_user_with_many_due_sinks_takes_no_more_than_a_share(library: Store) -> None:
    for number in range(4):
        sink = add_sink(library, f"sink {number}", ())
        library.outbox.post_event(sink.id, f"event {number}", {}, NOW)
    assert len(library.sinks.due(LATER, FAR, each=2)) == 2
    assert len(library.sinks.due(LATER, FAR, each=9)) == 4
