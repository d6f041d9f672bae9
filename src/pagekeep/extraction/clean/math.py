"""Formulas: whatever drew them, their TeX in a span or a block."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.census import Census
from pagekeep.extraction.clean.mathml import tex_of
from pagekeep.extraction.clean.vocabulary import class_names, head_of, is_blank, stands_alone

_FORMULAS: Final = (
    'script[type^="math/"],.katex-display,.katex,mjx-container,.mwe-math-element,math,table.ltx_eqn_table,'
    "table.ltx_equation,table.ltx_equationgroup,span.math-tex,[data-latex],[data-tex],.MathJax_Display,.MathJax"
)
_IMAGES: Final = (
    'img[alt*="\\\\"],img.latex,img.tex,img.math,img.mwe-math-fallback-image-inline,img.mwe-math-fallback-image-display'
)
_TAGS: Final = frozenset(("math", "mjx-container", "script"))
_NAMES: Final = ("katex", "MathJax", "mwe-math", "ltx_", "math-tex")
"""Without one of these on the page there is nothing to look for; scripts are there only when they hold a formula."""
_BIGGEST: Final = 5000
"""No formula is drawn with more elements than this."""
_RENDERED: Final = re.compile(r"MathJax|mjx-|katex")
_TEX_NOTE: Final = (
    'annotation[encoding="application/x-tex"],annotation[encoding="TeX"],annotation[encoding="application/x-latex"]'
)
_STYLE: Final = re.compile(r"^\{?\s*\\(?:displaystyle|textstyle)\b\s*(.*?)\s*\}?$", re.S)
_TEX_IN_ALT: Final = re.compile(r"\\[a-zA-Z]{2,}|[\^_]\{|\\[({\[]")
_DELIMITED: Final = re.compile(
    r"\\\((?P<inline>[^\0]{1,2000}?)\\\)|\\\[(?P<block>[^\0]{1,4000}?)\\\]|\$\$(?P<dollars>[^$]{1,4000}?)\$\$"
)
_DOLLAR: Final = re.compile(r"(?<![\\$\w])\$(?P<dollar>[^\s$](?:[^$\n]{0,300}?[^\s$\\])?)\$(?![\d$])")
_SURELY_TEX: Final = re.compile(r"\\[a-zA-Z]{2,}|[\^_]\{|\w[\^_]\w")
_NOT_TEXT: Final = frozenset(("pre", "code", "kbd", "script", "style", "textarea", "samp", "tt"))


def settle_math(root: dom.Element, census: Census) -> None:
    """Turn every formula into its TeX."""
    if census.shows(_TAGS, *_NAMES):
        too_big: set[dom.Node] = set()
        for node in dom.select(root, _FORMULAS):
            if node.parent in too_big or len(head_of(node, _BIGGEST)) == _BIGGEST:
                too_big.add(node)
            elif _is_below(node, root):
                _settle_formula(node)
    if "img" in census.tags:
        for image in dom.select(root, _IMAGES):
            _settle_image(image, class_names(image))
    _settle_written(root, dom.text_of(root))


def _is_below(node: dom.Element, root: dom.Element) -> bool:
    """Whether an outer formula has not taken this one with it. Formulas stand at most a few levels in each other."""
    above: dom.Node | None = node
    for _ in range(40):
        if above is None:
            return False
        if above is root or (isinstance(above, dom.Element) and above.tag in ("p", "body", "article", "main")):
            return True
        above = above.parent
    return True


def _settle_formula(node: dom.Element) -> None:
    names = (node.attr("class") or "").split()
    if node.tag == "table":
        _settle_equation_table(node)
    elif node.tag == "script":
        _settle_script(node)
    elif node.tag not in ("math", "mjx-container") and ("MathJax" in names or "MathJax_Display" in names):
        _settle_drawing(node)
    else:
        tex = _tex(node)
        if tex:
            _write(node, tex, _is_display(node, names))
        elif node.tag == "math":
            dom.drop(node)


def _write(place: dom.Element, tex: str, display: bool) -> None:
    tag, name = ("div", "math-block") if display else ("span", "math-inline")
    dom.replace(place, dom.element(tag, {"class": name}, tex))


def _tex(node: dom.Element) -> str:
    note = dom.first(node, _TEX_NOTE)
    if note is not None and dom.text_of(note).strip():
        return _plain(dom.text_of(note))
    for name in ("data-latex", "data-tex", "alttext"):
        if (node.attr(name) or "").strip():
            return _plain(node.attr(name) or "")
    math = node if node.tag == "math" else dom.first(node, "math")
    if math is not None:
        return _plain(math.attr("alttext") or "") or tex_of(math)
    image = dom.first(node, "img[alt]")
    if image is not None:
        return _plain(image.attr("alt") or "")
    drawn = dom.first(node, "mjx-math,[data-mml-node=math]")
    if drawn is not None:
        return tex_of(drawn)
    return _plain(re.sub(r"^\\[(\[]|\\[)\]]$", "", dom.text_of(node).strip())) if node.tag == "span" else ""


def _plain(tex: str) -> str:
    """TeX without the style command some renderers wrap everything in."""
    tex = tex.strip()
    styled = _STYLE.match(tex)
    return (styled.group(1) if styled else tex).strip()


def _is_display(node: dom.Element, names: list[str]) -> bool:
    if "katex-display" in names or node.attr("display") in ("block", "true"):
        return True
    math = node if node.tag == "math" else dom.first(node, "math")
    if math is not None and math.attr("display") == "block":
        return True
    if dom.first(node, ".mwe-math-fallback-image-display") is not None:
        return True
    parent = node.parent
    if not isinstance(parent, dom.Element):
        return False
    # An encyclopedia indents the formulas that it sets apart.
    return "katex-display" in (parent.attr("class") or "") or (parent.tag == "dd" and stands_alone(node))


def _settle_script(script: dom.Element) -> None:
    """MathJax 2 keeps the source in a script behind what it drew."""
    before = script.previous_sibling
    while before is not None:
        earlier = before.previous_sibling
        if isinstance(before, dom.Element) and _RENDERED.search(before.attr("class") or ""):
            dom.drop(before)
        elif not is_blank(before):
            break
        before = earlier
    kind = script.attr("type") or ""
    source = dom.first(script, "math")
    tex = tex_of(source) if source is not None else _plain(dom.text_of(script).strip("% \n"))
    if kind.startswith("math/mml") and source is None:
        inner = dom.first(dom.parse_fragment(dom.text_of(script)), "math")
        tex = tex_of(inner) if inner is not None else ""
    if tex:
        _write(script, tex, "mode=display" in kind)


def _settle_drawing(node: dom.Element) -> None:
    """What MathJax 2 drew: of use only when no script behind it holds the source."""
    after = dom.next_element(node)
    if after is not None and after.tag == "script" and (after.attr("type") or "").startswith("math/"):
        return
    tex = _tex(node)
    if not tex and node.attr("data-mathml"):
        inner = dom.first(dom.parse_fragment(node.attr("data-mathml") or ""), "math")
        tex = tex_of(inner) if inner is not None else ""
    if tex:
        _write(node, tex, "MathJax_Display" in (node.attr("class") or ""))


def _settle_image(image: dom.Element, names: list[str]) -> None:
    alt = (image.attr("alt") or "").strip()
    named = any(name in ("latex", "tex", "math") or name.startswith("mwe-math") for name in names)
    if not alt or not (named or _TEX_IN_ALT.search(alt)):
        return
    alone = stands_alone(image) and image.parent is not None and not _is_line(image.parent)
    display = "mwe-math-fallback-image-display" in names or alone
    _write(image, _plain(alt.strip("$")), display)


def _is_line(node: dom.Node) -> bool:
    return isinstance(node, dom.Element) and node.tag not in ("p", "div", "figure", "center", "dd", "td")


def _settle_equation_table(table: dom.Element) -> None:
    """LaTeXML sets each equation as a table row, aligned at its cells."""
    rows: list[dom.Node] = []
    for row in dom.select(table, "tr"):
        formulas = [_tex(math) for math in dom.select(row, "math")]
        tex = " ".join(formula for formula in formulas if formula)
        if tex:
            rows.append(dom.element("div", {"class": "math-block"}, tex))
    if rows:
        dom.replace(table, *rows)


# -- TeX written into the text ----------------------------------------------------------------------------------------


def _settle_written(root: dom.Element, text: str) -> None:
    marked = "$$" in text or "\\(" in text or "\\[" in text
    dollars = "$" in text and ("\\" in text or "^" in text or "_" in text) and _holds_dollar_math(text)
    if not marked and not dollars:
        return
    for node in [node for node in dom.nodes(root) if isinstance(node, dom.Text) and _may_hold_tex(node.data)]:
        if not _is_in_code(node):
            parts = _parts(node.data, dollars)
            if len(parts) > 1 or not isinstance(parts[0], str):
                dom.replace(node, *parts)


def _holds_dollar_math(text: str) -> bool:
    """Whether something between single dollars is surely TeX; only then is the rest taken for it."""
    return any(_SURELY_TEX.search(match["dollar"]) for match in _DOLLAR.finditer(text))


def _may_hold_tex(text: str) -> bool:
    return "$" in text or "\\(" in text or "\\[" in text


def _is_in_code(node: dom.Node) -> bool:
    above = node.parent
    for _ in range(8):
        if not isinstance(above, dom.Element):
            return False
        if above.tag in _NOT_TEXT or above.attr("class") in ("math-inline", "math-block"):
            return True
        above = above.parent
    return False


def _parts(text: str, dollars: bool) -> list[dom.Node | str]:
    """The text with its formulas as elements."""
    parts: list[dom.Node | str] = []
    end = 0
    matches = list(_DELIMITED.finditer(text))
    if dollars and not matches:
        matches = list(_DOLLAR.finditer(text))
    for match in matches:
        kind = match.lastgroup or ""
        tex = match[kind].strip()
        if not tex:
            continue
        if match.start() > end:
            parts.append(text[end : match.start()])
        alone = len(matches) == 1 and not text[: match.start()].strip() and not text[match.end() :].strip()
        parts.append(_formula(tex, kind == "block" or (kind == "dollars" and (alone or "\\begin" in tex))))
        end = match.end()
    if end < len(text) or not parts:
        parts.append(text[end:])
    return parts


def _formula(tex: str, display: bool) -> dom.Element:
    return (
        dom.element("div", {"class": "math-block"}, tex)
        if display
        else dom.element("span", {"class": "math-inline"}, tex)
    )
