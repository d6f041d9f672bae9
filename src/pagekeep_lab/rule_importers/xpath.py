"""Translate XPath to CSS, where CSS can express it.

The HTML library also runs XPath, but sibling and ancestor axes take time quadratic in the page (5 s on half a megabyte)
and its functions accept regular expressions. So rules allow only CSS, and what CSS cannot express is reported."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

MAX_XPATH_CHARS: Final = 2_000
"""Longer ones would exceed the limit of a selector in CSS."""
MAX_DEPTH: Final = 20
"""Conditions within conditions: bounds the recursion of the parser."""
_QUOTED_CHARS: Final = 20

_TOKEN: Final = re.compile(
    r"""\s*(?:
      (?P<text>"[^"]*"|'[^']*')
    | (?P<number>\d{1,6})
    | (?P<axis>[a-z-]+::)
    | (?P<name>[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?)
    | (?P<sign>//|\.\.|!=|<=|>=|[/@\[\]()|,.*=<>])
    )""",
    re.VERBOSE,
)
_IDENT: Final = re.compile(r"-?[A-Za-z_][A-Za-z0-9_-]*")
_OWN_NAME: Final = re.compile(r"^:is\(([\w-]+)\)$")
_COMPARE: Final = {"contains": "*=", "starts-with": "^=", "ends-with": "$="}
_TEXT_FUNCTIONS: Final = frozenset({"string", "normalize-space"})


class NotCss(ValueError):
    """CSS cannot express this; the text is the reason."""


class Css(NamedTuple):
    """A selector, and the attribute to read if the XPath selects one instead of an element."""

    selector: str
    attr: str | None


def to_css(xpath: str) -> Css:
    """Return the selector that matches the same elements; raise `NotCss` when there is none."""
    parser = _Parser(_tokens(xpath))
    css = parser.union()
    if parser.has_more():
        raise NotCss(f"`{parser.peek()}` cannot be parsed")
    return css


def _tokens(xpath: str) -> list[tuple[str, str]]:
    if len(xpath) > MAX_XPATH_CHARS:
        raise NotCss(f"longer than {MAX_XPATH_CHARS} characters")
    tokens: list[tuple[str, str]] = []
    position, text = 0, xpath.strip()
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None or token.lastgroup is None:
            raise NotCss(f"`{text[position : position + _QUOTED_CHARS]}` cannot be parsed")
        tokens.append((token.lastgroup, token[token.lastgroup]))
        position = token.end()
    return tokens


def quote(text: str) -> str:
    """Return the text as a CSS string."""
    if any(ord(char) < 32 or char == "\\" for char in text):
        raise NotCss("contains control characters")
    return '"' + text.replace('"', '\\"') + '"'


@dataclass(slots=True)
class _Step:
    """One element of the path: the combinator before it, its tag and its conditions."""

    before: str
    tag: str
    conditions: str = ""

    def css(self) -> str:
        return (self.tag if self.tag != "*" or not self.conditions else "") + self.conditions


class _Parser:
    """A recursive descent parser with one token of lookahead."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0

    def has_more(self) -> bool:
        return self.at < len(self.tokens)

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[self.at + ahead][1] if self.at + ahead < len(self.tokens) else ""

    def kind(self) -> str:
        return self.tokens[self.at][0] if self.has_more() else ""

    def take(self) -> str:
        if not self.has_more():
            raise NotCss("it ends too early")
        self.at += 1
        return self.tokens[self.at - 1][1]

    def accept(self, sign: str) -> bool:
        if self.kind() in ("sign", "name", "axis") and self.peek() == sign:
            self.at += 1
            return True
        return False

    def expect(self, *signs: str) -> None:
        for sign in signs:
            if not self.accept(sign):
                raise NotCss(f"`{sign}` is missing")

    def union(self) -> Css:
        parts = [self.path()]
        while self.accept("|"):
            parts.append(self.path())
        attrs = {part.attr for part in parts}
        if len(attrs) > 1:
            raise NotCss("selects different attributes at once")
        return Css(", ".join(part.selector for part in parts), attrs.pop())

    def path(self) -> Css:
        """Parse a path from anywhere in the page; `string(...)` around it changes nothing, as rules read the text anyway."""
        if self.kind() == "name" and self.peek(1) == "(":
            return self._wrapped_path()
        if self.peek() == "(":
            raise NotCss("counts elements of the whole page")
        before = self._separator() or ""
        steps: list[_Step] = []
        while True:
            if self.accept("@"):
                return self._attribute(steps, before)
            if self.accept("text"):
                self.expect("(", ")")
                break
            self._step(steps, before)
            if (separator := self._separator()) is None:
                break
            before = separator
        return Css(_join(steps), None)

    def _wrapped_path(self) -> Css:
        name = self.take()
        if name not in _TEXT_FUNCTIONS:
            raise NotCss(f"`{name}()` is not supported around a path")
        self.expect("(")
        css = self.path()
        self.expect(")")
        return css

    def _separator(self) -> str | None:
        self.accept(".")
        if self.accept("//"):
            return " "
        return " > " if self.accept("/") else None

    def _attribute(self, steps: list[_Step], before: str) -> Css:
        name = self._attribute_name()
        if not steps:
            return Css(f"[{name}]", name)
        if before == " ":
            steps.append(_Step(" ", "*"))
        steps[-1].conditions += f"[{name}]"
        return Css(_join(steps), name)

    def _attribute_name(self) -> str:
        if self.kind() != "name" or ":" in self.peek():
            raise NotCss("matches attributes of any name" if self.peek() == "*" else "not a plain attribute name")
        return self.take()

    def _step(self, steps: list[_Step], before: str) -> None:
        if self.accept(".."):
            self._up(steps, "*", " > ")
            return
        axis = self.take().removesuffix("::") if self.kind() == "axis" else "child"
        tag = self._tag()
        if axis in ("parent", "ancestor"):
            self._up(steps, tag, " > " if axis == "parent" else " ")
        elif axis == "following-sibling":
            steps.append(_Step(" ~ ", tag))
        elif axis in ("child", "descendant", "descendant-or-self"):
            steps.append(_Step(" " if axis != "child" and steps else before, tag))
        elif axis == "attribute":
            raise NotCss("use `@` instead of the attribute axis")
        else:
            raise NotCss(f"CSS has no axis `{axis}`")
        self._predicates(steps[-1])

    def _up(self, steps: list[_Step], tag: str, between: str) -> None:
        """Select the parent or ancestors of what the path selects so far."""
        if not steps:
            raise NotCss("the page has no parent")
        inner = _join(steps)
        steps[:] = [_Step("", tag, f":has({'> ' if between == ' > ' else ''}{inner})")]

    def _tag(self) -> str:
        if self.accept("*"):
            return "*"
        if self.kind() != "name" or not _IDENT.fullmatch(self.peek()):
            raise NotCss(f"`{self.peek() or 'the end'}` is not an element")
        name = self.take()
        if self.accept("("):
            if name != "node":
                raise NotCss(f"`{name}()` is not an element")
            self.expect(")")
            return "*"
        return name.lower()

    def _predicates(self, step: _Step) -> None:
        while self.accept("["):
            if position := self._position():
                _add_position(step, *position)
            else:
                step.conditions += self._or_expression()
            self.expect("]")

    def _position(self) -> tuple[str, str] | None:
        """Parse a position among siblings as (`nth` or `nth-last`, formula)."""
        start = self.at
        if self.kind() == "number" and self.peek(1) == "]":
            return "nth", self.take()
        if self.accept("last"):
            self.expect("(", ")")
            if self.peek() == "]":
                return "nth-last", "1"
        elif self.accept("position"):
            self.expect("(", ")")
            sign, number = self.take(), self.take()
            if number == "last":
                self.expect("(", ")")
                number = ""
            if self.peek() == "]" and (formula := _formula(sign, number)):
                return formula
            raise NotCss("calculates with positions")
        self.at = start
        return None

    def _or_expression(self) -> str:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise NotCss(f"nested more than {MAX_DEPTH} levels deep")
        parts = [self._and_expression()]
        while self.accept("or"):
            parts.append(self._and_expression())
        self.depth -= 1
        if len(parts) == 1:
            return parts[0]
        return f":is({', '.join(_OWN_NAME.sub(lambda name: name[1], part) for part in parts)})"

    def _and_expression(self) -> str:
        parts = [self._condition()]
        while self.accept("and"):
            parts.append(self._condition())
        return "".join(parts)

    def _condition(self) -> str:
        if self.accept("("):
            inner = self._or_expression()
            self.expect(")")
            return inner
        if self.accept("@"):
            return self._comparison(self._attribute_name())
        if self.peek(1) == "(" and self.kind() == "name":
            return self._function()
        return self._inner_path()

    def _comparison(self, name: str) -> str:
        if self.accept("="):
            return _equals(name, self._literal())
        if self.accept("!="):
            return f"[{name}]:not({_equals(name, self._literal())})"
        if self.peek() in ("<", ">", "<=", ">="):
            raise NotCss("compares numbers")
        return f"[{name}]"

    def _literal(self) -> str:
        if self.kind() == "number":
            return self.take()
        if self.kind() != "text":
            raise NotCss("compares with something other than a string")
        return self.take()[1:-1]

    def _function(self) -> str:
        name = self.take()
        self.expect("(")
        if name == "not":
            inner = f":not({self._or_expression()})"
        elif name in _COMPARE:
            inner = self._contains(name)
        else:
            raise NotCss(f"CSS has no `{name}()`")
        self.expect(")")
        return inner

    def _contains(self, name: str) -> str:
        """Parse `contains(@a, 'v')` and similar, or the usual idiom for one class of several."""
        if self.accept("concat"):
            attribute = self._padded_attribute()
            self.expect(",")
            word = self._literal()
            if name != "contains" or not (word.startswith(" ") and word.endswith(" ") and word.strip()):
                raise NotCss("compares with a concatenated string")
            return _has_word(attribute, word.strip())
        attribute = self._attribute_argument()
        self.expect(",")
        return f"[{attribute}{_COMPARE[name]}{quote(self._literal())}]"

    def _padded_attribute(self) -> str:
        self.expect("(")
        parts: list[str] = []
        attribute = ""
        while True:
            if self.kind() == "text":
                parts.append(self._literal())
            else:
                attribute = self._attribute_argument()
            if not self.accept(","):
                break
        self.expect(")")
        if parts != [" ", " "] or not attribute:
            raise NotCss("compares with a concatenated string")
        return attribute

    def _attribute_argument(self) -> str:
        if self.accept("normalize-space"):
            self.expect("(")
            name = self._attribute_argument()
            self.expect(")")
            return name
        if not self.accept("@"):
            raise NotCss("CSS cannot match text")
        return self._attribute_name()

    def _inner_path(self) -> str:
        """Parse a path inside this element, or its own name (`self::p`)."""
        if self.accept("self::"):
            return f":is({self._tag()})"
        if self.peek() == "." and self.peek(1) != "//":
            raise NotCss("CSS cannot match text")
        if self.peek() in ("//", "/"):
            raise NotCss("depends on another part of the page")
        if self.peek() in ("..", "parent::", "ancestor::"):
            raise NotCss("depends on the elements around")
        deep = self.peek() == "." or self.peek().startswith("descendant")
        inner = self.path()
        if self.peek() in ("=", "!=", "<", ">"):
            raise NotCss("CSS cannot match text")
        return f":has({'' if deep else '> '}{inner.selector})"


def _join(steps: list[_Step]) -> str:
    if not steps:
        raise NotCss("selects no element")
    return "".join((step.before if index else "") + step.css() for index, step in enumerate(steps))


def _equals(name: str, value: str) -> str:
    if name == "id" and _IDENT.fullmatch(value):
        return f"#{value}"
    return f"[{name}={quote(value)}]"


def _has_word(name: str, word: str) -> str:
    if name == "class" and _IDENT.fullmatch(word):
        return f".{word}"
    return f"[{name}~={quote(word)}]"


def _formula(sign: str, number: str) -> tuple[str, str] | None:
    if number == "":
        return ("nth-last", "1") if sign == "=" else None
    if not number.isdigit():
        return None
    count = int(number)
    formulas = {"=": f"{count}", "<": f"-n+{count - 1}", "<=": f"-n+{count}", ">": f"n+{count + 1}", ">=": f"n+{count}"}
    return ("nth", formulas[sign]) if sign in formulas and count > (sign == "<") else None


def _add_position(step: _Step, side: str, formula: str) -> None:
    """Add a position, which counts the elements that match so far: `of-type` if only the tag counts, else `of`."""
    if step.before == " ~ ":
        if (step.tag, step.conditions, side, formula) != ("*", "", "nth", "1"):
            raise NotCss("counts following siblings")
        step.before = " + "
    elif step.conditions:
        step.conditions = f":{side}-child({formula} of {step.css()})"
        step.tag = "*"
    else:
        step.conditions = f":{side}-{'child' if step.tag == '*' else 'of-type'}({formula})"
