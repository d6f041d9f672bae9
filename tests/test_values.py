"""Quick data classes behave as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, is_dataclass, replace
from typing import Any

import pytest

from pagekeep import values
from pagekeep.model import page

OPTIONS: dict[str, bool] = {"frozen": True, "slots": True}


def define(dataclass: Callable[..., Any]) -> Any:
    @dataclass(**OPTIONS)
    class Value:
        """A value."""

        name: str
        size: int = 3
        tags: list[str] = field(default_factory=list)
        note: str = field(default="", repr=False, compare=False)

        @property
        def twice(self) -> int:
            return self.size * 2

    return Value


QUICK, PLAIN = define(values.dataclass), define(dataclasses.dataclass)


@values.dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 0

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x is negative")


@values.dataclass(frozen=True, slots=True)
class Place(Point):
    name: str = "somewhere"


@values.dataclass(frozen=True, slots=True)
class Nothing:
    """A value without fields."""


@pytest.mark.parametrize("arguments", [("a",), ("a", 4), ("a", 4, ["b"]), ("a", 4, ["b"], "c")])
def test_objects_have_the_same_fields_and_look_the_same(arguments: tuple[Any, ...]) -> None:
    quick, plain = QUICK(*arguments), PLAIN(*arguments)
    assert dataclasses.asdict(quick) == dataclasses.asdict(plain)
    assert repr(quick) == repr(plain)
    assert quick.twice == plain.twice


@pytest.mark.parametrize("made", [QUICK, PLAIN], ids=["quick", "plain"])
def test_wrong_arguments_are_refused(made: Any) -> None:
    for call in (made, lambda: made("a", colour="red"), lambda: made("a", 1, [], "", 5)):
        with pytest.raises(TypeError):
            call()


def test_default_lists_are_not_shared() -> None:
    assert QUICK("a").tags is not QUICK("a").tags


def test_objects_are_equal_by_class_and_compared_fields() -> None:
    assert QUICK("a") == QUICK("a", note="other")
    assert QUICK("a") != QUICK("b")
    assert QUICK("a") != PLAIN("a")
    assert Point(1) != Place(1)
    assert Nothing() == Nothing()


def test_objects_hash_by_their_fields() -> None:
    assert len({Point(1), Point(1), Point(2), Nothing(), Nothing()}) == 3
    with pytest.raises(TypeError):
        hash(QUICK("a"))  # a list cannot be hashed


def test_objects_cannot_be_changed() -> None:
    point = Point(1)
    for change in (lambda: setattr(point, "x", 2), lambda: setattr(point, "z", 2), lambda: delattr(point, "x")):
        with pytest.raises(FrozenInstanceError):
            change()
    assert not hasattr(point, "__dict__")


def test_replace_fields_and_matching_work() -> None:
    assert replace(Point(1), y=5) == Point(1, 5)
    assert [one.name for one in fields(Place)] == ["x", "y", "name"]
    assert is_dataclass(Point)
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_objects_are_checked_when_they_are_made() -> None:
    with pytest.raises(ValueError, match="negative"):
        Place(-1)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_objects_can_be_copied_and_pickled(again: Callable[[Any], Any]) -> None:
    for one in (Place(1, 2, "here"), Nothing(), page.Metadata(title="Kelp", keywords=("a",))):
        assert again(one) == one


def test_a_value_that_contains_itself_can_be_shown() -> None:
    value = QUICK("a")
    value.tags.append(value)
    assert repr(value).endswith("tags=[...])")


def test_other_data_classes_are_those_of_the_standard_library() -> None:
    @values.dataclass
    class Mutable:
        name: str

    one = Mutable("a")
    one.name = "b"
    assert one == Mutable("b")


def test_fields_that_are_not_plain_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Value\.late: a frozen class"):

        @values.dataclass(frozen=True, slots=True)
        class Value:
            late: int = field(init=False)
