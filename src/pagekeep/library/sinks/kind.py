"""What a kind of sink is: how it describes itself, and how it sends an item or an event."""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Final

from pagekeep.errors import InvalidQuery, NotOffered
from pagekeep.library.sinks import kinds
from pagekeep.library.sinks.api import Api
from pagekeep.model import Item
from pagekeep.model.sinks import SentItem
from pagekeep.store import Store

MAX_SETTING_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class Field:
    """A setting of a kind of sink."""

    name: str
    label: str
    help: str
    default: str = ""
    """What it is when left empty; a field without one is required, unless it is `found` later."""
    found: bool = False
    """Whether the sink itself finds a value when it is left empty."""


@dataclass(frozen=True, slots=True)
class ItemMessage:
    """An item as it is sent."""

    id: str
    """The same for the same version of the same item, however often it is sent to this sink."""
    version: str
    item: Item
    markdown: str
    """Its text, without frontmatter."""
    earlier: SentItem | None
    """What the sink has of it."""
    repeated: bool
    """Whether it was tried before: it may have arrived, and the answer was lost."""


@dataclass(frozen=True, slots=True)
class EventMessage:
    """An event as it is sent."""

    id: str
    body: Mapping[str, Any]
    store: Store | None = None
    """The library that it is about, for what is read when it is sent."""


class Kind(ABC):
    """A kind of sink. Instances hold no state: everything about one sink is in `api`."""

    name: ClassVar[str]
    label: ClassVar[str]
    help: ClassVar[str]
    """One sentence about what is sent, and where it appears."""
    internal: ClassVar[bool] = False
    """Whether only other parts of Pagekeep use it, for their events."""
    address: ClassVar[str] = ""
    """The usual address; empty when there is none."""
    fixed_address: ClassVar[bool] = False
    """Whether there is no other address: it is a service."""
    local_port: ClassVar[int | None] = None
    """The port of a program on this machine. A library of one user reaches it without `allow_hosts`."""
    secret: ClassVar[str]
    """What its secret is called, as in `API token`."""
    optional_secret: ClassVar[bool] = False
    """Whether it may have no secret."""
    makes_secret: ClassVar[bool] = False
    """Whether we make the secret, and show it once, unless the user has one."""
    pairs: ClassVar[bool] = False
    """Whether the secret comes from pairing with a code that the other program shows."""
    fields: ClassVar[tuple[Field, ...]] = ()

    def check_secret(self, secret: str) -> None:  # noqa: B027
        """Raise `InvalidQuery` when a secret cannot be one."""

    def new_secret(self) -> str:
        """Return a new secret, where we make it."""
        raise NotOffered(f"The secret of a sink of the kind {self.name} comes from the other program.")

    def accepts(self, item: Item) -> bool:
        """Return whether this kind of sink can take the item at all."""
        return True

    @abstractmethod
    async def send_item(self, api: Api, message: ItemMessage) -> str | None:
        """Send an item, and return its name at the sink, if it has one there; `NotSent` when that fails.

        An item that the sink has (`earlier`) is changed there, not added again; before one that may have arrived
        (`repeated`) is added, look for it.
        """

    async def send_event(self, api: Api, message: EventMessage) -> None:
        """Send an event of another part of Pagekeep."""
        raise NotOffered(f"Sinks of the kind {self.name} take items only.")

    @abstractmethod
    async def test(self, api: Api) -> str:
        """Check the address and the secret without adding anything, and return what was found, for people."""

    async def start_pairing(self, api: Api) -> str:
        """Have the other program show a code; return the id of this attempt."""
        raise NotOffered(f"Sinks of the kind {self.name} are not paired.")

    async def finish_pairing(self, api: Api, attempt: str, code: str) -> str:
        """Return the secret that the other program gives for its code."""
        raise NotOffered(f"Sinks of the kind {self.name} are not paired.")


@cache
def all_kinds() -> Mapping[str, Kind]:
    """Return the kinds of sinks by name."""
    found = {}
    for entry in pkgutil.iter_modules(kinds.__path__):
        kind: Kind = importlib.import_module(f"{kinds.__name__}.{entry.name}").KIND
        found[kind.name] = kind
    return found


def get_kind(name: str) -> Kind:
    """Return a kind of sink; `InvalidQuery` when there is none."""
    kind = all_kinds().get(name)
    if kind is None:
        raise InvalidQuery(
            f"There is no kind of sink `{name:.60}`.", suggestions=(f"Use one of: {', '.join(all_kinds())}.",)
        )
    return kind
