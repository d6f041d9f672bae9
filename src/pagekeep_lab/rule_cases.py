"""Test rules with pages written for them: run a page through the whole pipeline and compare the result.

A case is a folder `<rule id>--<name>` with the page in `page.html` and the expected result in `expect.yaml`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pagekeep.errors import NotFound, PagekeepError, RuleError
from pagekeep.model import KINDS, Page
from pagekeep.pipeline import extract
from pagekeep.rules import Rulebook
from pagekeep.rules.outline import OutlineError, outline
from pagekeep.rules.value_types import Choice, Faults, Group, Key, OneOrMore, Text

MAX_TEXT_CHARS: Final = 5_000
_METADATA: Final = ("title", "author", "published", "modified", "description", "site_name", "canonical", "language")


@dataclass(frozen=True, slots=True)
class Expectation:
    """The expected result of a case."""

    url: str | None = None
    rules: tuple[str, ...] = ()
    """Rules that must match; by default the one in the folder's name."""
    contains: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    kind: str | None = None
    metadata: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RuleCase:
    """The folder of a case."""

    name: str
    folder: Path

    @property
    def rule(self) -> str:
        """The id of the rule that the case tests."""
        return self.name.partition("--")[0]


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """The result of a case: what is wrong, or nothing."""

    case: RuleCase
    wrong: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.wrong


def _build_expectation(**keys: Any) -> Expectation:
    metadata = tuple((name, keys.pop(name)) for name in _METADATA if name in keys)
    return Expectation(**keys, metadata=metadata)


_TEXTS: Final = OneOrMore(Text(MAX_TEXT_CHARS))
EXPECT: Final = Group(
    "expected result",
    (
        Key("url", Text(), "The page's address."),
        Key("rules", _TEXTS, "Ids of rules that must match; by default the one in the folder's name."),
        Key("contains", _TEXTS, "Texts that the Markdown must contain; white space does not count."),
        Key("lacks", _TEXTS, "Texts that the Markdown must not contain."),
        Key("kind", Choice(KINDS), "The kind of page."),
        *(Key(name, Text(MAX_TEXT_CHARS), f"The page's {name.replace('_', ' ')}.") for name in _METADATA),
    ),
    _build_expectation,
    ("contains", "lacks", "kind", *_METADATA),
)


def find_cases(folder: Path) -> list[RuleCase]:
    """Return the cases of a folder in name order; raise `NotFound` when there are none."""
    cases = [RuleCase(path.name, path) for path in sorted(folder.glob("*--*")) if path.is_dir()]
    if not cases:
        raise NotFound(
            f"{folder} contains no cases.",
            suggestions=("A case is a folder `<rule id>--<name>` with `page.html` and `expect.yaml`.",),
        )
    return cases


def run_case(case: RuleCase, book: Rulebook) -> CaseOutcome:
    """Read and run a case; faults of its files are part of the outcome."""
    try:
        expected = read_expectation(_read_file(case, "expect.yaml"))
        page = extract(_read_file(case, "page.html"), expected.url, rules=book)
    except RuleError as error:
        return CaseOutcome(case, tuple(str(fault) for fault in error.faults))
    except PagekeepError as error:
        return CaseOutcome(case, (error.message,))
    return CaseOutcome(case, tuple(_differences(case, expected, page)))


def read_expectation(data: bytes) -> Expectation:
    """Return the expectation in a file; raise `RuleError` with all faults."""
    faults = Faults("expect.yaml")
    expectation: Expectation | None = None
    try:
        tree = outline(data)
    except OutlineError as error:
        faults.add(error.line, "", error.message, error.suggestion)
    else:
        if tree is None:
            faults.add(1, "", "The file is empty.", "Add what the result must have, such as `contains: a sentence`.")
        else:
            expectation = EXPECT.read(tree, "", faults)
    if expectation is None:
        raise RuleError.of(tuple(faults.items))
    return expectation


def _read_file(case: RuleCase, name: str) -> bytes:
    try:
        return (case.folder / name).read_bytes()
    except OSError:
        raise NotFound(f"The file {name} cannot be read.") from None


def _differences(case: RuleCase, expected: Expectation, page: Page) -> Iterator[str]:
    matched = {match.id for match in page.trace.rules}
    for rule in expected.rules or (case.rule,):
        if rule not in matched:
            yield f"The rule `{rule}` did not match; matched: {', '.join(sorted(matched)) or 'none'}."
    text = _one_line(page.markdown)
    yield from (f"Missing: {snippet}" for snippet in expected.contains if _one_line(snippet) not in text)
    yield from (f"Still there: {unwanted}" for unwanted in expected.lacks if _one_line(unwanted) in text)
    if expected.kind and page.kind != expected.kind:
        yield f"The kind is {page.kind}, not {expected.kind}."
    for name, value in expected.metadata:
        if getattr(page.metadata, name) != value:
            yield f"The {name} is {getattr(page.metadata, name)!r}, not {value!r}."


def _one_line(text: str) -> str:
    return " ".join(text.split())
