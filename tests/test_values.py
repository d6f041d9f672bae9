"""Quick data classes behave as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, is_dataclass, replace
from typing import Any, ClassVar

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
    made = define(values.dataclass)
    for _ in range(30):  # the first few are made in another way
        quick, plain = made(*arguments), PLAIN(*arguments)
        assert dataclasses.asdict(quick) == dataclasses.asdict(plain)
        assert repr(quick) == repr(plain)
        assert quick.twice == plain.twice


@pytest.mark.parametrize("made", [define(values.dataclass), PLAIN], ids=["quick", "plain"])
def test_wrong_arguments_are_refused(made: Any) -> None:
    for call in (made, lambda: made("a", colour="red"), lambda: made("a", 1, [], "", 5), lambda: made("a", name="b")):
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


def define_changing(dataclass: Callable[..., Any], **options: bool) -> Any:
    @dataclass(**options)
    class Changing:
        name: str
        kind: ClassVar[str] = "a kind"
        size: int = field(kw_only=True, default=1)
        done: list[str] = field(init=False, default_factory=list)
        late: str = field(init=False, repr=False, compare=False)
        note: str = field(init=False, default="none")

        def __post_init__(self) -> None:
            object.__setattr__(self, "late", self.name.upper())

    return Changing


@pytest.mark.parametrize("options", [{}, {"slots": True}, {"frozen": True}, {"frozen": True, "slots": True}], ids=str)
def test_every_combination_of_options_works(options: dict[str, bool]) -> None:
    quick, plain = (define_changing(way, **options) for way in (values.dataclass, dataclasses.dataclass))
    for made in (quick, plain):
        for _ in range(30):
            one = made("a", size=2)
        assert (one.name, one.size, one.done, one.late, one.note, one.kind) == ("a", 2, [], "A", "none", "a kind")
        assert one == made("a", size=2)
        assert one != made("a")
        assert repr(one).endswith("Changing(name='a', size=2, done=[], note='none')")
        assert hasattr(one, "__dict__") != options.get("slots", False)
        assert made.__match_args__ == ("name",)
        assert (made.__hash__ is None) != options.get("frozen", False)
        assert list(inspect.signature(made).parameters) == ["name", "size"]
        with pytest.raises(TypeError):
            made("a", 2)
        if options.get("frozen"):
            with pytest.raises(FrozenInstanceError):
                one.name = "b"
        else:
            one.name = "b"
            assert one != made("a", size=2)


def test_other_options_are_those_of_the_standard_library() -> None:
    made = define_changing(values.dataclass, eq=False)
    assert made("a") != made("a")


def test_signature_of_a_class_names_types_and_defaults() -> None:
    assert str(inspect.signature(Place)) == "(x: 'int', y: 'int' = 0, name: 'str' = 'somewhere') -> None"


def test_libraries_define_their_classes_quickly_only_in_the_context() -> None:
    with values.quick_definitions():
        assert dataclasses.dataclass is values.dataclass
    assert dataclasses.dataclass is not values.dataclass
    assert define_changing(dataclasses.dataclass)("a").name == "a"
