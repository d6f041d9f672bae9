"""Write blocks: paragraphs, headings, lists, tables, code, quotes and footnotes.

A table cell that spans others is written in the first of them and the rest stay empty: the words are written once, as the page
shows them. A cell is one line, so its blocks are joined and list items get a bullet. A table with code blocks or
tables in its cells cannot be a pipe table: its cells are written one after the other, header cells in bold.

A renderer drops a footnote without a reference and shows a reference without a note as plain text, so only notes with both are
written as footnotes. The others become a plain list, and a reference without a note stays the number it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from pagekeep.markdown.inline.elements import footnote_label, make_link
from pagekeep.markdown.inline.escape import (
    clean,
    count_ticks,
    escape_dollars,
    escape_first,
    guard_line,
    has_special,
    publish,
)
from pagekeep.markdown.inline.run import (
    BLOCKS,
    CARD_END,
    EM,
    EM_END,
    END,
    SIGNS,
    STRONG,
    STRONG_END,
    Inline,
    Run,
    Sign,
    Stack,
    one_line,
    only_text,
)
from pagekeep.model.clean_tree import CleanElement, CleanNode, find_all, has_any, text_of
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


_CLOSING: Final = compile_lazily(r"(?:^|(?<= ))(?=#+$)")
_NOT_A_NAME: Final = compile_lazily(r"[^a-z0-9-]+")
_BLANK_LINES: Final = compile_lazily(r"\n\s*\n|\r\n?")


def heading(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write `## Heading`, without bold, which is redundant; hashes at the end are escaped, as they would be dropped."""
    text = writer.line(node.children, bold=True)
    if text.endswith("#"):
        text = _CLOSING.sub(chr(92) * 2, text)
    if text:
        out.append(Block("heading", f"{'#' * int(node.tag[1])} {text}"))


def rule(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write a horizontal rule, unless there is nothing before it."""
    if out and out[-1].kind != "hr":
        out.append(Block("hr", "---"))


def division(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write display math, or just the content."""
    if "math-block" not in node.attr("class"):
        enter(writer, node, out, stack)
        return
    tex = escape_dollars(_BLANK_LINES.sub("\n", clean(text_of(node)).strip().strip("$").strip()))
    if tex:
        out.append(Block("math", f"$$\n{tex}\n$$"))


def quote(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write a quote as `> lines`, or a callout with `> [!note] Title` above them."""
    if writer.is_deep:
        enter(writer, node, out, stack)
        return
    blocks = writer.nested(node.children)
    text = join(blocks)
    if "callout" in node.attr("class").split():
        head = _callout_head(writer, node)
        text = head + ("\n" if blocks and blocks[0].kind == "p" else "\n\n" if blocks else "") + text
    if text:
        out.append(Block("quote", "\n".join([f"> {line}" if line else ">" for line in text.split("\n")])))


def _callout_head(writer: Writer, node: CleanElement) -> str:
    name = _NOT_A_NAME.sub("-", node.attr("data-callout").strip().lower()).strip("-") or "note"
    title = writer.line([node.attr("data-title")])
    return f"[!{name}] {title}".rstrip()


def figure(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write each image on its own line, with the caption below."""
    captions: list[CleanElement] = []
    others: list[CleanNode] = []
    for child in node.children:
        if isinstance(child, CleanElement) and child.tag == "figcaption":
            captions.append(child)
        else:
            others.append(child)
    is_picture = captions and has_any(node, ("img",)) and not _has_other_text(node, captions)
    children = [*others, *captions] if is_picture else node.children
    stack.append(END)
    for child in reversed(children):
        is_image = isinstance(child, CleanElement) and child.tag in ("img", "a")
        stack.extend((END, child, END) if is_image else (child,))


def _has_other_text(node: CleanElement, captions: list[CleanElement]) -> bool:
    return text_of(node).split() != [word for caption in captions for word in text_of(caption).split()]


def caption(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write the caption as a line in italics."""
    if text := writer.line([SIGNS[EM], *node.children, SIGNS[EM_END]]):
        out.append(Block("p", text))


_MAX_NUMBER: Final = 999_999_999
"""CommonMark allows at most nine digits in a list number."""
_DIGITS: Final = compile_lazily(r"\d{1,12}$")


def bullet_list(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write a list with `- item` lines."""
    if writer.is_deep:
        enter(writer, node, out, stack)
    else:
        mark = _choose_mark(out, "-", "*")
        _append(out, "list", [_item(writer, item, nodes, mark) for item, nodes in _items(node)], mark)


def numbered_list(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write a list with `1. item` lines, from the number the page starts with."""
    if writer.is_deep:
        enter(writer, node, out, stack)
        return
    start = (node.attr("start") or "1").strip()
    first = min(int(start), _MAX_NUMBER) if _DIGITS.match(start) else 1
    mark = _choose_mark(out, ".", ")")
    items: list[tuple[str, bool]] = []
    for item, nodes in _items(node):
        written = _item(writer, item, nodes, f"{min(first + len(items), _MAX_NUMBER)}{mark}")
        if written[0]:
            items.append(written)
    _append(out, "list" if first == 1 else "ol", items, mark)


def write_bullets(writer: Writer, contents: Sequence[Sequence[CleanNode]], out: list[Block]) -> None:
    """Write a bullet list of these contents."""
    mark = _choose_mark(out, "-", "*")
    _append(out, "list", [_item(writer, None, nodes, mark) for nodes in contents], mark)


def _choose_mark(out: list[Block], usual: str, other: str) -> str:
    """Return the usual mark, or the other one right after a list with the usual mark: the two would become one list."""
    return other if out and out[-1].mark == usual else usual


def _items(node: CleanElement) -> list[tuple[CleanElement | None, list[CleanNode]]]:
    """Return each item with its content; what is in a list but not in an item belongs to the item before."""
    items: list[tuple[CleanElement | None, list[CleanNode]]] = []
    item: CleanElement | None = None
    content: list[CleanNode] = []
    is_shared = False
    for child in node.children:
        if isinstance(child, CleanElement) and child.tag == "li":
            if content:
                items.append((item, content))
            item, content, is_shared = child, child.children, True
        elif content or not isinstance(child, str) or not child.isspace():
            if is_shared:
                content, is_shared = list(content), False
            content.append(child)
    if content:
        items.append((item, content))
    return items


def _item(writer: Writer, item: CleanElement | None, content: Sequence[CleanNode], marker: str) -> tuple[str, bool]:
    """Return the item's lines, and whether it needs blank lines around it."""
    is_task = item is not None and "task" in item.attr("class").split()
    if not is_task and (words := only_text(content)) is not None:
        return f"{marker} {write_words(words)}" if words else "", False
    blocks = writer.nested(content)
    if not blocks:
        return "", False
    if item is not None and is_task:
        blocks = _task(blocks, item.attr("data-done") == "true")
    if blocks[0].kind == "hr":  # `- ---` would be a horizontal rule
        blocks[0] = Block("hr", "___")
    text, tight = blocks[0].text, True
    if len(blocks) > 1:
        parts = [text]
        for before, block in pairwise(blocks):
            close = block.kind == "list" and before.kind == "p"
            tight = tight and close
            parts.append(("\n" if close else "\n\n") + block.text)
        text = "".join(parts)
    return f"{marker} {indent(text, ' ' * (len(marker) + 1))}", not tight


def _task(blocks: list[Block], done: bool) -> list[Block]:
    box = "[x]" if done else "[ ]"
    if blocks[0].kind == "p":
        return [Block("p", f"{box} {blocks[0].text}"), *blocks[1:]]
    return [Block("p", box), *blocks]


def _append(out: list[Block], kind: str, items: list[tuple[str, bool]], mark: str) -> None:
    lines = [text for text, _ in items if text]
    if lines:
        gap = "\n\n" if any(loose for _, loose in items) else "\n"
        out.append(Block(kind, gap.join(lines), mark))


def definition_list(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write bold terms, each followed by its definitions as bullets.

    CommonMark has no definition lists: `: text` would show the colon, and indented text would be code. Bullets keep
    definitions apart from terms and from each other, and may contain any block.
    """
    if writer.is_deep:
        enter(writer, node, out, stack)
        return
    definitions: list[list[CleanNode]] = []
    stray = False
    for child in _entries(node):
        if isinstance(child, CleanElement) and child.tag == "dt":
            write_bullets(writer, definitions, out)
            definitions, stray = [], False
            if text := writer.line([SIGNS[STRONG], *child.children, SIGNS[STRONG_END]]):
                out.append(Block("p", text))
        elif isinstance(child, CleanElement) and child.tag == "dd":
            definitions.append(list(child.children))
            stray = False
        elif stray:
            definitions[-1].append(child)
        else:
            definitions.append([child])
            stray = True
    write_bullets(writer, definitions, out)


def _entries(node: CleanElement) -> list[CleanNode]:
    """Return terms and definitions, without the groups they may be in."""
    entries: list[CleanNode] = []
    pending = node.children[::-1]
    while pending:
        child = pending.pop()
        if isinstance(child, CleanElement) and child.tag == "div":
            pending.extend(child.children[::-1])
        elif isinstance(child, CleanElement) or not child.isspace():
            entries.append(child)
    return entries


def bold_block(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write a term, a summary or a single header cell in bold."""
    stack.extend([END, SIGNS[STRONG_END], *node.children[::-1], SIGNS[STRONG]])


_MAX_SPAN_DIGITS: Final = 4
_EMPTY_PER_CELL: Final = 4
_EMPTY_ALLOWED: Final = 10_000
"""Empty cells that may be written: a bound against hostile spans, far above what real tables have."""
_RULES: Final = {"left": ":--", "center": ":-:", "right": "--:"}


class _Cell(NamedTuple):
    text: str
    is_header: bool
    align: str
    columns: int
    rows: int


def table(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write the caption in italics, then the table."""
    if has_any(node, ("table", "pre")):
        enter(writer, node, out, stack)
        return
    rows = [cells for row in find_all(node, ("tr",)) if (cells := _cells(writer, row))]
    for caption in find_all(node, ("caption",)):
        if text := writer.line([SIGNS[EM], *caption.children, SIGNS[EM_END]]):
            out.append(Block("p", text))
    if any(cell.text for cells in rows for cell in cells):
        out.append(Block("table", _pipe_table(rows)))


def _cells(writer: Writer, row: CleanElement) -> list[_Cell]:
    return [
        _Cell(
            writer.line(child.children, bold=child.tag == "th").replace("|", "\\|"),
            child.tag == "th",
            child.attr("align").strip().lower(),
            _span(child.attr("colspan")),
            _span(child.attr("rowspan")),
        )
        for child in row.children
        if isinstance(child, CleanElement) and child.tag in ("td", "th")
    ]


def _span(value: str) -> int:
    value = value.strip()
    return max(1, int(value)) if value.isascii() and value.isdigit() and len(value) <= _MAX_SPAN_DIGITS else 1


def _pipe_table(rows: list[list[_Cell]]) -> str:
    grid, aligns = _grid(rows)
    width = max(map(len, grid))
    # Renderers pad short rows, so a hostile table of one long and many short rows is not written in full.
    padded = width if width * len(grid) <= _empty_limit(grid) else 0
    has_header = _has_header(rows, width)
    rule = [_RULES.get(aligns.get(column, ""), "---") for column in range(width)]
    lines = [_line(grid[0] if has_header else [], width), _line(rule, width)]
    lines.extend([_line(texts, padded) for texts in (grid[1:] if has_header else grid) if texts])
    return "\n".join(lines)


def _has_header(rows: list[list[_Cell]], width: int) -> bool:
    """Return whether the first row is the header: all header cells, or in a table without any, a full row without numbers.

    GFM requires one header row, so any other table gets an empty one.
    """
    if any(cell.is_header for cells in rows for cell in cells):
        return all(cell.is_header for cell in rows[0])
    first = [cell.text for cell in rows[0]]
    return len(rows) > 1 and len(first) == width and all(first) and not any(map(str.isdigit, "".join(first)))


def _empty_limit(rows: Sequence[Sequence[object]]) -> int:
    return _EMPTY_PER_CELL * sum(map(len, rows)) + _EMPTY_ALLOWED


def _line(texts: list[str], width: int) -> str:
    return "| " + " | ".join(texts + [""] * (width - len(texts))) + " |"


def _grid(rows: list[list[_Cell]]) -> tuple[list[list[str]], dict[int, str]]:
    """Return the texts of each row, with empty ones where cells span but none at the end, and the alignment by column."""
    widest = max(map(len, rows))
    budget = _empty_limit(rows)  # empty cells; beyond it, spans are ignored
    taken: dict[int, int] = {}  # by column: the first row that no cell from above reaches
    aligns: dict[int, str] = {}
    grid: list[list[str]] = []
    for number, cells in enumerate(rows):
        texts: list[str] = []
        for cell in cells:
            while budget > 0 and taken.get(len(texts), 0) > number:
                texts.append("")
                budget -= 1
            column = len(texts)
            span = min(cell.columns, widest) if budget > 0 else 1
            budget -= span - 1
            texts.extend([cell.text, *[""] * (span - 1)])
            if cell.align:
                aligns.setdefault(column, cell.align)
            if cell.rows > 1:
                taken.update(dict.fromkeys(range(column, column + span), number + cell.rows))
        grid.append(_strip_empty_end(texts))
    return grid, aligns


def _strip_empty_end(texts: list[str]) -> list[str]:
    while texts and not texts[-1]:
        texts.pop()
    return texts


_MIN_FENCE: Final = 3
_LANGUAGE: Final = compile_lazily(r"(?:^|\s)lang(?:uage)?-([^\s`]+)")


def code_block(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write a code block: a fence longer than any inside, the language if the page names it, and the text as it is."""
    text = clean(exact_text(node).replace("\r\n", "\n").replace("\r", "\n")).removesuffix("\n")
    if not text.strip():
        return
    fence = "`" * max(_MIN_FENCE, count_ticks(text) + 1)
    out.append(Block("code", f"{fence}{language(node)}\n{text}\n{fence}"))


def language(node: CleanElement) -> str:
    """Return the language that a `pre` or its `code` names; empty without one."""
    for holder in (*find_all(node, ("code",))[:1], node):
        match = _LANGUAGE.search(holder.attr("class"))
        if match:
            return clean(match.group(1))
    return ""


def exact_text(node: CleanElement) -> str:
    """Return the text with `<br>` as newlines."""
    if not has_any(node, ("br",)):
        return text_of(node)
    parts: list[str] = []
    pending = node.children[::-1]
    while pending:
        child = pending.pop()
        if isinstance(child, str):
            parts.append(child)
        else:
            if child.tag == "br":
                parts.append("\n")
            pending.extend(child.children[::-1])
    return "".join(parts)


def section(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Collect the notes for the end of the page; any other section is just its content."""
    if "footnotes" not in node.attr("class").split():
        enter(writer, node, out, stack)
        return
    strays: list[CleanElement] = []
    for child in node.children:
        items = child.children if isinstance(child, CleanElement) and child.tag == "ol" else ()
        for item in items:
            if isinstance(item, CleanElement) and not _define(writer, item):
                strays.append(item)
    write_bullets(writer, [item.children for item in strays], out)


def _define(writer: Writer, item: CleanElement) -> bool:
    label = footnote_label(item.attr("id"))
    if label not in writer.inline.notes or label in writer.footnotes:
        return False
    writer.footnotes[label] = ""  # reserves its position while notes within the note are written
    text = join(writer.nested(item.children))
    writer.footnotes[label] = f"[^{label}]: {indent(text, '    ')}"
    return True
