"""Pages written to show what a rule does: run through the whole pipeline and held against what is expected.

A case is a folder `<rule id>--<what it shows>` with the page in `page.html` and the expectation in `expect.yaml`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pagekeep.errors import NotFound, PagekeepError, RuleError
from pagekeep.model import KINDS, Page
from pagekeep.pipeline import extract
from pagekeep.rules import Rulebook
from pagekeep.rules.faults import Faults
from pagekeep.rules.outline import OutlineError, outline
from pagekeep.rules.value_types import Choice, Group, Key, OneOrMore, Text

MAX_TEXT: Final = 5_000
_METADATA: Final = ("title", "author", "published", "modified", "description", "site_name", "canonical", "language")


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a case's page must give."""

    url: str | None = None
    rules: tuple[str, ...] = ()
    """Rules that must match; the one in the folder's name without any."""
    contains: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    kind: str | None = None
    metadata: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RuleCase:
    """One folder."""

    name: str
    folder: Path

    @property
    def rule(self) -> str:
        """The rule it is about."""
        return self.name.partition("--")[0]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a case: nothing wrong, or what was."""

    case: RuleCase
    wrong: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.wrong


def _expectation(**keys: Any) -> Expectation:
    metadata = tuple((name, keys.pop(name)) for name in _METADATA if name in keys)
    return Expectation(**keys, metadata=metadata)


_TEXTS: Final = OneOrMore(Text(MAX_TEXT))
EXPECT: Final = Group(
    "what the page must give",
    (
        Key("url", Text(), "The page's address."),
        Key("rules", _TEXTS, "Ids of rules that must match; the one in the folder's name without any."),
        Key("contains", _TEXTS, "Texts that must stand in the Markdown; white space does not count."),
        Key("lacks", _TEXTS, "Texts that must not."),
        Key("kind", Choice(KINDS), "The kind of page."),
        *(Key(name, Text(MAX_TEXT), f"The page's {name.replace('_', ' ')}.") for name in _METADATA),
    ),
    _expectation,
    ("contains", "lacks", "kind", *_METADATA),
)


def find(folder: Path) -> list[RuleCase]:
    """The cases of a folder, in the order of their names; `NotFound` when there are none."""
    cases = [RuleCase(path.name, path) for path in sorted(folder.glob("*--*")) if path.is_dir()]
    if not cases:
        raise NotFound(
            f"{folder} holds no cases.",
            suggestions=("A case is a folder `<rule id>--<name>` with `page.html` and `expect.yaml`.",),
        )
    return cases


def run(case: RuleCase, book: Rulebook) -> Outcome:
    """Read and run a case. Whatever is wrong with it is in the outcome."""
    try:
        expected = read_expectation(_bytes(case, "expect.yaml"))
        page = extract(_bytes(case, "page.html"), expected.url, rules=book)
    except RuleError as error:
        return Outcome(case, tuple(str(fault) for fault in error.faults))
    except PagekeepError as error:
        return Outcome(case, (error.message,))
    return Outcome(case, tuple(_differences(case, expected, page)))


def read_expectation(data: bytes) -> Expectation:
    """The expectation a file states; `RuleError` with all its faults."""
    faults = Faults("expect.yaml")
    found: Expectation | None = None
    try:
        tree = outline(data)
    except OutlineError as error:
        faults.add(error.line, "", error.message, error.suggestion)
    else:
        if tree is None:
            faults.add(1, "", "The file is empty.", "Say what the page must give, such as `contains: a sentence`.")
        else:
            found = EXPECT.read(tree, "", faults)
    if found is None:
        raise RuleError.of(tuple(faults.items))
    return found


def _bytes(case: RuleCase, name: str) -> bytes:
    try:
        return (case.folder / name).read_bytes()
    except OSError:
        raise NotFound(f"The file {name} cannot be read.") from None


def _differences(case: RuleCase, expected: Expectation, page: Page) -> Iterator[str]:
    matched = {match.id for match in page.trace.rules}
    for rule in expected.rules or (case.rule,):
        if rule not in matched:
            yield f"The rule `{rule}` did not match; matched: {', '.join(sorted(matched)) or 'none'}."
    text = _flat(page.markdown)
    yield from (f"Missing: {wanted}" for wanted in expected.contains if _flat(wanted) not in text)
    yield from (f"Still there: {unwanted}" for unwanted in expected.lacks if _flat(unwanted) in text)
    if expected.kind and page.kind != expected.kind:
        yield f"The kind is {page.kind}, not {expected.kind}."
    for name, value in expected.metadata:
        if getattr(page.metadata, name) != value:
            yield f"The {name} is {getattr(page.metadata, name)!r}, not {value!r}."


def _flat(text: str) -> str:
    return " ".join(text.split())
