"""The types of value that a key of a rule may have: each reads a value and describes itself as JSON Schema.

The loader and the published schema use the same objects, so they cannot disagree. What is wrong with a rule file is
collected here, with suggestions for misspelt words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from pagekeep.model import RuleFault
from pagekeep.rules import hosts, selectors
from pagekeep.rules.outline import Entries, Items, Outline, Value

JsonSchema = dict[str, Any]

_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,15}")
_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})")
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_SWITCHES: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_YES_NO: Final = {"yes": "true", "on": "true", "no": "false", "off": "false"}
MAX_TEXT_CHARS: Final = 1_000
"""Far above any text in a real rule: it only bounds what a hostile file can make the matcher search for."""
MAX_ITEMS: Final = 200
"""Items in one list of a rule; the longest list in the shipped rules has 36."""
_QUOTED_CHARS: Final = 60
"""Characters of a wrong value that a message quotes."""


class ValueType(Protocol):
    """Reads one type of value: `read` adds what is wrong to the faults and then returns `None`."""

    def read(self, node: Outline, path: str, faults: Faults) -> Any: ...

    def schema(self) -> JsonSchema: ...


def is_null(node: Outline) -> bool:
    """Return whether the value is empty or `null`."""
    return isinstance(node, Value) and not node.quoted and node.text in _NULLS


def _describe(node: Outline) -> str:
    if isinstance(node, Items):
        return "a list"
    if isinstance(node, Entries):
        return "a mapping"
    return "nothing" if is_null(node) else f"`{node.text[:_QUOTED_CHARS]}`"


def _refuse(node: Outline, path: str, faults: Faults, expected: str, suggestion: str = "") -> Any:
    """Add the fault that another value was expected, and return `None` for the caller to pass on."""
    if is_null(node) and not suggestion:
        suggestion = "A `#` starts a comment: put a value that contains one in quotes."
    faults.add(node.line, path, f"Expected {expected}, got {_describe(node)}.", suggestion)
    return None


@dataclass(frozen=True, slots=True)
class Text:
    """A string."""

    max_chars: int = MAX_TEXT_CHARS
    empty_allowed: bool = False

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if not isinstance(node, Value) or is_null(node):
            return _refuse(node, path, faults, "a string")
        if not node.quoted and (_NUMBER.fullmatch(node.text) or node.text in _SWITCHES):
            return _refuse(node, path, faults, "a string", f'Put it in quotes: "{node.text}".')
        if len(node.text) > self.max_chars:
            return _refuse(node, path, faults, f"a string of at most {self.max_chars} characters")
        if not node.text.strip() and not self.empty_allowed:
            return _refuse(node, path, faults, "a string that is not blank")
        return node.text

    def schema(self) -> JsonSchema:
        min_length = {} if self.empty_allowed else {"minLength": 1}
        return {"type": "string", **min_length, "maxLength": self.max_chars}


@dataclass(frozen=True, slots=True)
class Pattern:
    """A string that matches a regular expression."""

    pattern: re.Pattern[str]
    expected: str
    refused: frozenset[str] = frozenset()
    reason: str = ""

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        text = Text().read(node, path, faults)
        if text is None:
            return None
        if not self.pattern.fullmatch(text):
            return _refuse(node, path, faults, self.expected)
        if text in self.refused:
            return _refuse(node, path, faults, self.expected, self.reason)
        return text

    def schema(self) -> JsonSchema:
        schema: JsonSchema = {"type": "string", "pattern": f"^(?:{self.pattern.pattern})$"}
        return {**schema, "not": {"enum": sorted(self.refused)}} if self.refused else schema


@dataclass(frozen=True, slots=True)
class Selector:
    """A CSS selector."""

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        text = Text(selectors.MAX_SELECTOR_CHARS).read(node, path, faults)
        if text is None:
            return None
        try:
            selectors.check(text.strip())
        except selectors.SelectorFault as fault:
            faults.add(node.line, path, str(fault), fault.suggestion)
            return None
        return text.strip()

    def schema(self) -> JsonSchema:
        return {"type": "string", "minLength": 1, "maxLength": selectors.MAX_SELECTOR_CHARS}


@dataclass(frozen=True, slots=True)
class HostName:
    """A host name, normalised."""

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if isinstance(node, Value) and not is_null(node):
            try:
                return hosts.normalise(node.text)
            except hosts.HostError as error:
                faults.add(node.line, path, str(error), error.suggestion or "Write it as `example.com`.")
                return None
        return _refuse(node, path, faults, "a host such as `example.com`")

    def schema(self) -> JsonSchema:
        return {"type": "string", "pattern": r"^[^/?#@\s*]+$"}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a fixed set of words."""

    words: tuple[str, ...]

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if isinstance(node, Value) and node.text in self.words:
            return node.text
        word = node.text if isinstance(node, Value) else ""
        return _refuse(node, path, faults, f"one of {', '.join(self.words)}", did_you_mean(word, self.words))

    def schema(self) -> JsonSchema:
        return {"enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class Whole:
    """An integer within bounds."""

    minimum: int
    maximum: int

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if isinstance(node, Value) and not node.quoted and _WHOLE.fullmatch(node.text):
            number = int(node.text)
            if self.minimum <= number <= self.maximum:
                return number
        return _refuse(node, path, faults, f"a whole number from {self.minimum} to {self.maximum}")

    def schema(self) -> JsonSchema:
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}


@dataclass(frozen=True, slots=True)
class Share:
    """A number from 0 to 1."""

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if isinstance(node, Value) and not node.quoted and _NUMBER.fullmatch(node.text):
            number = float(node.text)
            if 0 <= number <= 1:
                return number
        return _refuse(node, path, faults, "a number from 0 to 1")

    def schema(self) -> JsonSchema:
        return {"type": "number", "minimum": 0, "maximum": 1}


@dataclass(frozen=True, slots=True)
class Switch:
    """True or false."""

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if isinstance(node, Value) and not node.quoted and node.text in _SWITCHES:
            return _SWITCHES[node.text]
        intended = _YES_NO.get(node.text.lower(), "") if isinstance(node, Value) else ""
        return _refuse(node, path, faults, "true or false", f"Did you mean `{intended}`?" if intended else "")

    def schema(self) -> JsonSchema:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Nullable:
    """A value of another type, or `null`, which means the same as leaving out the key."""

    type: ValueType

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        return None if is_null(node) else self.type.read(node, path, faults)

    def schema(self) -> JsonSchema:
        return {"anyOf": [self.type.schema(), {"type": "null"}]}


@dataclass(frozen=True, slots=True)
class WordOr:
    """One special word, or a value of another type.

    A word rather than `null`: an unquoted selector that starts with `#` is a comment, so it reads as `null`.
    """

    word: str
    type: ValueType

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if isinstance(node, Value) and node.text == self.word:
            return self.word
        return self.type.read(node, path, faults)

    def schema(self) -> JsonSchema:
        return {"anyOf": [{"const": self.word}, self.type.schema()]}


@dataclass(frozen=True, slots=True)
class OneOrMore:
    """One value or a list of values, read as a tuple."""

    type: ValueType
    max_items: int = MAX_ITEMS

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if not isinstance(node, Items):
            one = self.type.read(node, path, faults)
            return None if one is None else (one,)
        return _read_items(node, path, faults, self.type, self.max_items)

    def schema(self) -> JsonSchema:
        one = self.type.schema()
        return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1, "maxItems": self.max_items}]}


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list, read as a tuple."""

    type: ValueType
    max_items: int = MAX_ITEMS

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if not isinstance(node, Items):
            return _refuse(node, path, faults, "a list")
        return _read_items(node, path, faults, self.type, self.max_items)

    def schema(self) -> JsonSchema:
        return {"type": "array", "items": self.type.schema(), "minItems": 1, "maxItems": self.max_items}


def _read_items(node: Items, path: str, faults: Faults, item_type: ValueType, max_items: int) -> tuple[Any, ...] | None:
    """Return the items of a list of 1 to `max_items` items."""
    if not node.items:
        faults.add(node.line, path, "This list is empty.", "Remove the key, or add an item.")
        return None
    if len(node.items) > max_items:
        faults.add(node.line, path, f"This list has more than {max_items} items.", "Split the rule in two.")
        return None
    return tuple(item_type.read(item, f"{path}[{index}]", faults) for index, item in enumerate(node.items))


@dataclass(frozen=True, slots=True)
class Key:
    """One row of the schema: a key, the type of its value, and its help text."""

    name: str
    type: ValueType
    help: str
    required: bool = False
    default: Any = None
    """For the documentation only; the typed values have their own defaults."""

    def schema(self) -> JsonSchema:
        default = {} if self.default is None else {"default": self.default}
        return {**self.type.schema(), "description": self.help, **default}


@dataclass(frozen=True, slots=True)
class Group:
    """A mapping with known keys, read as a typed value."""

    what: str
    keys: tuple[Key, ...]
    make: Callable[..., Any]
    needs_one_of: tuple[str, ...] = ()
    """At least one of these keys is required."""

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        before = len(faults.items)
        values = self.read_values(node, path, faults)
        return None if len(faults.items) > before else self.make(**values)

    def read_values(self, node: Outline, path: str, faults: Faults) -> dict[str, Any]:
        """Return the values by key, without those that have faults."""
        if not isinstance(node, Entries):
            _refuse(node, path, faults, f"a mapping ({self.what})")
            return {}
        known = {key.name: key for key in self.keys}
        values: dict[str, Any] = {}
        lines: dict[str, int] = {}
        misspelt: set[str | None] = set()
        for name, value in node.pairs:
            here = f"{path}.{name.text[:_QUOTED_CHARS]}" if path else name.text[:_QUOTED_CHARS]
            if name.text not in known:
                faults.add(name.line, here, "Unknown key.", did_you_mean(name.text, known))
                misspelt.add(nearest(name.text, known))
            elif name.text in lines:
                faults.add(name.line, here, f"Duplicate key: already set in line {lines[name.text]}.", "Remove one.")
            else:
                lines[name.text] = name.line
                values[name.text] = known[name.text].type.read(value, here, faults)
        self._require(node, path, faults, {*lines, *misspelt})
        return {name: value for name, value in values.items() if value is not None}

    def _require(self, node: Entries, path: str, faults: Faults, present: set[str | None]) -> None:
        for key in self.keys:
            if key.required and key.name not in present:
                faults.add(node.line, path, f"The key `{key.name}` is missing.", f"Its value: {_lower_first(key.help)}")
        if self.needs_one_of and not any(name in present for name in self.needs_one_of):
            faults.add(node.line, path, f"{self.what.capitalize()} needs one of: {', '.join(self.needs_one_of)}.")

    def schema(self) -> JsonSchema:
        required = [key.name for key in self.keys if key.required]
        one_of = {"anyOf": [{"required": [name]} for name in self.needs_one_of]} if self.needs_one_of else {}
        return {
            "type": "object",
            "additionalProperties": False,
            "properties": {key.name: key.schema() for key in self.keys},
            **({"required": required} if required else {}),
            **one_of,
        }


def _lower_first(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


@dataclass(frozen=True, slots=True)
class Cases:
    """A mapping whose keys depend on the value of one required key."""

    key: str
    """The key that decides which case applies."""
    cases: Mapping[str, Group]

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if not isinstance(node, Entries):
            return _refuse(node, path, faults, f"a mapping with the key `{self.key}`")
        case = next((value for name, value in node.pairs if name.text == self.key), None)
        if case is None:
            faults.add(
                node.line, path, f"The key `{self.key}` is missing.", f"Set it to one of: {', '.join(self.cases)}."
            )
            return None
        word = Choice(tuple(self.cases)).read(case, f"{path}.{self.key}", faults)
        return None if word is None else self.cases[word].read(node, path, faults)

    def schema(self) -> JsonSchema:
        return {"oneOf": [group.schema() for group in self.cases.values()]}


_MAX_WORD_CHARS: Final = 80
"""Characters of a misspelt word that are compared: comparing takes time quadratic in its length."""


@dataclass(slots=True)
class Faults:
    """Collects everything that is wrong with a file while it is read."""

    file: str
    items: list[RuleFault] = field(default_factory=list)
    rule: str = ""
    """The id of the rule being read."""

    def add(self, line: int, path: str, message: str, suggestion: str = "") -> None:
        """Record a fault of the current rule."""
        self.items.append(RuleFault(self.file, line, path, message, suggestion, self.rule))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a suggestion: the nearest known word, or all known words."""
    names = list(known)
    near = nearest(word, names)
    return f"Did you mean `{near}`?" if near else f"Known: {', '.join(names)}."


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word nearest to a misspelt one."""
    from difflib import get_close_matches  # imported late: only files with faults need it

    return next(iter(get_close_matches(word.lower()[:_MAX_WORD_CHARS], list(known), n=1)), None)
