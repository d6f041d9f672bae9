"""The kinds of value a key of a rule may have: each can read one and can describe itself as JSON Schema.

The loader reads and the schema describes by the same objects, so the two cannot drift apart.
"""

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
_LONGEST_TEXT: Final = 1_000


@dataclass(slots=True)
class Faults:
    """What is wrong with a file, gathered while it is read."""

    file: str
    found: list[RuleFault] = field(default_factory=list)
    rule: str = ""
    """The id of the rule that is being read."""

    def add(self, line: int, path: str, message: str, suggestion: str = "") -> None:
        """Note a fault."""
        self.found.append(RuleFault(self.file, line, path, message, suggestion, self.rule))


class Kind(Protocol):
    """Reads a value of its kind; what is wrong goes to the faults, and the answer is `None`."""

    def read(self, node: Outline, path: str, faults: Faults) -> Any: ...

    def schema(self) -> JsonSchema: ...


def is_null(node: Outline) -> bool:
    """Whether nothing was written."""
    return isinstance(node, Value) and not node.quoted and node.text in _NULLS


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The nearest known word, or all of them."""
    names = list(known)
    near = nearest(word, names)
    return f"Did you mean `{near}`?" if near else f"Known: {', '.join(names)}."


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant."""
    from difflib import get_close_matches  # only files with faults need it

    return next(iter(get_close_matches(word.lower()[:80], list(known), n=1)), None)


def _described(node: Outline) -> str:
    if isinstance(node, Items):
        return "a list"
    if isinstance(node, Entries):
        return "a mapping"
    return "empty" if is_null(node) else f"`{node.text[:60]}`"


def _wrong(node: Outline, path: str, faults: Faults, wanted: str, suggestion: str = "") -> Any:
    """Note that something else was wanted; the answer is `None`, for the reader to pass on."""
    if is_null(node) and not suggestion:
        suggestion = "A `#` begins a comment: a value with one goes in quotes."
    faults.add(node.line, path, f"This must be {wanted}, not {_described(node)}.", suggestion)
    return None


@dataclass(frozen=True, slots=True)
class Text:
    """A text."""

    longest: int = _LONGEST_TEXT
    empty_allowed: bool = False

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if not isinstance(node, Value) or is_null(node):
            return _wrong(node, path, faults, "a text")
        if not node.quoted and (_NUMBER.fullmatch(node.text) or node.text in _SWITCHES):
            return _wrong(node, path, faults, "a text", f'Write it in quotes: "{node.text}".')
        if len(node.text) > self.longest:
            return _wrong(node, path, faults, f"a text of at most {self.longest} characters")
        if not node.text.strip() and not self.empty_allowed:
            return _wrong(node, path, faults, "a text that says something")
        return node.text

    def schema(self) -> JsonSchema:
        shortest = {} if self.empty_allowed else {"minLength": 1}
        return {"type": "string", **shortest, "maxLength": self.longest}


@dataclass(frozen=True, slots=True)
class Pattern:
    """A text of a certain form."""

    form: re.Pattern[str]
    wanted: str
    refused: frozenset[str] = frozenset()
    why_refused: str = ""

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        text = Text().read(node, path, faults)
        if text is None:
            return None
        if not self.form.fullmatch(text):
            return _wrong(node, path, faults, self.wanted)
        if text in self.refused:
            return _wrong(node, path, faults, self.wanted, self.why_refused)
        return text

    def schema(self) -> JsonSchema:
        form: JsonSchema = {"type": "string", "pattern": f"^(?:{self.form.pattern})$"}
        return {**form, "not": {"enum": sorted(self.refused)}} if self.refused else form


@dataclass(frozen=True, slots=True)
class Selector:
    """A CSS selector."""

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        text = Text(selectors.MAX_LENGTH).read(node, path, faults)
        if text is None:
            return None
        try:
            selectors.check(text.strip())
        except selectors.SelectorFault as fault:
            faults.add(node.line, path, str(fault), fault.suggestion)
            return None
        return text.strip()

    def schema(self) -> JsonSchema:
        return {"type": "string", "minLength": 1, "maxLength": selectors.MAX_LENGTH}


@dataclass(frozen=True, slots=True)
class HostName:
    """A host, kept in its normal form."""

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if isinstance(node, Value) and not is_null(node):
            try:
                return hosts.normal(node.text)
            except hosts.HostError as error:
                faults.add(node.line, path, str(error), error.suggestion or "Write it as `example.com`.")
                return None
        return _wrong(node, path, faults, "a host such as `example.com`")

    def schema(self) -> JsonSchema:
        return {"type": "string", "pattern": r"^[^/?#@\s*]+$"}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if isinstance(node, Value) and node.text in self.words:
            return node.text
        word = node.text if isinstance(node, Value) else ""
        return _wrong(node, path, faults, f"one of {', '.join(self.words)}", did_you_mean(word, self.words))

    def schema(self) -> JsonSchema:
        return {"enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number within bounds."""

    least: int
    most: int

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if isinstance(node, Value) and not node.quoted and _WHOLE.fullmatch(node.text):
            number = int(node.text)
            if self.least <= number <= self.most:
                return number
        return _wrong(node, path, faults, f"a whole number from {self.least} to {self.most}")

    def schema(self) -> JsonSchema:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True, slots=True)
class Share:
    """A number from 0 to 1."""

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if isinstance(node, Value) and not node.quoted and _NUMBER.fullmatch(node.text):
            number = float(node.text)
            if 0 <= number <= 1:
                return number
        return _wrong(node, path, faults, "a number from 0 to 1")

    def schema(self) -> JsonSchema:
        return {"type": "number", "minimum": 0, "maximum": 1}


@dataclass(frozen=True, slots=True)
class Switch:
    """True or false."""

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if isinstance(node, Value) and not node.quoted and node.text in _SWITCHES:
            return _SWITCHES[node.text]
        meant = _YES_NO.get(node.text.lower(), "") if isinstance(node, Value) else ""
        return _wrong(node, path, faults, "true or false", f"Did you mean `{meant}`?" if meant else "")

    def schema(self) -> JsonSchema:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Nullable:
    """A value of another kind, or `null`, which says the same as leaving the key out."""

    kind: Kind

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        return None if is_null(node) else self.kind.read(node, path, faults)

    def schema(self) -> JsonSchema:
        return {"anyOf": [self.kind.schema(), {"type": "null"}]}


@dataclass(frozen=True, slots=True)
class WordOr:
    """One word that says something of its own, or a value of another kind.

    A word and not `null`: a selector that begins with `#` reads as `null` where its quotes were forgotten.
    """

    word: str
    kind: Kind

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if isinstance(node, Value) and node.text == self.word:
            return self.word
        return self.kind.read(node, path, faults)

    def schema(self) -> JsonSchema:
        return {"anyOf": [{"const": self.word}, self.kind.schema()]}


@dataclass(frozen=True, slots=True)
class OneOrMore:
    """One value or a list of them, read as a tuple."""

    kind: Kind
    most: int = 200

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if not isinstance(node, Items):
            one = self.kind.read(node, path, faults)
            return None if one is None else (one,)
        return read_items(node, path, faults, self.kind, self.most)

    def schema(self) -> JsonSchema:
        one = self.kind.schema()
        return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1, "maxItems": self.most}]}


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list, read as a tuple."""

    kind: Kind
    most: int = 200

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if not isinstance(node, Items):
            return _wrong(node, path, faults, "a list")
        return read_items(node, path, faults, self.kind, self.most)

    def schema(self) -> JsonSchema:
        return {"type": "array", "items": self.kind.schema(), "minItems": 1, "maxItems": self.most}


def read_items(node: Items, path: str, faults: Faults, kind: Kind, most: int) -> tuple[Any, ...] | None:
    """The items of a list that has some, but not more than `most`."""
    if not node.items:
        faults.add(node.line, path, "This list is empty.", "Leave the key out.")
        return None
    if len(node.items) > most:
        faults.add(node.line, path, f"This list has more than {most} items.")
        return None
    return tuple(kind.read(item, f"{path}[{index}]", faults) for index, item in enumerate(node.items))


@dataclass(frozen=True, slots=True)
class Key:
    """A row of the table: a key, what it may hold, and what it is for."""

    name: str
    kind: Kind
    help: str
    required: bool = False
    default: Any = None
    """Only told to people; the typed values have their own defaults."""

    def schema(self) -> JsonSchema:
        default = {} if self.default is None else {"default": self.default}
        return {**self.kind.schema(), "description": self.help, **default}


@dataclass(frozen=True, slots=True)
class Group:
    """A mapping of known keys, made into a typed value."""

    what: str
    keys: tuple[Key, ...]
    make: Callable[..., Any]
    needs_one_of: tuple[str, ...] = ()
    """At least one of these keys must be there."""

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        before = len(faults.found)
        values = self.read_values(node, path, faults)
        return None if len(faults.found) > before else self.make(**values)

    def read_values(self, node: Outline, path: str, faults: Faults) -> dict[str, Any]:
        """What the keys hold; those with faults are left out."""
        if not isinstance(node, Entries):
            _wrong(node, path, faults, f"a mapping: {self.what}")
            return {}
        known = {key.name: key for key in self.keys}
        values: dict[str, Any] = {}
        lines: dict[str, int] = {}
        misspelt: set[str | None] = set()
        for name, value in node.pairs:
            here = f"{path}.{name.text[:60]}" if path else name.text[:60]
            if name.text not in known:
                faults.add(name.line, here, "There is no such key here.", did_you_mean(name.text, known))
                misspelt.add(nearest(name.text, known))
            elif name.text in lines:
                faults.add(name.line, here, f"This key is there already, in line {lines[name.text]}.", "Remove one.")
            else:
                lines[name.text] = name.line
                values[name.text] = known[name.text].kind.read(value, here, faults)
        self._require(node, path, faults, {*lines, *misspelt})
        return {name: value for name, value in values.items() if value is not None}

    def _require(self, node: Entries, path: str, faults: Faults, there: set[str | None]) -> None:
        for key in self.keys:
            if key.required and key.name not in there:
                faults.add(node.line, path, f"The key `{key.name}` is missing.", f"It holds: {_lowered(key.help)}")
        if self.needs_one_of and not any(name in there for name in self.needs_one_of):
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


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


@dataclass(frozen=True, slots=True)
class Cases:
    """A mapping whose keys depend on what one of them, always there, says."""

    selector: str
    """The key that decides."""
    cases: Mapping[str, Group]

    def read(self, node: Outline, path: str, faults: Faults) -> Any:
        if not isinstance(node, Entries):
            return _wrong(node, path, faults, f"a mapping with the key `{self.selector}`")
        said = next((value for name, value in node.pairs if name.text == self.selector), None)
        if said is None:
            faults.add(node.line, path, f"The key `{self.selector}` is missing.", f"One of: {', '.join(self.cases)}.")
            return None
        word = Choice(tuple(self.cases)).read(said, f"{path}.{self.selector}", faults)
        return None if word is None else self.cases[word].read(node, path, faults)

    def schema(self) -> JsonSchema:
        return {"oneOf": [group.schema() for group in self.cases.values()]}
