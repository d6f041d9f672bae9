"""A run of inline content: everything collected until a block starts or ends."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Final, TypeAlias

from pagekeep.markdown.inline.emphasis import EM, ENDS, STARTS, STRIKE, STRONG, Sign, resolve
from pagekeep.markdown.inline.escape import (
    ATOM_END,
    ATOM_START,
    clean,
    code_span,
    escape,
    escape_dollars,
    escape_first,
    guard,
    guard_line,
    publish,
)
from pagekeep.model.clean_tree import CleanElement, CleanNode, text_of
from pagekeep.text import compile_lazily
from pagekeep.values import dataclass

Stack: TypeAlias = list[CleanNode | Sign]
"""What remains to be written, the next item last: elements, texts and signs."""

END: Final = Sign("")
"""On the stack: the end of a block."""
CARD_END: Final = Sign("")
"""On the stack: the end of a link around blocks."""

BLOCKS: Final = frozenset(
    """address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure
    footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol optgroup option p pre search
    section summary table tbody td tfoot th thead tr ul xmp""".split()
)
SKIPPED: Final = frozenset(
    """audio base canvas col colgroup head iframe input link map meta noembed noframes noscript object param script
    source style svg template textarea title track video wbr""".split()
)


@dataclass(frozen=True, slots=True)
class Inline:
    """What all runs of a page share."""

    actions: Mapping[str, Action]
    """The action for each inline element; for others only their content is written."""
    notes: Container[str] = frozenset()
    """Labels of the footnotes that have both a reference and a text, so that `[^1]` works."""
    cards: Container[CleanElement] = frozenset()
    """Links that contain blocks."""
    bracketed: Container[CleanElement] = frozenset()
    """Ruby texts that the page puts into parentheses itself."""


class Run:
    """Collects inline content; with `flat`, blocks inside are written as part of the line."""

    __slots__ = ("_opened", "active", "flat", "in_link", "inline", "parts", "raw")

    def __init__(self, inline: Inline, *, flat: bool = False, in_link: bool = False) -> None:
        self.inline = inline
        self.flat = flat
        self.in_link = in_link
        self.parts: list[str] = []
        self.active = {STRONG: 0, EM: 0, STRIKE: 0}
        self._opened: list[str] = []
        self.raw: list[str] = []

    def fill(self, stack: Stack) -> CleanElement | Sign | None:
        """Process the stack until a block starts (return it), one ends (return its sign) or nothing is left (None)."""
        raw, actions = self.raw, self.inline.actions
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                raw.append(item)
            elif isinstance(item, CleanElement):
                tag = item.tag
                action = actions.get(tag)
                if action is not None:
                    if tag == "a" and self.is_card(item):
                        return item
                    action(self, item, stack)
                elif tag not in BLOCKS:
                    if tag not in SKIPPED:
                        stack.extend(item.children[::-1])
                elif self.flat:
                    self._pass_through(item, stack)
                else:
                    return item
            elif item.mark:
                self._apply_sign(item.mark)
            else:
                return item
        return None

    def is_card(self, link: CleanElement) -> bool:
        """Return whether the link contains blocks that can stay blocks here."""
        return not self.flat and link in self.inline.cards

    def _apply_sign(self, mark: str) -> None:
        if mark in ENDS:
            self.open(mark)
        else:
            self.close(STARTS[mark])

    def _pass_through(self, node: CleanElement, stack: Stack) -> None:
        """Write a block within a line: its words, separated from the others."""
        if "math-block" in node.attr("class"):
            self.math(text_of(node))
            return
        self.raw.append(" • " if node.tag == "li" else " ")
        stack.append(" ")
        stack.extend(node.children[::-1])

    def text(self, text: str) -> None:
        """Add text that is not in the tree."""
        self.raw.append(text)

    def last_char(self) -> str:
        """Return the last character written so far."""
        for piece in reversed(self.raw):
            if piece:
                return piece[-1]
        return self.parts[-1][-1:] if self.parts else ""

    def open(self, mark: str) -> None:
        """Start bold, italic or struck-through text; nested in the same it changes nothing."""
        self.active[mark] += 1
        if self.active[mark] == 1:
            if self.raw:
                self._flush()
            self.parts.append(mark)
            self._opened.append(mark)

    def close(self, mark: str) -> None:
        """End what `open` started."""
        self.active[mark] -= 1
        if self.active[mark] == 0:
            if self.raw:
                self._flush()
            self.parts.append(ENDS[mark])
            self._opened.pop()

    def atom(self, markdown: str) -> None:
        """Add finished Markdown that nothing may be moved into or out of."""
        if self.raw:
            self._flush()
        self.parts.append(f"{ATOM_START}{markdown}{ATOM_END}")

    def code(self, text: str) -> None:
        """Add a code span, with spaces at its ends outside it."""
        text = clean(text)
        words = " ".join(text.split())
        if text[:1].isspace():
            self.raw.append(" ")
        if words:
            self.atom(code_span(words))
        if text[-1:].isspace():
            self.raw.append(" ")

    def math(self, tex: str) -> None:
        """Add TeX between dollar signs."""
        tex = escape_dollars(clean(" ".join(tex.split())).strip("$ "))
        if tex:
            self.atom(f"${tex}$")

    def line_break(self) -> None:
        """Add a line break, or a space where a line cannot be broken."""
        if self.flat:
            self.raw.append(" ")
        else:
            if self.raw:
                self._flush()
            self.parts.append("\n")

    def _flush(self) -> None:
        """Escape the text collected so far, of which there is some."""
        text = self.raw[0] if len(self.raw) == 1 else "".join(self.raw)
        self.raw.clear()
        if text.isprintable() and "  " not in text:
            words = text.strip(" ")
        else:
            words = " ".join(text.split())
            if not words.isprintable():
                text = clean(text)
                words = " ".join(text.split())
        if not words:
            if text:
                self.parts.append(" ")
            return
        escaped = escape(words, in_link=self.in_link) if self.parts else escape_first(words, in_link=self.in_link)
        if text[0].isspace():
            escaped = " " + escaped
        self.parts.append(escaped + " " if text[-1].isspace() else escaped)

    def take(self) -> str:
        """Return and clear the content, with marks and outer spaces; open emphasis continues in what follows."""
        if self.raw:
            self._flush()
        parts, opened = self.parts, self._opened
        if opened:
            parts.extend([ENDS[mark] for mark in reversed(opened)])
        taken = parts[0] if len(parts) == 1 else "".join(parts)
        parts[:] = opened
        return taken

    def paragraphs(self, wrap: Callable[[str], str] | None = None) -> list[str]:
        """Return the content as finished paragraphs, separated at two line breaks, each passed through `wrap`."""
        if not self.parts and not any(map(str.strip, self.raw)):  # at most the white space between two blocks
            self.raw.clear()
            return []
        taken = self.take()
        if "\n" not in taken:
            line = one_line(taken)
            return [guard_line(publish(wrap(line) if wrap else line))] if line else []
        lines = [one_line(part) for part in _split_paragraphs(taken)]
        return [guard(publish(wrap(line) if wrap else line)) for line in lines if line]


def only_text(nodes: Sequence[CleanNode | Sign]) -> str | None:
    """Return the words if the nodes are a single printable text; else `None`, and a run is needed."""
    if len(nodes) != 1:
        return None
    text = nodes[0]
    if not isinstance(text, str):
        return None
    if text.isprintable() and "  " not in text:
        return text.strip(" ")
    words = " ".join(text.split())
    return words if words.isprintable() else None


_SPACES: Final = compile_lazily(r"[ \n]*\n[ \n]*")
_PARAGRAPH: Final = compile_lazily(r" *\n *\n[ \n]*")


def one_line(taken: str) -> str:
    """Resolve emphasis and collapse spaces; single line breaks stay."""
    if STRONG in taken or EM in taken or STRIKE in taken:
        taken = resolve(taken)
    while "  " in taken:
        taken = taken.replace("  ", " ")
    return _SPACES.sub("\n", taken).strip() if "\n" in taken else taken.strip()


def _split_paragraphs(taken: str) -> list[str]:
    """Split at double line breaks, unless that would split emphasis."""
    parts = _PARAGRAPH.split(taken)
    if all(part.count(mark) == part.count(end) for part in parts for mark, end in ENDS.items()):
        return parts
    return [taken]


Action: TypeAlias = Callable[[Run, CleanElement, Stack], None]
