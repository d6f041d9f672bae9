"""Markdown as HTML for the reader: rendered, its pictures and links seen to, and sanitised last.

Content is never trusted. The renderer passes no HTML through; the sanitiser would let none of it harm; the server's
content policy would not run it. Each holds alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from pagekeep.present.code_colours import CLASSES, highlighted
from pagekeep.present.formulas import mathml

LONGEST: Final = 1_000_000
"""Characters that are rendered; longer ones are shown as they are written: hostile text takes a second a tenth of this."""
MOST_COLOURED: Final = 300_000
"""Characters of code that are coloured on one page."""

_CALLOUT: Final = re.compile(r"\[!([A-Za-z][A-Za-z-]{0,30})\][+-]?[ \t]*")
_KINDS: Final = {
    "tip": "tip",
    "hint": "tip",
    "success": "tip",
    "warning": "warning",
    "attention": "warning",
    "caution": "danger",
    "danger": "danger",
    "error": "danger",
    "important": "important",
    "quote": "quote",
    "cite": "quote",
}
"""Which look a callout has; all others look like notes."""
_FOOTNOTE: Final = re.compile(r"#fn(?:ref)?[0-9]+(?::[0-9]+)?")
_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel"})
_FORMULA: Final = re.compile(r'<data value="([0-9]{1,7})"></data>')

Picture = Callable[[str], str]
"""Where the reader's browser gets a picture, by its address on the web."""


@dataclass(frozen=True, slots=True)
class Heading:
    """An entry of the table of contents."""

    level: int
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page to be read in a browser."""

    html: str
    """Safe to be put into a page as it is."""
    headings: tuple[Heading, ...] = ()
    is_temporary: bool = False
    """Whether this is a fallback because the server was busy: it must not be cached."""


@dataclass(slots=True)
class _Work:
    """What is gathered while one page is rendered."""

    base: str
    picture: Picture | None
    headings: list[Heading] = field(default_factory=list)
    pictures: set[str] = field(default_factory=set)
    formulas: list[str] = field(default_factory=list)
    coloured: int = 0


def body_of(document: str) -> str:
    """The Markdown of a document, without its frontmatter."""
    if not document.startswith("---\n"):
        return document
    _, found, rest = document[4:].partition("\n---\n")
    return rest.lstrip("\n") if found else document


def render(markdown: str, *, base: str = "", title: str = "", picture: Picture | None = None) -> Rendered:
    """The Markdown as safe HTML.

    `base` is the page's address, for links that are not absolute. A first heading that repeats the `title` is left out.
    Without `picture` pictures keep their addresses.
    """
    if len(markdown) > LONGEST:
        return as_written(markdown, "This text is too long to be laid out; it is shown as it is written.")
    markdown = markdown.encode("utf-8", "replace").decode()  # half a character is nothing to show
    work = _Work(base, picture)
    try:
        tokens = _renderer().parse(markdown)
    except RecursionError:
        return as_written(markdown, "This text is nested too deep to be laid out; it is shown as it is written.")
    tokens = _without_title(tokens, title)
    _name_headings(tokens, work)
    for change in (_figures, _callouts, _tasks):
        tokens = list(change(tokens))
    for token in tokens:
        if token.type in ("th_open", "td_open"):
            _align(token)
        _see_to_addresses(token.children or (), work)
    html: str = _renderer().renderer.render(tokens, _renderer().options, {"work": work})
    return Rendered(_with_formulas(sanitised(html, work.pictures), work.formulas), tuple(work.headings))


def as_written(markdown: str, why: str, *, is_temporary: bool = False) -> Rendered:
    """The text itself, with a notice why it is no more than that."""
    text = markdown.encode("utf-8", "replace").decode()
    return Rendered(f'<p role="note">{escape(why)}</p>\n<pre>{escape(text)}</pre>', is_temporary=is_temporary)


@cache
def _renderer() -> MarkdownIt:
    made = (
        MarkdownIt("commonmark", {"html": False})
        .enable(["table", "strikethrough"])
        .use(footnote_plugin)
        .use(dollarmath_plugin, allow_space=False, allow_digits=False, allow_labels=False)
    )
    made.add_render_rule("math_inline", _formula)
    made.add_render_rule("math_block", _formula)
    made.add_render_rule("fence", _code)
    made.add_render_rule("code_block", _code)
    made.add_render_rule("table_open", lambda *_: '<div class="table"><table>')
    made.add_render_rule("table_close", lambda *_: "</table></div>")
    made.add_render_rule("footnote_block_open", lambda *_: '<section class="footnotes"><ol>')
    made.add_render_rule("footnote_block_close", lambda *_: "</ol></section>")
    made.add_render_rule("footnote_ref", _footnote_mark)
    made.add_render_rule("footnote_anchor", _footnote_way_back)
    made.add_render_rule("raw", lambda _self, tokens, index, *_: tokens[index].content)
    return made


# What the renderer shows in our own way


def _formula(_self: Any, tokens: Sequence[Token], index: int, _options: Any, env: dict[str, Any]) -> str:
    """A mark in place of the formula, which is put in after sanitising: it is made of MathML, and made safe on its own."""
    token, work = tokens[index], env["work"]
    block = token.type == "math_block"
    made = mathml(token.content.strip(), block=block)
    shown = made or f'<code class="tex">{escape(token.content)}</code>'
    work.formulas.append(f'<div class="formula">{shown}</div>' if block else shown)
    return f'<data value="{len(work.formulas) - 1}"></data>'


def _code(_self: Any, tokens: Sequence[Token], index: int, _options: Any, env: dict[str, Any]) -> str:
    token, work = tokens[index], env["work"]
    language = token.info.strip().partition(" ")[0]
    work.coloured += len(token.content)
    shown = highlighted(token.content, language) if work.coloured <= MOST_COLOURED else escape(token.content)
    label = f' data-language="{escape(language)}"' if language else ""
    return f"<pre{label}><code>{shown}</code></pre>\n"


def _footnote_mark(_self: Any, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    number, again = int(tokens[index].meta["id"]) + 1, int(tokens[index].meta["subId"])
    own = f"fnref{number}" + (f":{again}" if again else "")
    return f'<sup class="footnote-ref"><a href="#fn{number}" id="{own}">{number}</a></sup>'


def _footnote_way_back(_self: Any, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    number, again = int(tokens[index].meta["id"]) + 1, int(tokens[index].meta["subId"])
    own = f"fnref{number}" + (f":{again}" if again else "")
    return f' <a href="#{own}" class="back" aria-label="Back to the text">↩\ufe0e</a>'


# What is done to the tokens before


def _without_title(tokens: list[Token], title: str) -> list[Token]:
    """A picture may stand before the heading; after a first paragraph it is no title any more."""
    for index, token in enumerate(tokens[:8]):
        if token.type == "heading_open" and token.tag == "h1":
            if " ".join(_text(tokens[index + 1]).split()) == " ".join(title.split()):
                return [*tokens[:index], *tokens[index + 3 :]]
            return tokens
    return tokens


def _name_headings(tokens: list[Token], work: _Work) -> None:
    """Ids of our own making; levels so that the page's title is the only first one."""
    opened = [index for index, token in enumerate(tokens) if token.type == "heading_open"]
    shift = 1 if any(tokens[index].tag == "h1" for index in opened) else 0
    for number, index in enumerate(opened, start=1):
        level = min(6, int(tokens[index].tag[1]) + shift)
        tokens[index].tag = tokens[index + 2].tag = f"h{level}"
        tokens[index].attrSet("id", f"section-{number}")
        if text := " ".join(_text(tokens[index + 1]).split()):
            work.headings.append(Heading(level, f"section-{number}", text))


def _text(inline: Token) -> str:
    return "".join(
        child.content if child.type in ("text", "code_inline", "math_inline") else " " * (child.type == "softbreak")
        for child in inline.children or ()
    )


def _figures(tokens: list[Token]) -> Iterator[Token]:
    """A paragraph that is one picture, and the line in italics under it, as a figure."""
    index = 0
    while index < len(tokens):
        if not _is_paragraph(tokens, index) or not _is_picture(tokens[index + 1]):
            yield tokens[index]
            index += 1
            continue
        yield _raw("<figure>")
        yield tokens[index + 1]
        index += 3
        if _is_paragraph(tokens, index) and _is_caption(tokens[index + 1]):
            tokens[index + 1].children = (tokens[index + 1].children or [])[1:-1]
            yield _raw("<figcaption>")
            yield tokens[index + 1]
            yield _raw("</figcaption>")
            index += 3
        yield _raw("</figure>\n")


def _is_paragraph(tokens: list[Token], index: int) -> bool:
    return index + 1 < len(tokens) and tokens[index].type == "paragraph_open"


def _is_picture(inline: Token) -> bool:
    kinds = [child.type for child in inline.children or ()]
    return kinds in (["image"], ["link_open", "image", "link_close"])


def _is_caption(inline: Token) -> bool:
    """All in one pair of asterisks."""
    parts = inline.children or []
    if len(parts) < 3 or parts[0].type != "em_open" or parts[-1].type != "em_close":
        return False
    level = parts[0].level
    return not any(part.type == "em_close" and part.level == level for part in parts[1:-1])


def _callouts(tokens: list[Token]) -> Iterator[Token]:
    """Quotations that begin with `[!note]`."""
    for index, token in enumerate(tokens):
        if token.type == "blockquote_open" and index + 2 < len(tokens) and tokens[index + 1].type == "paragraph_open":
            first = _first_text(tokens[index + 2])
            marked = _CALLOUT.match(first.content) if first else None
            if first and marked:
                first.content = first.content[marked.end() :]
                kind = _KINDS.get(marked[1].lower(), "note")
                token.attrSet("class", f"callout {kind}")
                yield token
                yield from _callout_title(tokens[index + 2], marked[1])
                continue
        yield token


def _callout_title(inline: Token, kind: str) -> Iterator[Token]:
    """What stands behind the mark on its line, else the kind's own name."""
    parts = inline.children or []
    breaks = next((place for place, part in enumerate(parts) if part.type in ("softbreak", "hardbreak")), len(parts))
    title, rest = parts[:breaks], parts[breaks + 1 :]
    heading = Token("inline", "", 0)
    heading.children = title if any(part.content.strip() for part in title) else [_words(kind.capitalize())]
    inline.children = rest
    yield _raw('<p class="callout-title">')
    yield heading
    yield _raw("</p>")


def _tasks(tokens: list[Token]) -> Iterator[Token]:
    """List items that begin with `[ ]` or `[x]`: a mark to be seen and heard, no field to be filled in."""
    for index, token in enumerate(tokens):
        if token.type == "inline" and index > 1 and tokens[index - 2].type == "list_item_open":
            first = _first_text(token)
            if first and first.content[:4].lower() in ("[ ] ", "[x] "):
                done = first.content[1] != " "
                first.content = first.content[4:]
                tokens[index - 2].attrSet("class", "task")
                label = "Done" if done else "To do"
                mark = f'<span class="{"done" if done else "open"}" role="img" aria-label="{label}"></span> '
                token.children = [_raw(mark), *(token.children or [])]
        yield token


def _first_text(inline: Token) -> Token | None:
    first = inline.children[0] if inline.children else None
    return first if first and first.type == "text" else None


def _raw(html: str) -> Token:
    return Token("raw", "", 0, content=html)


def _words(text: str) -> Token:
    return Token("text", "", 0, content=text)


def _align(cell: Token) -> None:
    """By class: the content policy takes no styles."""
    side = str(cell.attrs.pop("style", "")).removeprefix("text-align:")
    if side:
        cell.attrSet("class", side)


def _see_to_addresses(parts: Sequence[Token], work: _Work) -> None:
    """Links lead out to the web, pictures come the way the reader's browser may get them; anything else is nowhere."""
    for part in parts:
        if part.type == "link_open":
            href = _absolute(str(part.attrGet("href") or ""), work.base)
            part.attrs = {"href": href} if href else {}
        elif part.type == "image":
            _see_to_picture(part, work)


def _see_to_picture(part: Token, work: _Work) -> None:
    src = _absolute(str(part.attrGet("src") or ""), work.base)
    if not src.startswith(("http://", "https://")):
        part.type = "text"  # its words are there already: the alternative text
        return
    shown = work.picture(src) if work.picture else src
    work.pictures.add(shown)
    part.attrSet("src", shown)
    part.attrSet("loading", "lazy")
    part.attrSet("decoding", "async")


def _absolute(address: str, base: str) -> str:
    """The address on the web; nothing for one that leads elsewhere."""
    try:
        full = urljoin(base, address)
        return full if urlsplit(full).scheme.lower() in _SCHEMES else ""
    except ValueError:
        return ""


# The last gate

_TAGS: Final = frozenset(
    "p h1 h2 h3 h4 h5 h6 ul ol li blockquote hr div section a strong em s sup code br span pre img figure figcaption "
    "table thead tbody tr th td data".split()
)
_ATTRIBUTES: Final[dict[str, set[str]]] = {
    "a": {"href", "id", "aria-label"},
    "data": {"value"},
    "img": {"src", "alt", "title", "loading", "decoding"},
    "li": {"id"},
    "ol": {"start"},
    "pre": {"data-language"},
    "span": {"role", "aria-label"},
    **{f"h{level}": {"id"} for level in range(1, 7)},
}
_ALLOWED_CLASSES: Final[dict[str, set[str]]] = {
    "a": {"back"},
    "blockquote": {"callout", *_KINDS.values(), "note"},
    "div": {"table"},
    "li": {"task"},
    "p": {"callout-title"},
    "section": {"footnotes"},
    "span": {"done", "open", *CLASSES},
    "sup": {"footnote-ref"},
    "th": {"left", "right", "center"},
    "td": {"left", "right", "center"},
}
_ID: Final = re.compile(r"section-[0-9]+|fn(?:ref)?[0-9]+(?::[0-9]+)?")


def sanitised(html: str, pictures: set[str]) -> str:
    """The HTML with nothing in it that could do harm; of pictures only those that are named."""

    def keep(_tag: str, name: str, value: str) -> str | None:
        if name == "id":
            return value if _ID.fullmatch(value) else None
        if name == "src":
            return value if value in pictures else None
        if name == "href":
            return value if _FOOTNOTE.fullmatch(value) or _absolute(value, "") else None
        return value

    return nh3.clean(
        html,
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        allowed_classes=_ALLOWED_CLASSES,
        attribute_filter=keep,
        link_rel="noopener noreferrer",
        url_schemes=set(_SCHEMES),
    )


def _with_formulas(html: str, formulas: list[str]) -> str:
    return _FORMULA.sub(lambda mark: formulas[int(mark[1])] if int(mark[1]) < len(formulas) else "", html)
