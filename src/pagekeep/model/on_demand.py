"""Fields whose value is made when it is first read, because many callers never read it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")
_refused = False
"""Whether fields may not be made in this process."""


def refuse_to_make() -> None:
    """Let a field that is not made yet raise an error in this process: in a server, workers make what is made of pages."""
    global _refused
    _refused = True


class OnDemand(Generic[Value]):
    """What a field holds until it is first read. It can be pickled."""

    __slots__ = ()

    def make(self) -> Value:
        """Return the value of the field; the same each time."""
        raise NotImplementedError

    def as_value(self) -> Any:
        """Return this object for a field that will return its value; compiled code would check a closer type."""
        return self


class NotMade(OnDemand[Any]):
    """What a field holds that the worker was not asked for."""

    __slots__ = ()

    def make(self) -> Any:
        """Raise an error: there is nothing to make it of."""
        raise RuntimeError("The field must be made in a worker: add it to `needs` of the options.")


def make_on_demand(cls: Any, *names: str) -> None:
    """Let these fields of a data class with slots hold an `OnDemand`, which is replaced by its value when it is read."""
    made = {name: _Field(getattr(cls, name)) for name in names}
    for name, field in made.items():
        setattr(cls, name, field)

    def get_state(self: Any) -> list[Any]:
        """Return the values of all fields for `pickle` and `copy`, without making any."""
        return [
            made[field.name].slot.__get__(self) if field.name in made else getattr(self, field.name)
            for field in fields(self)
        ]

    cls.__getstate__ = get_state


def made_fields(cls: Any) -> dict[str, Any]:
    """Return the fields of a class that are made when they are read; the `slot` of each holds what is there now."""
    return {name: field for name, field in vars(cls).items() if isinstance(field, _Field)}


class _Field:
    """Makes the value of a slot when it is read."""

    __slots__ = ("slot",)

    def __init__(self, slot: Any) -> None:
        self.slot = slot

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        value = self.slot.__get__(instance)
        if isinstance(value, OnDemand):
            if _refused:
                raise RuntimeError(
                    f"{type(value).__name__} must be made in a worker: add it to `needs` of the options."
                )
            value = value.make()
            self.slot.__set__(instance, value)
        return value

    def __set__(self, instance: Any, value: Any) -> None:
        self.slot.__set__(instance, value)
