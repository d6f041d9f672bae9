"""The error tree."""

from __future__ import annotations

import ast
import inspect
import json
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

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


def test_suggestions_of_the_class_are_used_unless_given() -> None:
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


SOURCE = Path(errors.__file__).parent
ROOMS = ("capture", "extraction", "fetch", "library", "present", "rules", "store", "workers")
OF_A_DOOR = re.compile(
    r"--(?!single-file|state|what-can-be)[a-z]"
    r"|pagekeep (?!doctor|repair|library install|user list|backup|verify|reparse)[a-z]+"
)
"""Options and commands of the command line; but for those that only an owner can run, wherever the error shows."""


def suggested(path: Path) -> Iterator[str]:
    """Every text in a file that is suggested to people."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.keyword) and node.arg == "suggestions":
            yield from (
                text.value for text in ast.walk(node) if isinstance(text, ast.Constant) and isinstance(text.value, str)
            )
        elif isinstance(node, ast.AnnAssign) and "SUGGESTION" in ast.unparse(node.target):
            yield ast.unparse(node.value) if node.value else ""


def test_suggestions_below_the_doors_are_right_at_every_door() -> None:
    files = [path for room in ROOMS for path in sorted((SOURCE / room).rglob("*.py"))]
    texts = [(path.name, text) for path in files for text in suggested(path)]
    assert len(texts) > 50
    assert [(name, text) for name, text in texts if OF_A_DOOR.search(text)] == []
