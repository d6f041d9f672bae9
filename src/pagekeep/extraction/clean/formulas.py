"""Formulas: whatever rendered them or however they were typed, their TeX in a span or a block."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final
from urllib.parse import unquote, unquote_plus

from pagekeep import dom
from pagekeep.extraction.clean.mathml import tex_of
from pagekeep.extraction.clean.state import (
    CleanState,
    Removals,
    ancestors,
    class_names,
    fill,
    first_elements,
    is_blank,
    is_only_child,
    is_tag,
)
from pagekeep.model import Removal
from pagekeep.text import compile_lazily

SOURCES: Final = "[data-latex],[data-tex],[data-math],[data-katex],[data-formula],[data-equation],[data-expr]"
"""Elements that may carry their TeX in an attribute; the other attributes are only read where a class says formula."""


_UNITS: Final = (
    'script[type^="math/"],.katex,mjx-container,.mwe-math-element,math,tex-math,d-math,code.language-math,span.math-tex,.js-render-math,.latex-rendered,'
    ".ql-formula,.MathJax,.MathJax_SVG,.MathJax_CHTML,.mjx-chtml," + SOURCES
)
"""What is one formula."""
_FORMULAS: Final = (
    _UNITS + ",.katex-display,table.ltx_eqn_table,table.ltx_equation,table.ltx_equationgroup,.MathJax_Display"
)
_TAGS: Final = ("math", "mjx-container", "script", "tex-math", "d-math")
_PREFIXED: Final = ("mml:math", "m:math")
_CLASS_PARTS: Final = ("katex", "math", "Math", "ltx_", "latex", "formula", "quation")
"""A page without one of these tags and classes has no formulas; the scripts left are sources of formulas or gists."""
_MAX_ELEMENTS: Final = 5000
"""Elements of a rendered formula; more are a part of the page."""
_MAX_NESTING: Final = 40
"""Levels between a formula and the paragraph around it."""
_RENDERED: Final = compile_lazily(r"MathJax|mjx-|katex")
_DRAWN: Final = frozenset(
    ("MathJax", "MathJax_Display", "MathJax_SVG", "MathJax_SVG_Display", "MathJax_CHTML", "mjx-chtml")
)
_CONTAINERS: Final = _DRAWN | frozenset(
    "katex katex-display mwe-math-element math-tex js-render-math language-math latex-rendered ql-formula".split()
)
_TEX_NOTE: Final = (
    'annotation[encoding="application/x-tex"],annotation[encoding="TeX"],annotation[encoding="application/x-latex"],'
    'annotation[encoding="LaTeX"]'
)
_DRAWN_SOURCES: Final = "mjx-math[data-latex],[data-mml-node=math][data-latex],math[data-latex]"
_TEXTS: Final = frozenset(("span", "tex-math", "d-math", "code", "pre"))
"""Elements whose text is the TeX where nothing else is."""
_HIDDEN_SOURCE: Final = frozenset(("sr-only", "visually-hidden", "screen-reader-text"))


def find_formulas(root: dom.Element) -> list[tuple[dom.Element, str]]:
    """Return the formulas of a page, each once with its TeX, which is empty where no source of it is known."""
    formulas: dict[dom.Node, str] = {}
    for node in dom.select(root, _UNITS):
        after = dom.next_element(node)
        drawn = after is not None and after.tag == "script" and (after.attr("type") or "").startswith("math/")
        if not drawn and not any(above in formulas for above in ancestors(node, _MAX_NESTING)):
            tex = _script_source(node) if node.tag == "script" else _tex_or_mathml(node)
            if tex or _is_container(node):
                formulas[node] = tex
    return [(node, tex) for node, tex in formulas.items() if isinstance(node, dom.Element)]


def mark_formulas(state: CleanState) -> list[Removal]:
    """Turn rendered formulas (MathJax, KaTeX, MathML, images) into their TeX."""
    removals, root = Removals(state.changes), state.root
    has_prefixed = state.index.has_tag(*_PREFIXED)
    if has_prefixed:
        for node in dom.tagged(root, _PREFIXED):
            dom.retag(node, "math")  # its parts are read with any prefix
    if has_prefixed or state.index.has_tag(*_TAGS) or state.index.has_class(*_CLASS_PARTS):
        for number in dom.select(root, ".math .eqno") if state.index.has_class("eqno") else ():
            removals.drop(number, "number of an equation")
        too_big: set[dom.Node] = set()
        for node in dom.select(root, _FORMULAS):
            if node.parent in too_big or len(first_elements(node, _MAX_ELEMENTS)) == _MAX_ELEMENTS:
                too_big.add(node)
            elif _is_below(node, root):
                _mark_formula(node, removals)
    if state.index.has_tag("img"):
        for image in state.index.find("img"):
            if tex := find_image_source(image):
                _write(image, tex, is_displayed(image))
    return removals


def _is_below(node: dom.Element, root: dom.Element) -> bool:
    """Return whether the node is still in the tree and has not been replaced with an outer formula."""
    above: dom.Node | None = node
    for _ in range(_MAX_NESTING):
        if above is None:
            return False
        if above is root or (isinstance(above, dom.Element) and above.tag in ("p", "body", "article", "main")):
            return True
        above = above.parent
    return True


def _mark_formula(node: dom.Element, removals: Removals) -> None:
    names = (node.attr("class") or "").split()
    if node.tag == "table":
        _mark_equation_table(node, removals)
    elif node.tag == "script":
        _mark_script(node)
    elif node.tag not in ("math", "mjx-container") and not _DRAWN.isdisjoint(names):
        _mark_drawing(node)
    else:
        tex = _tex(node)
        block = node.parent if node.tag == "code" and is_tag(node.parent, "pre") else None
        if tex and isinstance(block, dom.Element) and is_only_child(node):
            _write(block, tex, display=True)
        elif tex:
            _write(node, tex, _is_display(node, names))
        elif node.tag == "math":
            removals.drop(node, "formula without a source")


def _write(place: dom.Element, tex: str, display: bool) -> None:
    """Put the formula in its place; the box that hides the source beside a drawing goes too."""
    box = place.parent
    while isinstance(box, dom.Element) and is_only_child(place) and _HIDDEN_SOURCE.intersection(class_names(box)):
        place, box = box, box.parent
    dom.replace(place, formula(tex, display))


def _is_container(node: dom.Element) -> bool:
    """Return whether the element is a formula by its tag or class; others only may have one in their attributes."""
    return node.tag in _TAGS or not _CONTAINERS.isdisjoint(class_names(node))


def _tex(node: dom.Element) -> str:
    if not _is_container(node):
        return tex_in_attributes(node)
    note = dom.first(node, _TEX_NOTE)
    if note is not None and dom.text_of(note).strip():
        return plain_tex(dom.text_of(note))
    if tex := tex_in_attributes(node) or plain_tex(node.attr("alttext") or ""):
        return tex
    if (drawn := dom.first(node, _DRAWN_SOURCES)) is not None:
        return tex_in_attributes(drawn)
    math = node if node.tag == "math" else dom.first(node, "math")
    if math is not None:
        return plain_tex(math.attr("alttext") or "") or tex_of(math)
    image = dom.first(node, "img[alt]")
    if image is not None:
        return plain_tex(image.attr("alt") or "")
    drawn = dom.first(node, "mjx-math,[data-mml-node=math]")
    if drawn is not None:
        return tex_of(drawn)
    return plain_tex(dom.text_of(node)) if node.tag in _TEXTS else ""


def _is_display(node: dom.Element, names: list[str]) -> bool:
    if (
        "katex-display" in names
        or node.attr("display") in ("block", "true")
        or node.attr("data-math-style") == "display"
    ):
        return True
    if node.tag == "div" or node.attr("block") is not None or dom.first(node, ".katex-display") is not None:
        return True
    math = node if node.tag == "math" else dom.first(node, "math")
    if math is not None and math.attr("display") == "block":
        return True
    if dom.first(node, ".mwe-math-fallback-image-display") is not None:
        return True
    parent = node.parent
    if not isinstance(parent, dom.Element):
        return False
    # Wikipedia indents display formulas with `dd`.
    return "katex-display" in (parent.attr("class") or "") or (parent.tag == "dd" and is_only_child(node))


def _mark_script(script: dom.Element) -> None:
    """Replace the script with the source, and what MathJax 2 rendered before it, by the formula."""
    before = script.previous_sibling
    while before is not None:
        earlier = before.previous_sibling
        if isinstance(before, dom.Element) and _RENDERED.search(before.attr("class") or ""):
            dom.drop(before)
        elif not is_blank(before):
            break
        before = earlier
    if tex := _script_source(script):
        _write(script, tex, "mode=display" in (script.attr("type") or ""))


def _script_source(script: dom.Element) -> str:
    """Return the TeX in a script of MathJax."""
    source = dom.first(script, "math")
    if (script.attr("type") or "").startswith("math/mml") and source is None:
        inner = dom.first(dom.parse_fragment(dom.text_of(script)), "math")
        return tex_of(inner) if inner is not None else ""
    return tex_of(source) if source is not None else plain_tex(dom.text_of(script).strip("% \n"))


def _mark_drawing(node: dom.Element) -> None:
    """Replace what MathJax 2 rendered, unless the script after it holds the source."""
    after = dom.next_element(node)
    if after is not None and after.tag == "script" and (after.attr("type") or "").startswith("math/"):
        return
    if tex := _tex_or_mathml(node):
        _write(node, tex, "MathJax_Display" in (node.attr("class") or ""))


def _tex_or_mathml(node: dom.Element) -> str:
    """Return the TeX of a formula, also from the MathML that MathJax 2 keeps in an attribute."""
    tex = _tex(node)
    if not tex and node.attr("data-mathml"):
        inner = dom.first(dom.parse_fragment(node.attr("data-mathml") or ""), "math")
        tex = tex_of(inner) if inner is not None else ""
    return tex


def _mark_equation_table(table: dom.Element, removals: Removals) -> None:
    """Turn each row of an equation table of LaTeXML into a formula."""
    rows: list[dom.Node] = []
    for row in dom.select(table, "tr"):
        formulas = [_tex(math) for math in dom.select(row, "math")]
        tex = " ".join(formula for formula in formulas if formula)
        if tex:
            rows.append(dom.element("div", {"class": "math-block"}, tex))
    if rows:
        removals.record_words(dom.select(table, ".ltx_tag"), "number of an equation")
        removals.note_rebuilt(table)
        dom.replace(table, *rows)


_OPENING: Final = compile_lazily(
    r"\\\(|\\\[|\$\$|\\begin\{(?P<name>equation|align|alignat|gather|multline|eqnarray|displaymath)(?P<star>\*?)\}"
)
_KINDS: Final = {"\\(": ("inline", "\\)", 2_000), "\\[": ("block", "\\]", 4_000), "$$": ("dollars", "$", 4_000)}
"""By opening delimiter: the kind of formula, what closes it, and the most characters in it."""
_MAX_ENVIRONMENT_CHARS: Final = 8_000
_WIDTHS: Final = {"inline": 2, "block": 2, "dollars": 2, "dollar": 1, "environment": 0}
"""Characters of the delimiters, which are left out; those of an environment are part of the formula."""
_BLOCKS: Final = ("$$", "\\[", "\\begin{")
Span = tuple[str, int, int]
"""Kind, start and end of a formula in a text."""
_DOLLAR: Final = compile_lazily(r"\$(?<![\\$\w]\$)(?P<dollar>[^\s$](?:[^$\n]{0,300}?[^\s$\\])?)\$(?![\d$])")
_SURELY_TYPED_TEX: Final = compile_lazily(r"\\[a-zA-Z]{2,}|[\^_]\{|\w[\^_]\w")
_NOT_TEXT: Final = frozenset(("pre", "code", "kbd", "script", "style", "textarea", "samp", "tt"))
_MAX_CODE_DEPTH: Final = 8
"""Boxes around a text that are searched for code."""
MAX_FORMULAS: Final = 20_000
"""Formulas on a page; the rest stays as typed. Each takes about 15 KB of memory while the page is cleaned, and a page of 2 MB
can have 500,000."""


def mark_typed_formulas(state: CleanState) -> None:
    """Turn TeX typed between `$$`, `\\(` or `\\[` into formulas; between single dollars if one is surely TeX."""
    root, text = state.root, dom.text_of(state.root)
    marked = "$$" in text or "\\(" in text or "\\[" in text or "\\begin{" in text
    dollars = "$" in text and ("\\" in text or "^" in text or "_" in text) and _holds_dollar_math(text)
    if not marked and not dollars:
        return
    left = MAX_FORMULAS
    for node in [node for node in dom.nodes(root) if isinstance(node, dom.Text) and _may_hold_tex(node.data)]:
        if left and node.parent is not None and not _is_in_code(node):
            if _join_lines(node):
                left -= 1
                continue
            parts = _parts(node.data, dollars, left)
            left -= sum(not isinstance(part, str) for part in parts)
            if len(parts) > 1 or not isinstance(parts[0], str):
                dom.replace(node, *parts)


def _holds_dollar_math(text: str) -> bool:
    """Return whether some text between single dollars is surely TeX; only then the rest is taken for TeX."""
    return any(_SURELY_TYPED_TEX.search(match["dollar"]) for match in _DOLLAR.finditer(text))


def _may_hold_tex(text: str) -> bool:
    return "$" in text or "\\(" in text or "\\[" in text or "\\begin{" in text


def _is_in_code(node: dom.Node) -> bool:
    around = ancestors(node, _MAX_CODE_DEPTH)
    return any(above.tag in _NOT_TEXT or above.attr("class") in ("math-inline", "math-block") for above in around)


def _parts(text: str, dollars: bool, max_formulas: int) -> list[dom.Node | str]:
    """Return the text with its formulas as elements, up to a number of them."""
    parts: list[dom.Node | str] = []
    end = 0
    spans = list(islice(find_delimited(text), max_formulas))
    if dollars:
        spans = _add_dollars(text, spans)[:max_formulas]
    for kind, start, stop in spans:
        width = _WIDTHS[kind]
        tex = text[start + width : stop - width].strip()
        if not tex:
            continue
        if start > end:
            parts.append(text[end:start])
        alone = len(spans) == 1 and not text[:start].strip() and not text[stop:].strip()
        is_block = kind in ("block", "environment") or (kind == "dollars" and (alone or "\\begin" in tex))
        parts.append(formula(tex, is_block))
        end = stop
    if end < len(text) or not parts:
        parts.append(text[end:])
    return parts


def _add_dollars(text: str, spans: list[Span]) -> list[Span]:
    """Return the formulas with those between single dollars in the text between them."""
    found: list[Span] = []
    end = 0
    for span in (*spans, ("", len(text), len(text))):
        if "$" in text[end : span[1]]:
            found += [("dollar", *match.span()) for match in _DOLLAR.finditer(text, end, span[1])]
        if span[0]:
            found.append(span)
        end = span[2]
    return found


def _join_lines(node: dom.Text) -> bool:
    """Replace the lines of a paragraph that is one formula, with line breaks in it, by the formula."""
    box = node.parent
    if not isinstance(box, dom.Element) or box.tag not in ("p", "div") or not node.data.lstrip().startswith(_BLOCKS):
        return False
    if len(box.children) < 2 or not all(isinstance(part, dom.Text) or is_tag(part, "br") for part in box.children):
        return False
    text = "".join("\n" if is_tag(part, "br") else dom.text_of(part) for part in box.children).strip()
    kind, start, stop = next(find_delimited(text), ("", 0, 0))
    if start or stop != len(text) or not kind:
        return False
    width = _WIDTHS[kind]
    lines = [line.strip() for line in text[width : stop - width].split("\n")]
    fill(box, formula("\n".join(line for line in lines if line), display=True))
    return True


def find_delimited(text: str) -> Iterator[Span]:
    """Yield kind, start and end of every text between TeX delimiters; takes linear time when none of them is closed."""
    closings: dict[str, int] = {}
    """The next place of each closing delimiter, so that no text is searched twice for it."""
    opening = _OPENING.search(text)
    while opening:
        start = opening.start()
        kind, closing, max_chars = _kind(opening)
        first = start + 2 if kind == "dollars" else opening.end() + 1  # a formula has at least one character
        if closings.get(closing, -1) < first:
            found = text.find(closing, first)
            closings[closing] = found if found >= 0 else len(text)
        close = closings[closing]
        is_closed = close < len(text) and 0 < close - start - 2 <= max_chars
        if is_closed and (kind != "dollars" or text.startswith("$$", close)):
            end = close + (2 if kind == "dollars" else len(closing))
            yield kind, start, end
            opening = _OPENING.search(text, end)
        else:
            opening = _OPENING.search(text, start + 1)


def _kind(opening: re.Match[str]) -> tuple[str, str, int]:
    """Return the kind of formula, what closes it, and the most characters in it."""
    if name := opening["name"]:
        return "environment", f"\\end{{{name}{opening['star']}}}", _MAX_ENVIRONMENT_CHARS
    return _KINDS[opening[0]]


def formula(tex: str, display: bool) -> dom.Element:
    """Return the element of a formula, on its own line or within one."""
    tag, name = ("div", "math-block") if display else ("span", "math-inline")
    return dom.element(tag, {"class": name}, tex)


_SURE_CLASSES: Final = frozenset(("latex", "tex", "math", "mathjax", "quicklatex"))
"""Words in the class of an image whose alternative text is always TeX."""
_LIKELY_CLASSES: Final = frozenset(("equation", "eqn", "formula", "eq"))
"""Words in the class of an image that may also have a description in words."""
_MAYBE_NAMED: Final = compile_lazily(r"(?i)tex|math|eq|formula")
_MAYBE_DRAWN: Final = compile_lazily(r"tex\b|codecogs|equation|cht=tx|/math|upmath|mathtex")
_CLASS_WORDS: Final = compile_lazily(r"[a-z]+|[A-Z][a-z]*")
_DOLLARS: Final = compile_lazily(r"(\${1,2})(?=[^\s$]|\s[^$]*[_^=\\])[^$]+\1")
_SERVICE: Final = compile_lazily(
    r"(?:/latex\.php\?(?:[^#]*?&)?latex|//[^/]*zhihu\.com/equation\?tex|/chart\?(?=[^#]*\bcht=tx)(?:[^#]*?&)?chl"
    r"|//render\.githubusercontent\.com/render/math\?(?:[^#]*?&)?math|//math\.vercel\.app/?\?(?:[^#]*?&)?from"
    r"|/equation(?:editor)?/?\?tex)=(?P<value>[^&#]+)"
    r"|//[^/]*codecogs\.com/(?:[\w.]+/)*[\w.]*\?(?P<raw>[^#]+)"
    r"|/(?:mimetex|mathtex)(?:\.cgi)?\?(?P<cgi>[^#]+)"
    r"|//(?:[\w-]+\.)?(?:upmath\.me|s2cms\.ru)/(?:svg|png)/(?P<path>[^?#]+)",
)
"""Addresses of services that draw the TeX in them."""
_MAX_ADDRESS_CHARS: Final = 4000
_LAYOUT: Final = compile_lazily(
    r"\\(?:inline|large|huge|small|tiny|normal|LARGE|Large)(?![a-zA-Z])|\\(?:dpi|bg|fg|fn|color)(?:_\w+|\{[^}]*\})"
)
"""Commands of a service that say how a formula is drawn."""


def find_image_source(image: dom.Element) -> str | None:
    """Return the TeX that an image of a formula shows."""
    alt, names = image.attr("alt"), image.attr("class")
    if alt and (("\\" in alt or "{" in alt or "$" in alt) or (names and _MAYBE_NAMED.search(names))):
        alt = alt.strip()
        if is_surely_tex(alt) or _DOLLARS.fullmatch(alt) or _is_named_formula(names, alt):
            return plain_tex(alt)
    address = image.attr("src")
    if not address or not ("?" in address or "upmath" in address or "s2cms" in address):  # as `_SERVICE` needs it
        return None
    return _read_address(address) if _MAYBE_DRAWN.search(address) else None


def _is_named_formula(names: str | None, alt: str) -> bool:
    """Return whether the image's class says that its alternative text is TeX."""
    words = {word.lower() for word in _CLASS_WORDS.findall(names or "")}
    return not _SURE_CLASSES.isdisjoint(words) or (
        not _LIKELY_CLASSES.isdisjoint(words) and (any(sign in alt for sign in "=<>+^_") or len(alt.split()) == 1)
    )


def is_displayed(image: dom.Element) -> bool:
    """Return whether the image of a formula is a block."""
    alt, names = (image.attr("alt") or "").strip(), class_names(image)
    if "mwe-math-fallback-image-display" in names or alt.startswith(("\\[", "$$")):
        return True
    return is_only_child(image) and image.parent is not None and not _is_line(image.parent)


def _read_address(address: str) -> str | None:
    found = _SERVICE.search(address[:_MAX_ADDRESS_CHARS])
    if found is None:
        return None
    if found["value"]:
        tex = unquote_plus(found["value"])
    else:
        raw = found["raw"] or found["cgi"] or found["path"]
        tex = _LAYOUT.sub(" ", unquote(raw).replace("&space;", " ").replace("\xa0", " "))
    return plain_tex(tex) or None


def _is_line(node: dom.Node) -> bool:
    return isinstance(node, dom.Element) and node.tag not in ("p", "div", "figure", "center", "dd", "td")


_DECLARED: Final = ("data-latex", "data-tex")
"""Attributes that hold nothing but TeX."""
_POSSIBLE: Final = (
    "data-math",
    "data-katex",
    "data-formula",
    "data-equation",
    "data-expr",
    "data-value",
    "data-original",
)
"""Attributes that hold TeX on an element whose class says so, or where the value is surely TeX."""


_NOT_TEX: Final = frozenset(("", "true", "false", "inline", "block", "display", "0", "1", "math", "tex", "latex"))
_MATH_CLASS: Final = compile_lazily(r"(?i)math|katex|latex|formula|equation|(?:^|[\s_-])tex(?:$|[\s_-])")
_SURELY_TEX: Final = compile_lazily(r"\\[a-zA-Z]{2,}|[\^_]\{|\\[({\[]")
_STYLE: Final = compile_lazily(r"\\(?:displaystyle|textstyle)(?![a-zA-Z])\s*")
_DELIMITERS: Final = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))
_DOCUMENT: Final = compile_lazily(r"\\begin\{document\}(.*?)\\end\{document\}", re.S)
_JSON_KEYS: Final = ("persistentExpression", "latex", "tex", "expression", "formula")
_MAX_JSON_CHARS: Final = 20_000


def is_surely_tex(text: str) -> bool:
    """Return whether a text has TeX commands, so that it cannot be words."""
    return _SURELY_TEX.search(text) is not None


def tex_in_attributes(node: dom.Element) -> str:
    """Return the TeX that an element carries in its attributes; empty without any."""
    for name in _DECLARED:
        if (value := (node.attr(name) or "").strip()) and value not in _NOT_TEX:
            return plain_tex(value)
    named = _MATH_CLASS.search(node.attr("class") or "") is not None
    for name in _POSSIBLE:
        value = (node.attr(name) or "").strip()
        if value not in _NOT_TEX and (named or is_surely_tex(value)):
            return plain_tex(value)
    return _tex_in_json(node.attr("data-attrs") or "") if named else ""


def _tex_in_json(data: str) -> str:
    """Return the TeX in the attributes that an editor keeps as JSON."""
    if not data.startswith("{") or len(data) > _MAX_JSON_CHARS:
        return ""
    try:
        values = json.loads(data)
    except ValueError:
        return ""
    found = next((values[key] for key in _JSON_KEYS if isinstance(values.get(key), str)), "")
    return plain_tex(found)


def plain_tex(tex: str) -> str:
    """Return the TeX without delimiters, and without the document or style command that some tools wrap it in."""
    tex = tex.strip()
    if tex.startswith("\\documentclass") and (document := _DOCUMENT.search(tex)):
        tex = document.group(1).strip()
    for opening, closing in _DELIMITERS:
        inner = tex[len(opening) : -len(closing)]
        if tex.startswith(opening) and tex.endswith(closing) and inner and opening not in inner:
            tex = inner.strip()
            break
    if tex.startswith("{") and _STYLE.match(tex[1:].lstrip()) and _closes_at_end(tex):
        tex = tex[1:-1].strip()
    style = _STYLE.match(tex)
    return tex[style.end() :].strip() if style else tex


def _closes_at_end(tex: str) -> bool:
    """Return whether the brace that opens the text is closed by its last character."""
    depth, place = 0, 0
    while place < len(tex):
        character = tex[place]
        if character == "\\":
            place += 1
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if not depth:
                return place == len(tex) - 1
        place += 1
    return False
