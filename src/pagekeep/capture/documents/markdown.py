"""Markdown: its frontmatter as metadata; its text stays as it was written, unless it has HTML, and is also read as HTML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from pagekeep import dom
from pagekeep.capture.documents.parsed import (
    DamagedFile,
    Declared,
    EmptyFile,
    ParsedDocument,
    decode_text,
    make_metadata,
)
from pagekeep.errors import ParseError
from pagekeep.markdown.frontmatter import read_block
from pagekeep.model import Options

MAX_CHARS: Final = 1_000_000
"""Hostile text takes a second per 100,000 characters."""
_MAX_FRONTMATTER_CHARS: Final = 20_000
_FRONTMATTER: Final = re.compile(
    r"(?:---[ \t]*\n(.*?)\n(?:---|\.\.\.)|\+\+\+[ \t]*\n(.*?)\n\+\+\+)[ \t]*(?:\n|$)", re.S
)
_MAX_NUMBER_BITS: Final = 64
_CALLOUT: Final = re.compile(r"\[!([A-Za-z][A-Za-z-]{0,30})\][+-]?[ \t]*([^\n]*)(?:\n|$)")
_TASK: Final = re.compile(r"\[([ xX])\][ \t]+")


def read(data: bytes, url: str | None, options: Options) -> ParsedDocument:
    """Return the document in a Markdown file."""
    text, warnings = decode_text(data, options, MAX_CHARS)
    fields, body = split_frontmatter(text)
    try:
        tokens = _renderer().parse(body)
        html = _renderer().renderer.render(tokens, _renderer().options, {})
    except RecursionError as error:
        raise DamagedFile("it is nested too deeply") from error
    root = dom.parse_fragment(html)
    if not dom.text_of(root).strip() and dom.first(root, "img") is None:
        raise EmptyFile(metadata=make_metadata(_read_declared(fields), "", ""))
    _mark_callouts(root)
    _mark_tasks(root)
    heading = next((dom.text_of(node) for tag in ("h1", "h2") for node in dom.select(root, tag)[:1]), "")
    metadata = make_metadata(_read_declared(fields), " ".join(heading.split()), dom.text_of(root)[:3_000].lstrip())
    has_html = any(token.type in ("html_block", "html_inline") for token in _walk(tokens))
    return ParsedDocument(
        dom.inner_html(root),
        metadata,
        "Markdown with HTML, written again" if has_html else "Markdown, kept as it is",
        warnings=warnings,
        markdown=None if has_html else body.strip("\n") + "\n",
    )


def _walk(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.children or ()


@cache
def _renderer() -> MarkdownIt:
    parser = (
        MarkdownIt("commonmark", {"html": True})
        .enable(["table", "strikethrough"])
        .use(footnote_plugin)
        .use(dollarmath_plugin, allow_space=False, allow_digits=False, allow_labels=False)
    )
    parser.add_render_rule("math_inline", _write_formula)
    parser.add_render_rule("math_block", _write_formula)
    return parser


def _write_formula(_self: Any, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    token = tokens[index]
    tex = escape(token.content.strip(), quote=False)
    block = token.type == "math_block"
    return f'<div class="math-block">{tex}</div>\n' if block else f'<span class="math-inline">{tex}</span>'


def split_frontmatter(text: str) -> tuple[Mapping[str, Any], str]:
    """Return the fields of the frontmatter, in YAML or TOML, and the text behind it."""
    match = _FRONTMATTER.match(text, 0, _MAX_FRONTMATTER_CHARS)
    if not match:
        return {}, text
    try:
        fields = read_block(match[1]) if match[1] is not None else tomllib.loads(match[2])
    except (ParseError, ValueError, RecursionError):
        return {}, text
    return fields, text[match.end() :]


def _read_declared(fields: Mapping[str, Any]) -> Declared:
    known = {str(key).lower().replace("-", "_"): value for key, value in fields.items()}

    def first(*names: str) -> str:
        return next((text for name in names if (text := _one_text(known.get(name)))), "")

    address = first("source", "url", "canonical", "canonical_url", "permalink")
    return Declared(
        "frontmatter",
        title=first("title"),
        authors=tuple(_texts(known.get("author") or known.get("authors"))),
        subject=first("description", "summary", "excerpt", "abstract"),
        keywords=";".join(_texts(known.get("tags") or known.get("keywords"))),
        language=first("language", "lang"),
        date=first("published_date", "published", "date", "created"),
        is_trusted=True,
        extra={"canonical": address} if address.startswith(("http://", "https://")) else {},
    )


def _one_text(value: Any) -> str:
    return ", ".join(_texts(value))


def _texts(value: Any) -> list[str]:
    """Return a value of frontmatter as texts; a list has several."""
    if isinstance(value, list | tuple):
        return [text for one in value[:50] for text in _texts(one)[:1]]
    if isinstance(value, dict):
        return _texts(value.get("name"))
    if isinstance(value, int) and value.bit_length() > _MAX_NUMBER_BITS:  # TOML has numbers of any length
        return []
    return [str(value)[:1_000]] if value is not None and not isinstance(value, bool) else []


def _mark_callouts(root: dom.Element) -> None:
    """Mark quotes that begin with `[!note]` as callouts."""
    for quote in dom.tagged(root, ("blockquote",)):
        first = next((child for child in quote.children if isinstance(child, dom.Element)), None)
        start = next(iter(first.children), None) if first is not None and first.tag == "p" else None
        match = _CALLOUT.match(start.data) if isinstance(start, dom.Text) else None
        if not match or not isinstance(start, dom.Text) or first is None:
            continue
        dom.set_attr(quote, "class", "callout")
        dom.set_attr(quote, "data-callout", match[1].lower())
        if match[2].strip():
            dom.set_attr(quote, "data-title", match[2].strip())
        rest = start.data[match.end() :]
        dom.replace(start, rest)
        if not dom.text_of(first).strip():
            dom.drop(first)


def _mark_tasks(root: dom.Element) -> None:
    """Mark items that begin with a box as tasks."""
    for item in dom.tagged(root, ("li",)):
        node: dom.Node | None = next(iter(item.children), None)
        while isinstance(node, dom.Text) and not node.data.strip():
            node = node.next_sibling
        if isinstance(node, dom.Element) and node.tag == "p":
            node = next(iter(node.children), None)
        match = _TASK.match(node.data) if isinstance(node, dom.Text) else None
        if match and isinstance(node, dom.Text):
            dom.set_attr(item, "class", "task")
            dom.set_attr(item, "data-done", "false" if match[1] == " " else "true")
            dom.replace(node, node.data[match.end() :])
