"""Data classes that are quick to define and to make: they behave as those of `dataclasses`.

A page passes through a hundred of them, and `dataclasses` compiles up to seven functions for each when it is defined: a third
of the time that loading the program would take. Here the methods are shared, and only `__init__` is compiled, for a class of
which many objects are made. It sets slots directly, so an object of a frozen class takes half the time to make.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, FrozenInstanceError, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar, dataclass_transform

__all__ = ["dataclass", "interpreted", "quick_definitions"]

Class = TypeVar("Class", bound=type)

if TYPE_CHECKING:

    @dataclass_transform(field_specifiers=(dataclasses.field,))
    def dataclass(
        cls: Any = None, /, *, init: bool = True, eq: bool = True, repr: bool = True, order: bool = False,
        frozen: bool = False, slots: bool = False, kw_only: bool = False,
    ) -> Any: ...  # fmt: skip
else:

    def dataclass(cls=None, /, **options):
        """Do what `dataclasses.dataclass` does; quickly if the only options are `frozen` and `slots`."""
        if cls is None:
            return lambda cls: dataclass(cls, **options)
        if options.keys() <= {"frozen", "slots"}:
            return _define(cls, **options)
        return _DATACLASS(cls, **options)


_DATACLASS: Any = dataclasses.dataclass
_FEW_OBJECTS: Final = 20
"""As many are made without a compiled `__init__`: compiling it takes as long as making thirty."""


def interpreted(cls: Class) -> Class:
    """Mark a class that mypyc must leave to the interpreter, such as one derived from `list` (ADR 0014)."""
    return cls


@contextmanager
def quick_definitions() -> Iterator[None]:
    """Let the libraries that are imported in this context define their data classes quickly.

    `dom.py` uses it while it imports the HTML library, whose thirty data classes took half of that time. It is the only place
    that does so (ADR 0012): nothing else may be imported in this context.
    """
    dataclasses.dataclass = dataclass  # type: ignore[assignment]
    try:
        yield
    finally:
        dataclasses.dataclass = _DATACLASS


def _define(cls: Any, *, frozen: bool = False, slots: bool = False) -> Any:
    cls.__doc__ = cls.__doc__ or cls.__name__  # `dataclasses` would inspect the signature
    cls.__eq__, cls.__repr__ = _is_equal, _repr
    cls.__hash__ = _hash if frozen else None
    if frozen:
        cls.__setattr__, cls.__delattr__ = _refuse_to_set, _refuse_to_delete
        if slots:
            cls.__getstate__, cls.__setstate__ = _get_state, _set_state
    made = _DATACLASS(cls, init=False, repr=False, eq=False, slots=slots)
    its_fields = fields(made)
    compared = [field.name for field in its_fields if field.compare]
    made.__compared__ = attrgetter(*compared) if compared else type
    made.__signature__ = _SIGNATURE
    count = 0

    def __init__(self: Any, /, *arguments: Any, **named: Any) -> None:  # noqa: N807
        nonlocal count
        count += 1
        if count > _FEW_OBJECTS or not _fill(self, its_fields, arguments, named):
            made.__init__ = _compile_init(made, frozen, slots)
            made.__init__(self, *arguments, **named)
        elif hasattr(self, "__post_init__"):
            self.__post_init__()

    made.__init__ = __init__
    return made


def _fill(self: Any, its_fields: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Set the fields of a new object; return whether the arguments were right."""
    positions = [field.name for field in its_fields if field.init and not field.kw_only]
    given = dict(zip(positions, arguments, strict=False))
    if len(arguments) > len(positions) or given.keys() & named.keys():
        return False
    given |= named
    for field in its_fields:
        if field.init and field.name in given:
            value = given.pop(field.name)
        elif field.default_factory is not MISSING:
            value = field.default_factory()
        elif field.default is not MISSING:
            value = field.default
        elif field.init:
            return False
        else:
            continue  # set later
        object.__setattr__(self, field.name, value)
    return not given


def _compile_init(made: Any, frozen: bool, slots: bool) -> Any:
    """Return the `__init__` of a class. In a frozen one it must not assign, because the class refuses it."""
    names: dict[str, Any] = {"MISSING": MISSING, "set_any": object.__setattr__}
    parameters, keyword_only, lines = ["self"], ["*"], []
    for field in fields(made):
        name, value, default = field.name, field.name, ""
        if field.default_factory is not MISSING:
            names[f"make_{name}"] = field.default_factory
            value, default = f"make_{name}() if {name} is MISSING else {name}", "=MISSING"
        elif field.default is not MISSING:
            names[f"default_{name}"] = field.default
            default = f"=default_{name}"
        if field.init:
            (keyword_only if field.kw_only else parameters).append(f"{name}{default}")
        elif default:
            value = f"make_{name}()" if "MISSING" in default else f"default_{name}"
        else:
            continue  # set later
        if not frozen:
            lines.append(f"self.{name} = {value}")
        elif slots:
            names[f"set_{name}"] = getattr(made, name).__set__
            lines.append(f"set_{name}(self, {value})")
        else:
            lines.append(f"set_any(self, {name!r}, {value})")
    if hasattr(made, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters += keyword_only if len(keyword_only) > 1 else []
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"]), names)
    return names["__init__"]


def _refuse_to_set(self: Any, name: str, _value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _is_equal(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self is other or self.__compared__(self) == self.__compared__(other)


def _hash(self: Any) -> int:
    return hash(self.__compared__(self))


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


class _Signature:
    """The signature of a class, for `help` and `inspect`."""

    def __get__(self, _instance: object, owner: Any) -> Any:
        from inspect import Parameter, Signature

        parameters = []
        for field in fields(owner):
            default = Parameter.empty if field.default is MISSING else field.default
            if field.default_factory is not MISSING:
                default = field.default_factory
            kind = Parameter.KEYWORD_ONLY if field.kw_only else Parameter.POSITIONAL_OR_KEYWORD
            if field.init:
                parameters.append(Parameter(field.name, kind, default=default, annotation=field.type))
        return Signature(sorted(parameters, key=lambda one: one.kind), return_annotation=None)


_SIGNATURE = _Signature()
