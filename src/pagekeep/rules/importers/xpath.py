"""XPath said in CSS, where CSS can say it.

The HTML library runs XPath too, but sibling and ancestor axes cost it the square of the page (5 s on half a megabyte)
and its functions hold regexes, so none of it is allowed in rules: what cannot be said in CSS is told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

MAX_LENGTH: Final = 2_000
MAX_DEPTH: Final = 20

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
_WHOLE: Final = frozenset({"string", "normalize-space"})


class NotCss(ValueError):
    """This cannot be said in CSS; the text says why."""


class Css(NamedTuple):
    """A selector, and the attribute whose value is meant, if not the element."""

    selector: str
    attr: str | None


def to_css(xpath: str) -> Css:
    """The selector that finds the same elements; raises `NotCss`."""
    parser = _Parser(_tokens(xpath))
    found = parser.union()
    if parser.left():
        raise NotCss(f"`{parser.peek()}` is not understood")
    return found


def _tokens(xpath: str) -> list[tuple[str, str]]:
    if len(xpath) > MAX_LENGTH:
        raise NotCss("it is too long")
    tokens: list[tuple[str, str]] = []
    position, text = 0, xpath.strip()
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None or token.lastgroup is None:
            raise NotCss(f"`{text[position : position + 20]}` is not understood")
        tokens.append((token.lastgroup, token[token.lastgroup]))
        position = token.end()
    return tokens


def quoted(text: str) -> str:
    """The text as a CSS string."""
    if any(ord(char) < 32 or char == "\\" for char in text):
        raise NotCss("it looks for control characters")
    return '"' + text.replace('"', '\\"') + '"'


@dataclass(slots=True)
class _Step:
    """An element of the path: what goes before it, its tag, and what else must hold."""

    before: str
    tag: str
    conditions: str = ""

    def css(self) -> str:
        return (self.tag if self.tag != "*" or not self.conditions else "") + self.conditions


class _Parser:
    """Recursive descent, one token ahead."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0

    def left(self) -> bool:
        return self.at < len(self.tokens)

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[self.at + ahead][1] if self.at + ahead < len(self.tokens) else ""

    def kind(self) -> str:
        return self.tokens[self.at][0] if self.left() else ""

    def take(self) -> str:
        if not self.left():
            raise NotCss("it ends too early")
        self.at += 1
        return self.tokens[self.at - 1][1]

    def accept(self, sign: str) -> bool:
        if self.kind() in ("sign", "name", "axis") and self.peek() == sign:
            self.at += 1
            return True
        return False

    def expect(self, sign: str) -> None:
        if not self.accept(sign):
            raise NotCss(f"`{sign}` is missing")

    def union(self) -> Css:
        parts = [self.path()]
        while self.accept("|"):
            parts.append(self.path())
        attrs = {part.attr for part in parts}
        if len(attrs) > 1:
            raise NotCss("it asks for different attributes at once")
        return Css(", ".join(part.selector for part in parts), attrs.pop())

    def path(self) -> Css:
        """A path from anywhere in the page; `string(...)` around it means its text, as we read it anyway."""
        if self.kind() == "name" and self.peek(1) == "(":
            return self._wrapped_path()
        if self.peek() == "(":
            raise NotCss("it counts over the whole page")
        before = self._separator() or ""
        steps: list[_Step] = []
        while True:
            if self.accept("@"):
                return self._attribute(steps, before)
            if self.accept("text"):
                self.expect("(")
                self.expect(")")
                break
            self._step(steps, before)
            found = self._separator()
            if found is None:
                break
            before = found
        return Css(_joined(steps), None)

    def _wrapped_path(self) -> Css:
        name = self.take()
        if name not in _WHOLE:
            raise NotCss(f"`{name}()` works on text")
        self.expect("(")
        found = self.path()
        self.expect(")")
        return found

    def _separator(self) -> str | None:
        if self.accept("."):
            pass
        if self.accept("//"):
            return " "
        return " > " if self.accept("/") else None

    def _attribute(self, steps: list[_Step], before: str) -> Css:
        name = self._attribute_name()
        if not steps:
            return Css(f"[{name}]", name)
        last = steps[-1]
        if before == " ":
            steps.append(_Step(" ", "*"))
            last = steps[-1]
        last.conditions += f"[{name}]"
        return Css(_joined(steps), name)

    def _attribute_name(self) -> str:
        if self.kind() != "name" or ":" in self.peek():
            raise NotCss(
                "it asks for attributes of any name" if self.peek() == "*" else "the attribute has no plain name"
            )
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
            raise NotCss("write `@` for the attribute axis")
        else:
            raise NotCss(f"CSS does not know the axis `{axis}`")
        self._predicates(steps[-1])

    def _up(self, steps: list[_Step], tag: str, between: str) -> None:
        """What is around what was found so far."""
        if not steps:
            raise NotCss("there is nothing above the page")
        inner = _joined(steps)
        steps[:] = [_Step("", tag, f":has({'> ' if between == ' > ' else ''}{inner})")]

    def _tag(self) -> str:
        if self.accept("*"):
            return "*"
        if self.kind() != "name" or not _IDENT.fullmatch(self.peek()):
            raise NotCss(f"`{self.peek() or 'the end'}` is no element")
        name = self.take()
        if self.accept("("):
            if name != "node":
                raise NotCss(f"`{name}()` is no element")
            self.expect(")")
            return "*"
        return name.lower()

    def _predicates(self, step: _Step) -> None:
        while self.accept("["):
            if place := self._place():
                _put_at_place(step, *place)
            else:
                step.conditions += self._either()
            self.expect("]")

    def _place(self) -> tuple[str, str] | None:
        """A position among siblings as (`nth` or `nth-last`, formula)."""
        start = self.at
        if self.kind() == "number" and self.peek(1) == "]":
            return "nth", self.take()
        if self.accept("last"):
            self.expect("(")
            self.expect(")")
            if self.peek() == "]":
                return "nth-last", "1"
        elif self.accept("position"):
            self.expect("(")
            self.expect(")")
            sign, number = self.take(), self.take()
            if number == "last":
                self.expect("(")
                self.expect(")")
                number = ""
            if self.peek() == "]" and (formula := _formula(sign, number)):
                return formula
            raise NotCss("it calculates with positions")
        self.at = start
        return None

    def _either(self) -> str:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise NotCss("it is nested too deep")
        parts = [self._both()]
        while self.accept("or"):
            parts.append(self._both())
        self.depth -= 1
        if len(parts) == 1:
            return parts[0]
        return f":is({', '.join(_OWN_NAME.sub(lambda name: name[1], part) for part in parts)})"

    def _both(self) -> str:
        parts = [self._condition()]
        while self.accept("and"):
            parts.append(self._condition())
        return "".join(parts)

    def _condition(self) -> str:
        if self.accept("("):
            inner = self._either()
            self.expect(")")
            return inner
        if self.accept("@"):
            return self._compared(self._attribute_name())
        if self.peek(1) == "(" and self.kind() == "name":
            return self._function()
        return self._inner_path()

    def _compared(self, name: str) -> str:
        if self.accept("="):
            return _equal(name, self._literal())
        if self.accept("!="):
            return f"[{name}]:not({_equal(name, self._literal())})"
        if self.peek() in ("<", ">", "<=", ">="):
            raise NotCss("it compares numbers")
        return f"[{name}]"

    def _literal(self) -> str:
        if self.kind() == "number":
            return self.take()
        if self.kind() != "text":
            raise NotCss("it compares with something that is no text")
        return self.take()[1:-1]

    def _function(self) -> str:
        name = self.take()
        self.expect("(")
        if name == "not":
            inner = f":not({self._either()})"
        elif name in _COMPARE:
            inner = self._contains(name)
        else:
            raise NotCss(f"CSS knows no `{name}()`")
        self.expect(")")
        return inner

    def _contains(self, name: str) -> str:
        """`contains(@a, 'v')` and its like, or the usual way to ask for one class of several."""
        if self.accept("concat"):
            attribute = self._padded()
            self.expect(",")
            word = self._literal()
            if name != "contains" or not (word.startswith(" ") and word.endswith(" ") and word.strip()):
                raise NotCss("it compares with a text that is put together")
            return _word(attribute, word.strip())
        attribute = self._attribute_argument()
        self.expect(",")
        return f"[{attribute}{_COMPARE[name]}{quoted(self._literal())}]"

    def _padded(self) -> str:
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
            raise NotCss("it compares with a text that is put together")
        return attribute

    def _attribute_argument(self) -> str:
        if self.accept("normalize-space"):
            self.expect("(")
            name = self._attribute_argument()
            self.expect(")")
            return name
        if not self.accept("@"):
            raise NotCss("CSS cannot look at text")
        return self._attribute_name()

    def _inner_path(self) -> str:
        """Elements that must be in this one, or its own name (`self::p`)."""
        if self.accept("self::"):
            return f":is({self._tag()})"
        if self.peek() == "." and self.peek(1) != "//":
            raise NotCss("CSS cannot look at text")
        if self.peek() in ("//", "/"):
            raise NotCss("it asks about another part of the page")
        if self.peek() in ("..", "parent::", "ancestor::"):
            raise NotCss("it asks about what is around")
        deep = self.peek() == "." or self.peek().startswith("descendant")
        inner = self.path()
        if self.peek() in ("=", "!=", "<", ">"):
            raise NotCss("CSS cannot look at text")
        return f":has({'' if deep else '> '}{inner.selector})"


def _joined(steps: list[_Step]) -> str:
    if not steps:
        raise NotCss("it names no element")
    return "".join((step.before if index else "") + step.css() for index, step in enumerate(steps))


def _equal(name: str, value: str) -> str:
    if name == "id" and _IDENT.fullmatch(value):
        return f"#{value}"
    return f"[{name}={quoted(value)}]"


def _word(name: str, word: str) -> str:
    if name == "class" and _IDENT.fullmatch(word):
        return f".{word}"
    return f"[{name}~={quoted(word)}]"


def _formula(sign: str, number: str) -> tuple[str, str] | None:
    if number == "":
        return ("nth-last", "1") if sign == "=" else None
    if not number.isdigit():
        return None
    count = int(number)
    formulas = {"=": f"{count}", "<": f"-n+{count - 1}", "<=": f"-n+{count}", ">": f"n+{count + 1}", ">=": f"n+{count}"}
    return ("nth", formulas[sign]) if sign in formulas and count > (sign == "<") else None


def _put_at_place(step: _Step, side: str, formula: str) -> None:
    """The position counts those that fit so far: by tag alone CSS has a word for it, else `of` does."""
    if step.before == " ~ ":
        if (step.tag, step.conditions, side, formula) != ("*", "", "nth", "1"):
            raise NotCss("it counts what comes behind")
        step.before = " + "
    elif step.conditions:
        step.conditions = f":{side}-child({formula} of {step.css()})"
        step.tag = "*"
    else:
        step.conditions = f":{side}-{'child' if step.tag == '*' else 'of-type'}({formula})"
