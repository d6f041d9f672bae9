"""Render Markdown as HTML for the reader, with absolute links and proxied images, and sanitise it last.

Content is never trusted. The renderer passes no HTML through, the sanitiser would remove it, and the server's content policy
would not run it. Each of the three is sufficient."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from html import escape, unescape
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin, urlsplit

import nh3
from latex2mathml.converter import convert_to_element
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

from pagekeep.present.renderer import Heading, ImageUrl, Rendered, render_source

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


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
    formulas = state.formulas
    html = _FORMULA.sub(
        lambda mark: formulas[int(mark[1])] if int(mark[1]) < len(formulas) else "", sanitise(html, state.images)
    )
    return Rendered(html, tuple(state.headings))


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
    heading.children = (
        title if any(part.content.strip() for part in title) else [Token("text", "", 0, content=kind.capitalize())]
    )
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


CALLOUT_STYLES: Final = {
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
"""The style of each kind of callout; all others look like notes."""
_FOOTNOTE: Final = re.compile(r"#fn(?:ref)?[0-9]+(?::[0-9]+)?")
_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel"})
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


CODE_CLASSES: Final = frozenset(name for name in STANDARD_TYPES.values() if name)
"""All classes that the highlighter uses."""


_ALLOWED_CLASSES: Final[dict[str, set[str]]] = {
    "a": {"back"},
    "blockquote": {"callout", *CALLOUT_STYLES.values(), "note"},
    "div": {"table"},
    "li": {"task"},
    "p": {"callout-title"},
    "section": {"footnotes"},
    "span": {"done", "open", *CODE_CLASSES},
    "sup": {"footnote-ref"},
    "th": {"left", "right", "center"},
    "td": {"left", "right", "center"},
}
_ID: Final = re.compile(r"section-[0-9]+|fn(?:ref)?[0-9]+(?::[0-9]+)?")


def sanitise(html: str, images: set[str]) -> str:
    """Return the HTML with only safe elements and attributes, and only the given image URLs."""

    def keep(_tag: str, name: str, value: str) -> str | None:
        if name == "id":
            return value if _ID.fullmatch(value) else None
        if name == "src":
            return value if value in images else None
        if name == "href":
            return value if _FOOTNOTE.fullmatch(value) or absolute_url(value, "") else None
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


def absolute_url(url: str, base: str) -> str:
    """Return the absolute URL if its scheme is allowed, an empty string otherwise."""
    try:
        full = urljoin(base, url)
        return full if urlsplit(full).scheme.lower() in _SCHEMES else ""
    except ValueError:
        return ""


MAX_CODE_CHARS: Final = 20_000
"""Longer blocks are not highlighted: a lexer's time on hostile code is unknown."""


_FORMATTER: Final = HtmlFormatter(nowrap=True)
LANGUAGES: Final = frozenset(
    """
    bash bat c c# c++ clj clojure cmake console cpp cs csharp css dart diff docker dockerfile elixir erl erlang ex
    f# fortran fsharp go golang graphql groovy haskell hcl hs html ini java javascript jl js json json5 jsx
    julia kotlin latex less lua make makefile markdown matlab md nginx nix objc objective-c objectivec ocaml
    perl php pl postgres postgresql powershell properties proto protobuf ps1 py pycon python python3 r rb rs ruby rust
    sass scala scss sh shell shell-session sql swift terraform tex tf toml ts tsx typescript udiff vim vue xml
    yaml yml zig zsh
    """.split()
)
"""Languages that are highlighted. Pygments has about 600 lexers, and some of them take quadratic or exponential time (21 KB of
code in `agda` or `androidbp`: 13 s), so a language that a page names is used only if it is in this list."""


def highlight_code(code: str, language: str) -> str:
    """Return the code as HTML, highlighted if the language is in the list and the code is not too long."""
    if len(code) > MAX_CODE_CHARS or language.lower() not in LANGUAGES:
        return escape(code)
    try:
        lexer = get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return escape(code)
    html: str = highlight(code, lexer, _FORMATTER)
    return html if code.endswith("\n") else html.removesuffix("\n")


MAX_FORMULA_CHARS: Final = 4_000
"""Longer formulas are not converted: the converter takes quadratic time at worst."""
MAX_FORMULA_DEPTH: Final = 40
"""Nesting of braces; the converter recurses for each level."""

_MATHML_TAGS: Final = frozenset(
    "math mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts "
    "mprescripts none mtable mtr mtd mpadded mphantom menclose mstyle merror".split()
)
_MATHML_ATTRIBUTES: Final = frozenset(
    "accent accentunder columnalign columnlines columnspacing depth display displaystyle fence form frame height "
    "largeop linethickness lspace mathvariant maxsize minsize movablelimits notation rowlines rowspacing rspace "
    "scriptlevel separator stretchy symmetric voffset width".split()
)
"""The converter also creates `href`, `style`, `class` and `id` from formulas; these are dropped."""


@lru_cache(maxsize=2_000)
def to_mathml(tex: str, *, block: bool) -> str | None:
    """Return the formula as MathML; `None` if it cannot be converted and should be shown as TeX."""
    if len(tex) > MAX_FORMULA_CHARS or _depth(tex) > MAX_FORMULA_DEPTH:
        return None
    try:
        element = convert_to_element(tex, display="block" if block else "inline")
        return _serialise(element)
    except Exception:  # the converter raises various errors for invalid TeX; none should prevent showing the page
        return None


def _depth(tex: str) -> int:
    max_depth = depth = 0
    for char in tex:
        depth += (char == "{") - (char == "}")
        max_depth = max(max_depth, depth)
    return max(max_depth, tex.count("\\left"), tex.count("\\begin"))


def _serialise(element: Element) -> str:
    """Return the element as HTML. Text is escaped here: the converter leaves it as in the formula, `<script>` included."""
    tag = element.tag.rpartition("}")[2]
    content = escape(unescape(element.text or "")) + "".join(
        _serialise(child) + escape(unescape(child.tail or "")) for child in element
    )
    if tag not in _MATHML_TAGS:
        return content
    attributes = "".join(
        f' {name}="{escape(unescape(value))}"' for name, value in element.attrib.items() if name in _MATHML_ATTRIBUTES
    )
    return f"<{tag}{attributes}>{content}</{tag}>"
