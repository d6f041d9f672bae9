"""Plain text of a message as HTML: soft line ends, quotes, lists, headings, indented code and addresses of the web."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from itertools import groupby, pairwise
from typing import Final, NamedTuple

MAX_LINES: Final = 50_000
"""Lines that are read; the rest is left out."""
MAX_QUOTE_DEPTH: Final = 20
_MIN_WRAPPED_CHARS: Final = 45
"""A line that is shorter ended where its writer wanted, as in an address or a poem."""
_MAX_WRAPPED_CHARS: Final = 100
"""Lines that are longer were not wrapped by a mail program: each is a paragraph."""
_MAX_HEADING_CHARS: Final = 80
_QUOTE: Final = re.compile(r"(?:> ?)+")
_ITEM: Final = re.compile(r"(?P<indent> {0,8})(?:(?P<bullet>[*+•·–-])|(?P<number>\d{1,3})[.)])[ \t]+(?=\S)")
_RULE: Final = re.compile(r"\s*([-=_*~#+•.·])\1{3,}\s*")
_URL: Final = re.compile(r"<?\b((?:https?://|www\.)[^\s<>\"\u201c\u201d]{2,2000})>?|<([\w.+-]{1,64}@[\w.-]{3,255})>")
_MAX_MARKS: Final = 5
"""Marks after an address that end its sentence."""
_TRAILING: Final = ".,;:!?'*_]}"
_SIGNATURE: Final = re.compile(r"--[ \t]?")
_LIST_FOOTER: Final = re.compile(r"_{20,}\s*")
"""The line that mailing list programs write above their footer."""


_MAX_FOOTER_LINES: Final = 12
_WIDE: Final = re.compile("[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]")
"""Characters of two columns, between which a line break is not a space."""


class Line(NamedTuple):
    """One line, without the marks of its quote."""

    depth: int
    """How often it is quoted."""
    text: str


def text_to_html(text: str, *, is_flowed: bool = False, drops_space: bool = False) -> str:
    """Return plain text as HTML; signatures and the footers of list programs are left out."""
    source = text.replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ").expandtabs(4).split("\n")[:MAX_LINES]
    lines = [_split_quote(line) for line in source]
    lines = _without_signature(lines)
    if is_flowed:
        lines = list(_join_flowed(lines, drops_space))
    return "".join(_write(lines, 0))


def _split_quote(line: str) -> Line:
    match = _QUOTE.match(line)
    if match is None or line.startswith(">From "):  # some programs escape a line that begins with "From "
        return Line(0, line.removeprefix(">") if line.startswith(">From ") else line)
    return Line(min(match[0].count(">"), MAX_QUOTE_DEPTH), line[match.end() :])


def _without_signature(lines: list[Line]) -> list[Line]:
    """Return the lines up to the signature of the sender, and without the list's footer at the end."""
    for place, line in enumerate(lines):
        if place and line.depth == 0 and _SIGNATURE.fullmatch(line.text) and _is_rest_short(lines, place, 25):
            lines = lines[:place]
            break
    for place in range(len(lines) - 1, max(-1, len(lines) - _MAX_FOOTER_LINES), -1):
        if lines[place].depth == 0 and _LIST_FOOTER.fullmatch(lines[place].text):
            return lines[:place]
    return lines


def _is_rest_short(lines: list[Line], place: int, limit: int) -> bool:
    """Return whether few lines follow that are not quoted: text after a mark that only looks like a signature stays."""
    return sum(1 for line in lines[place + 1 :] if line.depth == 0 and line.text.strip()) <= limit


def _join_flowed(lines: list[Line], drops_space: bool) -> Iterator[Line]:
    """Join lines that end with a space to the next ones of the same quote."""
    waiting: list[str] = []
    depth = 0
    for line in lines:
        if waiting and depth != line.depth:
            yield Line(depth, "".join(waiting))
            waiting = []
        text = line.text if line.depth else line.text.removeprefix(" ")  # a space that only escapes the line's begin
        depth, is_soft = line.depth, line.text.endswith(" ") and not _SIGNATURE.fullmatch(line.text)
        waiting.append(text[:-1] if is_soft and drops_space else text)
        if not is_soft:
            yield Line(depth, "".join(waiting))
            waiting = []
    if waiting:
        yield Line(depth, "".join(waiting))


def _write(lines: list[Line], depth: int) -> Iterator[str]:
    """Write the lines of one level of quotes; deeper ones are block quotes in it."""
    for is_deeper, group in groupby(lines, lambda line: line.depth > depth):
        run = list(group)
        if is_deeper:
            yield "<blockquote>"
            yield from _write(run, depth + 1)
            yield "</blockquote>"
        else:
            yield from _write_blocks([line.text.rstrip() for line in run])


def _write_blocks(lines: list[str]) -> Iterator[str]:
    """Write lines as paragraphs, lists, headings, code and rules; blank lines part them."""
    block: list[str] = []
    for line in [*lines, ""]:
        is_rule = _RULE.fullmatch(line) is not None
        if line.strip() and not is_rule:
            block.append(line)
            continue
        heading = block.pop() if is_rule and block and _is_underlined(block[-1], line) else None
        if block:
            yield _write_block(block)
            block = []
        if heading is not None:
            yield f"<h2>{_inline(heading.strip())}</h2>"
        elif is_rule:
            yield "<hr>"


def _write_block(block: list[str]) -> str:
    if all(line.startswith("    ") for line in block) and not _ITEM.match(block[0]):
        indent = min(len(line) - len(line.lstrip()) for line in block)
        code = "\n".join(line[indent:] for line in block)
        return f"<pre><code>{escape(code, quote=False)}</code></pre>"
    if _is_capitals(block):
        return f"<h2>{_inline(block[0].strip())}</h2>"
    if any(_ITEM.match(line) for line in block):
        return "".join(_write_list(block))
    return f"<p>{_join_lines(block)}</p>"


def _is_underlined(text: str, rule: str) -> bool:
    mark, words = rule.strip(), text.strip()
    return set(mark) <= set("=-~") and len(mark) <= 2 * len(words) + 4 and 2 < len(words) <= _MAX_HEADING_CHARS


def _is_capitals(block: list[str]) -> bool:
    """Return whether a block is one short line in capitals, which is how plain text writes headings."""
    text = block[0].strip()
    letters = [char for char in text if char.isalpha()]
    return (
        len(block) == 1
        and len(text) <= _MAX_HEADING_CHARS
        and len(letters) >= 4
        and text.isupper()
        and not text.endswith((".", ",", "!", ";"))
        and "://" not in text
    )


def _write_list(block: list[str]) -> Iterator[str]:
    """Write lines of which some begin with a bullet or a number; the others continue the one above."""
    before: list[str] = []
    items: list[tuple[bool, str, list[str]]] = []
    for line in block:
        match = _ITEM.match(line)
        if match:
            items.append((match["bullet"] is None, match["number"] or "", [line[match.end() :]]))
        elif items:
            items[-1][2].append(line.strip())
        else:
            before.append(line)
    if before:
        yield f"<p>{_join_lines(before)}</p>"
    for is_ordered, group in groupby(items, lambda item: item[0]):
        entries = list(group)
        start = f' start="{int(entries[0][1])}"' if is_ordered and int(entries[0][1]) != 1 else ""
        yield f"<ol{start}>" if is_ordered else "<ul>"
        yield from (f"<li>{_inline(' '.join(lines))}</li>" for _, _, lines in entries)
        yield "</ol>" if is_ordered else "</ul>"


def _join_lines(lines: list[str]) -> str:
    """Join lines that a mail program wrapped with spaces, others with line breaks."""
    parts = [_inline(lines[0].strip())]
    for above, line in pairwise(lines):
        above, line = above.strip(), line.strip()
        is_wide = bool(_WIDE.match(above[-1:]) and _WIDE.match(line[:1]))
        width = len(above) + len(_WIDE.findall(above))
        is_wrapped = _MIN_WRAPPED_CHARS <= width <= _MAX_WRAPPED_CHARS
        parts += ["" if is_wrapped and is_wide else " " if is_wrapped else "<br>", _inline(line)]
    return "".join(parts)


def _inline(text: str) -> str:
    """Return text with the addresses in it as links."""
    parts, place = [], 0
    for match in _URL.finditer(text):
        url = match[1] or ""
        if match[2]:
            parts += [escape(text[place : match.start()], quote=False), f'<a href="mailto:{match[2]}">{match[2]}</a>']
            place = match.end()
            continue
        url = _trim(url)
        start = match.start(1)
        target = escape(url if "://" in url else f"https://{url}")
        closed = match[0].startswith("<") and match[0].endswith(">")
        parts += [escape(text[place : match.start() if closed else start], quote=False)]
        parts += [f'<a href="{target}">{escape(url, quote=False)}</a>']
        place = match.end() if closed else start + len(url)
    return "".join([*parts, escape(text[place:], quote=False)])


def _trim(url: str) -> str:
    """Return an address without the marks of the sentence around it."""
    for _ in range(_MAX_MARKS):
        if not (url and (url[-1] in _TRAILING or (url[-1] == ")" and url.count("(") < url.count(")")))):
            break
        url = url[:-1]
    return url
