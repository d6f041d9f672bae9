"""The core of the Markdown writer: walks the tree, splits it into blocks and passes each to its handler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from pagekeep.markdown.inline.emphasis import STRONG, Sign
from pagekeep.markdown.inline.escape import escape_first, guard_line, has_special, publish
from pagekeep.markdown.inline.links import make_link
from pagekeep.markdown.inline.run import BLOCKS, CARD_END, END, Inline, Run, Stack, one_line, only_text
from pagekeep.model.clean_tree import CleanElement, CleanNode
from pagekeep.text import compile_lazily

MAX_NESTING: Final = 9
"""Lists and quotes nested deeper are written at this depth: CommonMark presets stop at 20 levels of tokens (two
for each list), and every level adds a prefix to every line of a hostile page."""


class Block(NamedTuple):
    """A finished block: Markdown lines without a newline at the end."""

    kind: str
    """`p heading list ol code quote table math hr`; an `ol` is a list that cannot follow a paragraph without a gap."""
    text: str
    mark: str = ""
    """The bullet, or the sign after the number, so that a list right after another can use a different one."""


Handler: TypeAlias = "Callable[[Writer, CleanElement, list[Block], Stack], None]"


class Writer:
    """Writes one page. Recursion is bounded by `MAX_NESTING`; everything else uses an explicit stack."""

    def __init__(self, handlers: Mapping[str, Handler], inline: Inline) -> None:
        self.handlers = handlers
        self.inline = inline
        self.footnotes: dict[str, str] = {}
        """Finished definitions by label, for the end of the page."""
        self.card: CleanElement | None = None
        """The link around the blocks being written."""
        self._depth = 0

    @property
    def is_deep(self) -> bool:
        """Return whether another list or quote would be nested too deep."""
        return self._depth >= MAX_NESTING

    def nested(self, nodes: Sequence[CleanNode]) -> list[Block]:
        """Return the blocks of a container such as a list item or a quote."""
        if (words := only_text(nodes)) is not None:
            return [Block("p", write_words(words))] if words else []
        card, self.card = self.card, None
        self._depth += 1
        blocks = self.blocks(nodes)
        self._depth -= 1
        self.card = card
        return blocks

    def blocks(self, nodes: Sequence[CleanNode]) -> list[Block]:
        """Return the blocks of these nodes; loose text becomes paragraphs."""
        out: list[Block] = []
        run = Run(self.inline)
        stack: Stack = list(nodes[::-1])
        while stack:
            item: CleanNode | Sign | None = stack[-1]
            if isinstance(item, CleanElement) and item.tag in BLOCKS:
                stack.pop()  # a block right after another, as most are
            else:
                item = run.fill(stack)
                if run.parts or run.raw:
                    for paragraph in run.paragraphs(self.wrap if self.card else None):
                        out.append(Block("p", paragraph))
            if isinstance(item, CleanElement):
                self._write_block(item, out, stack, run)
            elif item is CARD_END:
                self.card = None
                run.in_link = False
        return out

    def _write_block(self, node: CleanElement, out: list[Block], stack: Stack, run: Run) -> None:
        handler = self.handlers.get(node.tag)
        if handler is not None:
            handler(self, node, out, stack)
            run.in_link = self.card is not None
            return
        words = only_text(node.children) if self.card is None and not run.parts else None
        if words is None:
            stack.append(END)
            stack.extend(node.children[::-1])
        elif words:
            out.append(Block("p", write_words(words)))

    def wrap(self, text: str) -> str:
        """Return the text inside the link around the current blocks, if there is one."""
        if self.card is None or not text:
            return text
        return make_link(text, self.card.attr("href"), self.card.attr("title"))

    def line(self, nodes: Sequence[CleanNode | Sign], *, bold: bool = False) -> str:
        """Return the nodes as one line; `bold` when the position makes everything bold anyway."""
        if (words := only_text(nodes)) is not None:
            if self.card is None:
                return publish(escape_first(words)) if has_special(words) else words
            return publish(self.wrap(escape_first(words, in_link=True)))
        run = Run(self.inline, flat=True, in_link=self.card is not None)
        if bold:
            run.active[STRONG] = 1
        run.fill(list(nodes[::-1]))
        return publish(self.wrap(one_line(run.take())))


def write_words(words: str) -> str:
    """Return the words of a paragraph that is a single text."""
    return guard_line(publish(escape_first(words)) if has_special(words) else words)


def enter(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write a block that is just its content."""
    stack.append(END)
    stack.extend(node.children[::-1])


def enter_card(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write a link around blocks by linking each of them."""
    writer.card = node
    stack.append(CARD_END)
    stack.extend(node.children[::-1])


def join(blocks: Iterable[Block]) -> str:
    """Join blocks with blank lines."""
    return "\n\n".join([block.text for block in blocks])


_LINE_END: Final = compile_lazily(r"\n(?=[^\n])")


def indent(text: str, pad: str) -> str:
    """Indent all lines but the first; empty lines stay empty."""
    return _LINE_END.sub("\n" + pad, text) if "\n" in text else text
