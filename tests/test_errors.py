"""The error tree."""

from __future__ import annotations

import inspect
import json
import pickle

import pytest

from pagekeep import errors
from pagekeep.errors import FetchHttpError, NotFound, PagekeepError, TooLarge

TREE = [item for item in vars(errors).values() if inspect.isclass(item) and issubclass(item, PagekeepError)]


def make(kind: type[PagekeepError], message: str = "It did not work.") -> PagekeepError:
    return FetchHttpError(message, status=503) if kind is FetchHttpError else kind(message)


@pytest.mark.parametrize("kind", TREE)
def test_type_is_the_class_name(kind: type[PagekeepError]) -> None:
    assert make(kind).type == kind.__name__


@pytest.mark.parametrize("kind", TREE)
def test_json_shape_is_the_same_for_all(kind: type[PagekeepError]) -> None:
    answer = json.loads(json.dumps(make(kind).to_json()))
    assert list(answer) == ["success", "error"]
    assert answer["success"] is False
    assert list(answer["error"]) == ["type", "message", "suggestions"]
    assert answer["error"]["message"] == "It did not work."


@pytest.mark.parametrize("kind", TREE)
def test_docstring_draws_the_whole_tree(kind: type[PagekeepError]) -> None:
    lines = (errors.__doc__ or "").splitlines()
    drawn = next(line for line in lines if kind.__name__ in line.split())
    depth = len(kind.__mro__) - len(PagekeepError.__mro__)
    assert drawn.index(kind.__name__) == 4 + 4 * depth


def test_suggestions_of_the_class_stand_in_unless_given() -> None:
    assert TooLarge("Too big.").suggestions == TooLarge.default_suggestions != ()
    assert TooLarge("Too big.", suggestions=["Cut it."]).suggestions == ("Cut it.",)
    assert TooLarge("Too big.", suggestions=[]).suggestions == ()


def test_message_is_what_is_printed() -> None:
    assert str(NotFound("There is no file 'a.html'.")) == "There is no file 'a.html'."


def test_http_error_carries_the_status() -> None:
    assert FetchHttpError("The server said no.", status=403).status == 403


@pytest.mark.parametrize("kind", [kind for kind in TREE if kind is not FetchHttpError])
def test_error_survives_the_way_back_from_a_worker_process(kind: type[PagekeepError]) -> None:
    error = pickle.loads(pickle.dumps(kind("It did not work.", suggestions=["Try again."])))
    assert (type(error), error.message, error.suggestions) == (kind, "It did not work.", ("Try again.",))
