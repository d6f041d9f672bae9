"""Sinks: adding, pairing, testing and removing them; their rules; and what waits for them."""

from __future__ import annotations

import uuid
from asyncio import to_thread
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pagekeep import clock
from pagekeep.config import Settings
from pagekeep.errors import InvalidQuery, NotAllowed, NotFound
from pagekeep.fetch.urls import split_url
from pagekeep.library.items.find import walk_items
from pagekeep.library.sinks.kind import MAX_SETTING_CHARS, Kind, all_kinds, get_kind
from pagekeep.library.sinks.outbox import EVERYTHING, takes
from pagekeep.library.sinks.runner import Clients, guard_for
from pagekeep.library.sinks.secret_box import check_secret, confirm_source, seal
from pagekeep.model.sinks import Delivery, Sink
from pagekeep.store import Store, parse_query
from pagekeep.text import one_line

MAX_SINKS: Final = 20
MAX_RULES: Final = 20
_MAX_NAME_CHARS: Final = 60
_MAX_RULE_CHARS: Final = 1_000
_BATCH: Final = 500
"""Items that are noted as changed in one transaction."""


@dataclass(frozen=True, slots=True)
class NewSink:
    """What a user says about a sink."""

    kind: str
    name: str = ""
    """By default the name of the kind."""
    address: str = ""
    rules: tuple[str, ...] = ()
    settings: Mapping[str, str] | None = None
    secret: str | None = None
    secret_env: str | None = None
    """Name of an environment variable that has the secret; only in a library of one user, from the command line."""
    secret_command: str | None = None
    """A command that prints the secret; only as above."""


@dataclass(frozen=True, slots=True)
class AddedSink:
    """A new sink."""

    sink: Sink
    secret: str | None = None
    """A secret that we made: it is shown once."""


@dataclass(frozen=True, slots=True)
class SinkView:
    """A sink with what waits for it."""

    sink: Sink
    queued: int
    dead: int

    @property
    def has_secret(self) -> bool:
        """Whether it has a secret, or knows where to read it."""
        return self.sink.secret is not None or bool(self.sink.options.get("secret"))


@dataclass(frozen=True, slots=True)
class DeliveryView:
    """A delivery with the names of what it is about."""

    delivery: Delivery
    sink: str
    title: str
    """Title of the item, or type of the event."""


def add_sink(store: Store, settings: Settings, new: NewSink) -> AddedSink:
    """Add a sink; items that are saved or changed from now on go to it, as its rules say."""
    kind = get_kind(new.kind)
    if kind.internal:
        raise InvalidQuery(f"There is no kind of sink `{new.kind:.60}`.")
    if sum(not sink.hidden for sink in store.sinks.list()) >= MAX_SINKS:
        raise InvalidQuery(f"There are already {MAX_SINKS} sinks.", suggestions=("Remove one first.",))
    options: dict[str, Any] = {
        "rules": list(clean_rules(new.rules)),
        "settings": _clean_settings(kind, new.settings or {}),
    }
    sink = Sink(
        id=str(uuid.uuid4()),
        user_id=store.user_id,
        kind=kind.name,
        name=_clean_name(new.name or kind.name),
        address=_clean_address(settings, kind, new.address),
        options=options,
        state="active",
        created_at=clock.now(),
    )
    made = None
    if new.secret_env or new.secret_command:
        options["secret"] = confirm_source(settings, sink.user_id, sink.id, _outside_secret(settings, new))
    elif new.secret:
        sink = replace(sink, secret=_seal(settings, kind, sink, new.secret))
    elif kind.makes_secret:
        made = kind.new_secret()
        sink = replace(sink, secret=_seal(settings, kind, sink, made))
    return AddedSink(store.sinks.add(sink), made)


def list_sinks(store: Store) -> tuple[SinkView, ...]:
    """Return all places that something is sent to, by name, with how much waits for each; webhooks of crawls too."""
    counts = store.outbox.counts()
    return tuple(_view(sink, counts) for sink in store.sinks.list())


def get_sink(store: Store, key: str) -> SinkView:
    """Return the sink with this name, id or beginning of an id; `NotFound` when there is not exactly one."""
    sinks = store.sinks.list()
    found = [one for one in sinks if one.name == key] or [
        one for one in sinks if len(key) >= 4 and one.id.startswith(key.lower())
    ]
    if len(found) != 1:
        raise NotFound(f"There is no sink {key!r:.100}.", suggestions=("List the sinks first.",))
    return _view(found[0], store.outbox.counts())


def remove_sink(store: Store, key: str) -> Sink:
    """Remove a sink with everything that waits for it. What was delivered stays in the other program."""
    sink = get_sink(store, key).sink
    store.sinks.remove(sink.id)
    return sink


def set_rules(store: Store, key: str, rules: Iterable[str]) -> SinkView:
    """Replace the rules of a sink: searches, of which an item must match one."""
    sink = _changeable(store, key)
    store.sinks.change(sink.id, {**sink.options, "rules": list(clean_rules(rules))}, sink.secret)
    return get_sink(store, sink.id)


def set_secret(store: Store, settings: Settings, key: str, secret: str) -> SinkView:
    """Give a sink another secret; what waits for it is tried again at once."""
    sink = _changeable(store, key)
    options = {name: value for name, value in sink.options.items() if name != "secret"}
    store.sinks.change(sink.id, options, _seal(settings, get_kind(sink.kind), sink, secret))
    store.outbox.revive(clock.now(), sink_id=sink.id)
    return get_sink(store, sink.id)


def find_source(store: Store, key: str) -> str:
    """Return the command or variable that the secret of a sink is read from, as it is shown before it is confirmed."""
    source = get_sink(store, key).sink.options.get("secret") or {}
    if not source:
        raise NotFound("The secret of this sink is stored, so there is nothing to confirm.")
    return f"the command `{source['command']}`" if "command" in source else f"the variable {source.get('env')}"


def confirm_secret(store: Store, settings: Settings, key: str) -> SinkView:
    """Confirm where the secret of a sink is read from, as after a restore; only the command line may call this."""
    if settings.shared:
        raise NotAllowed("On a shared server, secrets are stored.", suggestions=("Give the secret itself.",))
    sink = get_sink(store, key).sink
    source = confirm_source(settings, sink.user_id, sink.id, sink.options.get("secret") or {})
    store.sinks.change(sink.id, {**sink.options, "secret": source}, sink.secret)
    store.outbox.revive(clock.now(), sink_id=sink.id)
    return get_sink(store, sink.id)


def switch_sink(store: Store, key: str, *, on: bool) -> SinkView:
    """Switch a sink on, or off: nothing is added to its outbox or delivered then."""
    sink = get_sink(store, key).sink
    store.sinks.switch(sink.id, on=on, error=None, now=clock.now())
    return get_sink(store, sink.id)


def send_existing(store: Store, key: str) -> int:
    """Have all items that match the rules of a sink sent to it, if it does not have them; return how many match."""
    sink = get_sink(store, key).sink
    if not sink.rules:
        raise InvalidQuery("This sink has no rules.", suggestions=("Add a rule first, such as `tag:work` or `*`.",))
    wanted: list[str] = []
    count = 0
    for item in walk_items(store):
        if takes(store, sink, item):
            wanted.append(item.id)
        if len(wanted) >= _BATCH:
            store.outbox.note_changed(wanted)
            count, wanted = count + len(wanted), []
    store.outbox.note_changed(wanted)
    return count + len(wanted)


async def check_sink(store: Store, key: str, clients: Clients) -> str:
    """Check the address and the secret of a sink, and return what was found; `NotSent` when it does not work."""
    sink = (await to_thread(get_sink, store, key)).sink
    api = await to_thread(clients.open_api, sink)
    return await get_kind(sink.kind).test(api)


async def start_pairing(store: Store, key: str, clients: Clients) -> str:
    """Have the other program show a code; return the id of this attempt, which `finish_pairing` needs."""
    sink = (await to_thread(get_sink, store, key)).sink
    return await get_kind(sink.kind).start_pairing(clients.api(sink, ""))


async def finish_pairing(
    store: Store, settings: Settings, key: str, attempt: str, code: str, clients: Clients
) -> SinkView:
    """Exchange the code that the other program shows for its secret, and store that."""
    sink = (await to_thread(get_sink, store, key)).sink
    if not attempt or len(attempt) > MAX_SETTING_CHARS or not attempt.isprintable():
        raise InvalidQuery("This attempt at pairing does not exist.", suggestions=("Start pairing again.",))
    secret = await get_kind(sink.kind).finish_pairing(clients.api(sink, ""), attempt, code)
    return await to_thread(set_secret, store, settings, sink.id, secret)


def list_deliveries(
    store: Store, key: str | None = None, state: str | None = None, limit: int = 100
) -> tuple[DeliveryView, ...]:
    """Return what waits and what is dead, in the order of delivery, of all sinks or one."""
    names = {sink.id: sink.name for sink in store.sinks.list()}
    sink_id = get_sink(store, key).sink.id if key else None
    return tuple(
        DeliveryView(one, names.get(one.sink_id, ""), _title(store, one))
        for one in store.outbox.list(sink_id, state, limit)
    )


def revive_deliveries(store: Store, key: str | None = None, position: int | None = None) -> int:
    """Let dead deliveries be tried again, of all sinks or one, or a single one; return how many were dead."""
    sink_id = get_sink(store, key).sink.id if key else None
    return store.outbox.revive(clock.now(), sink_id=sink_id, position=position)


def drop_dead(store: Store, key: str | None = None, position: int | None = None) -> int:
    """Give dead deliveries up, of all sinks or one, or a single one; return how many."""
    sink_id = get_sink(store, key).sink.id if key else None
    return store.outbox.remove_dead(sink_id=sink_id, position=position)


def clean_rules(rules: Iterable[str]) -> tuple[str, ...]:
    """Return rules as they are stored, each once; `InvalidQuery` for a search that cannot be understood."""
    cleaned = tuple(dict.fromkeys(rule for rule in map(one_line, rules) if rule))
    if len(cleaned) > MAX_RULES:
        raise InvalidQuery(f"A sink has at most {MAX_RULES} rules.", suggestions=("Use fewer.",))
    for rule in cleaned:
        if len(rule) > _MAX_RULE_CHARS:
            raise InvalidQuery("A rule is too long.", suggestions=(f"Use at most {_MAX_RULE_CHARS} characters.",))
        if rule == EVERYTHING:
            continue
        parse_query(rule)
    return cleaned


def _changeable(store: Store, key: str) -> Sink:
    sink = get_sink(store, key).sink
    if sink.hidden:
        raise InvalidQuery(
            "The webhook of a crawl stays as its request named it.",
            suggestions=("Remove it, or start the crawl again with another webhook.",),
        )
    return sink


def kind_labels() -> dict[str, str]:
    """Return what each kind of sink is called, also those that are not added by users."""
    return {kind.name: kind.label for kind in all_kinds().values()}


def offered_kinds() -> tuple[Kind, ...]:
    """Return the kinds of sinks that users can add."""
    return tuple(kind for kind in all_kinds().values() if not kind.internal)


def _view(sink: Sink, counts: Mapping[str, Mapping[str, int]]) -> SinkView:
    own = counts.get(sink.id, {})
    return SinkView(sink, own.get("queued", 0), own.get("dead", 0))


def _title(store: Store, delivery: Delivery) -> str:
    if delivery.item_id is None:
        return one_line(str((delivery.body or {}).get("type", "event")))[:200]
    try:
        return one_line(store.items.get(delivery.item_id).title)[:200]
    except NotFound:
        return ""


def _clean_name(name: str) -> str:
    name = one_line(name)
    if not name or len(name) > _MAX_NAME_CHARS:
        raise InvalidQuery("This is not a name of a sink.", suggestions=(f"Use 1 to {_MAX_NAME_CHARS} characters.",))
    return name


def _clean_address(settings: Settings, kind: Kind, address: str) -> str:
    address = address.strip() or kind.address
    if not address:
        raise InvalidQuery(f"A sink of the kind {kind.name} needs an address.", suggestions=("Give its URL.",))
    if kind.fixed_address and address != kind.address:
        raise InvalidQuery(f"The address of {kind.label} is always {kind.address}.", suggestions=("Leave it out.",))
    parts = split_url(address)
    guard_for(settings, kind, parts).check_url(address)
    return address


def _clean_settings(kind: Kind, given: Mapping[str, str]) -> dict[str, str]:
    known = {field.name: field for field in kind.fields}
    if unknown := sorted(set(given) - set(known)):
        raise InvalidQuery(
            f"A sink of the kind {kind.name} has no setting `{unknown[0]:.60}`.",
            suggestions=(f"It has: {', '.join(known) or 'none'}.",),
        )
    cleaned = {}
    for name, field in known.items():
        value = one_line(given.get(name, "")) or field.default
        if len(value) > MAX_SETTING_CHARS:
            raise InvalidQuery(f"`{name}` is too long.", suggestions=(f"Use at most {MAX_SETTING_CHARS} characters.",))
        if not value and not field.found:
            raise InvalidQuery(f"A sink of the kind {kind.name} needs `{name}`.", suggestions=(field.help,))
        if value:
            cleaned[name] = value
    return cleaned


def _seal(settings: Settings, kind: Kind, sink: Sink, secret: str) -> str:
    secret = check_secret(secret)
    kind.check_secret(secret)
    return seal(settings, sink.user_id, sink.id, secret)


def _outside_secret(settings: Settings, new: NewSink) -> dict[str, str]:
    if settings.shared:
        raise NotAllowed(
            "On a shared server, secrets are stored, as variables and commands belong to the server.",
            suggestions=("Give the secret itself.",),
        )
    if new.secret_env:
        if not new.secret_env.isidentifier():
            raise InvalidQuery("This is not the name of an environment variable.", suggestions=("Check it.",))
        return {"env": new.secret_env}
    return {"command": str(new.secret_command)}


def event_sink(store: Store, kind: str, name: str, address: str, settings: Settings, secret: str | None = None) -> Sink:
    """Return the sink of another part of Pagekeep for its own events, made when there is none with this name.

    It has no rules, so that it gets no items. The address passes the same guard as that of every sink.
    """
    for known in store.sinks.list():
        if known.hidden and known.name == name:
            return known
    own = get_kind(kind)
    sink = Sink(
        id=str(uuid.uuid4()),
        user_id=store.user_id,
        kind=kind,
        name=name,
        address=_clean_address(settings, own, address),
        options={},
        state="active",
        created_at=clock.now(),
        hidden=True,
    )
    made = secret or (own.new_secret() if own.makes_secret else None)
    return store.sinks.add(replace(sink, secret=seal(settings, sink.user_id, sink.id, made) if made else None))


def post_event(store: Store, sink_id: str, event_id: str, body: Mapping[str, Any]) -> bool:
    """Put an event into the outbox of a sink, once per id; it is delivered in order, and tried again until it arrives."""
    return store.outbox.post_event(sink_id, event_id, body, clock.now())
