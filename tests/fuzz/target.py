"""What a fuzz target is, and where targets are found: every module in `targets/` has one, under the module's name."""

from __future__ import annotations

import importlib
import pkgutil
import traceback
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

TARGETS = Path(__file__).parent / "targets"
CASES = Path(__file__).parent / "cases"
"""Inputs that were findings once, in a folder per target; `test_fuzz.py` replays them."""
CORPUS = Path(__file__).parents[1] / "corpus"
"""Whole pages that we wrote, for seeds."""
PLANTED = ("planted_error", "planted_hang", "planted_memory")
"""Targets with faults on purpose, of `planted.py`; they are not among `names`."""
HOUSE = ("src/pagekeep/", "tests/fuzz/targets/", "tests/fuzz/planted.py")


@dataclass(frozen=True)
class Target:
    """A reader of foreign bytes, with inputs to begin with and what must hold for any other."""

    check: Callable[[bytes], None]
    """Reads an input. Any exception is a finding: the typed errors that a caller expects are caught inside."""
    seeds: Callable[[], Iterable[bytes]]
    """Inputs that we wrote."""
    max_bytes: int = 10_000
    seconds: int = 20
    """What one input may take; more is a finding, if it takes as much CPU when it is tried again."""
    megabytes: int = 2_000
    """What the process may take: as much as a worker's."""
    words: tuple[bytes, ...] = ()
    """What inputs are made of, for mutations that put whole words in."""
    opened: Callable[[], AbstractContextManager[dict[str, str]]] = lambda: nullcontext({})
    """What is there during all checks, such as databases, as variables of the environment. The process that searches is ended
    at any point, so another one opens and closes these."""


def names() -> list[str]:
    """Return the names of all targets."""
    return sorted(module.name for module in pkgutil.iter_modules([str(TARGETS)]))


def load(name: str) -> Target:
    """Return a target; its module, with the code under test, is imported now."""
    target: Target
    if name in PLANTED:
        target = importlib.import_module("tests.fuzz.planted").TARGETS[name]
    else:
        target = importlib.import_module(f"tests.fuzz.targets.{name}").TARGET
    return target


def signature(error: BaseException) -> str:
    """Return what makes one fault differ from another: the type of the error and the innermost place in code of ours."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if any(part in frame.filename.replace("\\", "/") for part in HOUSE)
    ]
    last = frames[-1] if frames else None
    place = f"{Path(last.filename).name}:{last.name}:{last.lineno}" if last else "?"
    name = f"Broken ({error.kind})" if isinstance(error, Broken) else type(error).__name__
    return f"{name} at {place}"


class Broken(AssertionError):
    """A property that does not hold; `kind` separates findings of one check."""

    def __init__(self, kind: str, what: object = "") -> None:
        super().__init__(f"{kind}: {what}")
        self.kind = kind


def expect(holds: object, kind: str, what: object = "") -> None:
    """Raise `Broken` when a property does not hold."""
    if not holds:
        raise Broken(kind, what)


def unescape(text: bytes) -> str:
    """Return an input as text: what is not UTF-8 becomes lone surrogates, which texts in JSON can have too."""
    return text.decode("utf-8", "surrogateescape")
