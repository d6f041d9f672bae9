"""Render Markdown as HTML for the reader, with absolute links and proxied images, and sanitise it last.

Content is never trusted. The renderer passes no HTML through, the sanitiser would remove it, and the server's content policy
would not run it. Each of the three is sufficient.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from pagekeep.present.code_colours import highlight_code
from pagekeep.present.formulas import to_mathml
from pagekeep.present.rendered import Heading, ImageUrl, Rendered, render_source
from pagekeep.present.sanitise_html import CALLOUT_STYLES, absolute_url, sanitise

MAX_CHARS: Final = 1_000_000
"""Longer texts are shown as source: hostile text takes a second per 100,000 characters."""
MAX_HIGHLIGHTED_CHARS: Final = 300_000
"""Characters of code that are highlighted on one page."""

_CALLOUT: Final = re.compile(r"\[!([A-Za-z][A-Za-z-]{0,30})\][+-]?[ \t]*")
_FORMULA: Final = re.compile(r'<data value="([0-9]{1,7})"></data>')


@dataclass(slots=True)
class _State:
    """Collected while one page is rendered."""

    base: str
    image_url: ImageUrl | None
    headings: list[Heading] = field(default_factory=list)
    images: set[str] = field(default_factory=set)
    formulas: list[str] = field(default_factory=list)
    highlighted: int = 0


def render(markdown: str, *, base: str = "", title: str = "", image_url: ImageUrl | None = None) -> Rendered:
    """Return the Markdown as safe HTML.

    `base` is the page's URL, for relative links. A first heading that repeats the `title` is left out. Without `image_url`,
    images keep their URLs.
    """
    if len(markdown) > MAX_CHARS:
        return render_source(markdown, "This page is too long to render, so it is shown as Markdown source.")
    markdown = markdown.encode("utf-8", "replace").decode()  # lone surrogates cannot be shown
    state = _State(base, image_url)
    try:
        tokens = _renderer().parse(markdown)
    except RecursionError:
        return render_source(markdown, "This page is nested too deeply to render, so it is shown as Markdown source.")
    tokens = _without_title(tokens, title)
    _name_headings(tokens, state)
    for change in (_figures, _callouts, _tasks):
        tokens = list(change(tokens))
    for token in tokens:
        if token.type in ("th_open", "td_open"):
            _align(token)
        _resolve_urls(token.children or (), state)
    html: str = _renderer().renderer.render(tokens, _renderer().options, {"state": state})
    return Rendered(_insert_formulas(sanitise(html, state.images), state.formulas), tuple(state.headings))


@cache
def _renderer() -> MarkdownIt:
    parser = (
        MarkdownIt("commonmark", {"html": False})
        .enable(["table", "strikethrough"])
        .use(footnote_plugin)
        .use(dollarmath_plugin, allow_space=False, allow_digits=False, allow_labels=False)
    )
    parser.add_render_rule("math_inline", _formula)
    parser.add_render_rule("math_block", _formula)
    parser.add_render_rule("fence", _code)
    parser.add_render_rule("code_block", _code)
    parser.add_render_rule("table_open", lambda *_: '<div class="table"><table>')
    parser.add_render_rule("table_close", lambda *_: "</table></div>")
    parser.add_render_rule("footnote_block_open", lambda *_: '<section class="footnotes"><ol>')
    parser.add_render_rule("footnote_block_close", lambda *_: "</ol></section>")
    parser.add_render_rule("footnote_ref", _footnote_reference)
    parser.add_render_rule("footnote_anchor", _footnote_back_link)
    parser.add_render_rule("raw", lambda _self, tokens, index, *_: tokens[index].content)
    return parser


# Render rules


def _formula(_self: Any, tokens: Sequence[Token], index: int, _options: Any, env: dict[str, Any]) -> str:
    """Return a placeholder for the formula, which is inserted after sanitising: its MathML is made safe separately."""
    token, state = tokens[index], env["state"]
    block = token.type == "math_block"
    converted = to_mathml(token.content.strip(), block=block)
    html = converted or f'<code class="tex">{escape(token.content)}</code>'
    state.formulas.append(f'<div class="formula">{html}</div>' if block else html)
    return f'<data value="{len(state.formulas) - 1}"></data>'


def _code(_self: Any, tokens: Sequence[Token], index: int, _options: Any, env: dict[str, Any]) -> str:
    token, state = tokens[index], env["state"]
    language = token.info.strip().partition(" ")[0]
    state.highlighted += len(token.content)
    within_limit = state.highlighted <= MAX_HIGHLIGHTED_CHARS
    code = highlight_code(token.content, language) if within_limit else escape(token.content)
    label = f' data-language="{escape(language)}"' if language else ""
    return f"<pre{label}><code>{code}</code></pre>\n"


def _footnote_reference(_self: Any, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    number, again = int(tokens[index].meta["id"]) + 1, int(tokens[index].meta["subId"])
    anchor = f"fnref{number}" + (f":{again}" if again else "")
    return f'<sup class="footnote-ref"><a href="#fn{number}" id="{anchor}">{number}</a></sup>'


def _footnote_back_link(_self: Any, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    number, again = int(tokens[index].meta["id"]) + 1, int(tokens[index].meta["subId"])
    anchor = f"fnref{number}" + (f":{again}" if again else "")
    return f' <a href="#{anchor}" class="back" aria-label="Back to the text">↩\ufe0e</a>'


# Changes to the tokens before rendering


def _without_title(tokens: list[Token], title: str) -> list[Token]:
    """Remove the first heading if it repeats the title; an image may precede it."""
    for index, token in enumerate(tokens[:8]):
        if token.type == "heading_open" and token.tag == "h1":
            if " ".join(_text(tokens[index + 1]).split()) == " ".join(title.split()):
                return [*tokens[:index], *tokens[index + 3 :]]
            return tokens
    return tokens


def _name_headings(tokens: list[Token], state: _State) -> None:
    """Give headings our own IDs, and shift their levels so that the page's title is the only h1."""
    opened = [index for index, token in enumerate(tokens) if token.type == "heading_open"]
    shift = 1 if any(tokens[index].tag == "h1" for index in opened) else 0
    for number, index in enumerate(opened, start=1):
        level = min(6, int(tokens[index].tag[1]) + shift)
        tokens[index].tag = tokens[index + 2].tag = f"h{level}"
        tokens[index].attrSet("id", f"section-{number}")
        if text := " ".join(_text(tokens[index + 1]).split()):
            state.headings.append(Heading(level, f"section-{number}", text))


def _text(inline: Token) -> str:
    return "".join(
        child.content if child.type in ("text", "code_inline", "math_inline") else " " * (child.type == "softbreak")
        for child in inline.children or ()
    )


def _figures(tokens: list[Token]) -> Iterator[Token]:
    """Turn a paragraph that is one image, and the caption in italics after it, into a figure."""
    index = 0
    while index < len(tokens):
        if not _is_paragraph(tokens, index) or not _is_image(tokens[index + 1]):
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


def _is_image(inline: Token) -> bool:
    kinds = [child.type for child in inline.children or ()]
    return kinds in (["image"], ["link_open", "image", "link_close"])


def _is_caption(inline: Token) -> bool:
    """Return whether the whole line is in one pair of asterisks."""
    parts = inline.children or []
    if len(parts) < 3 or parts[0].type != "em_open" or parts[-1].type != "em_close":
        return False
    level = parts[0].level
    return not any(part.type == "em_close" and part.level == level for part in parts[1:-1])


def _callouts(tokens: list[Token]) -> Iterator[Token]:
    """Turn quotes that begin with `[!note]` into callouts."""
    for index, token in enumerate(tokens):
        if token.type == "blockquote_open" and index + 2 < len(tokens) and tokens[index + 1].type == "paragraph_open":
            first = _first_text(tokens[index + 2])
            match = _CALLOUT.match(first.content) if first else None
            if first and match:
                first.content = first.content[match.end() :]
                kind = CALLOUT_STYLES.get(match[1].lower(), "note")
                token.attrSet("class", f"callout {kind}")
                yield token
                yield from _callout_title(tokens[index + 2], match[1])
                continue
        yield token


def _callout_title(inline: Token, kind: str) -> Iterator[Token]:
    """Yield the callout's title: the rest of its first line, or the name of its kind."""
    parts = inline.children or []
    breaks = next((place for place, part in enumerate(parts) if part.type in ("softbreak", "hardbreak")), len(parts))
    title, rest = parts[:breaks], parts[breaks + 1 :]
    heading = Token("inline", "", 0)
    heading.children = title if any(part.content.strip() for part in title) else [_text_token(kind.capitalize())]
    inline.children = rest
    yield _raw('<p class="callout-title">')
    yield heading
    yield _raw("</p>")


def _tasks(tokens: list[Token]) -> Iterator[Token]:
    """Turn list items that begin with `[ ]` or `[x]` into tasks, with a labelled box that is not a form field."""
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


def _text_token(text: str) -> Token:
    return Token("text", "", 0, content=text)


def _align(cell: Token) -> None:
    """Align a cell by class: the content policy blocks inline styles."""
    side = str(cell.attrs.pop("style", "")).removeprefix("text-align:")
    if side:
        cell.attrSet("class", side)


def _resolve_urls(parts: Sequence[Token], state: _State) -> None:
    """Make links absolute and replace image URLs; remove all other URLs."""
    for place, part in enumerate(parts):
        if part.type == "link_open":
            href = absolute_url(str(part.attrGet("href") or ""), state.base)
            part.attrs = {"href": href} if href else {}
            if href and parts[place + 1].type == "image" and not parts[place + 1].content:
                part.attrSet("aria-label", "Picture")  # screen readers need a name for the link
        elif part.type == "image":
            _resolve_image(part, state)


def _resolve_image(part: Token, state: _State) -> None:
    src = absolute_url(str(part.attrGet("src") or ""), state.base)
    if not src.startswith(("http://", "https://")):
        part.type = "text"  # shows the alternative text, which is already its content
        return
    url = state.image_url(src) if state.image_url else src
    state.images.add(url)
    part.attrSet("src", url)
    part.attrSet("loading", "lazy")
    part.attrSet("decoding", "async")


def _insert_formulas(html: str, formulas: list[str]) -> str:
    return _FORMULA.sub(lambda mark: formulas[int(mark[1])] if int(mark[1]) < len(formulas) else "", html)
