"""Formulas: whatever rendered them, their TeX in a span or a block."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.math.mathml import tex_of
from pagekeep.extraction.clean.math.pictures import find_image_source, is_displayed
from pagekeep.extraction.clean.math.source import SOURCES, plain_tex, tex_in_attributes
from pagekeep.extraction.clean.math.typed import formula
from pagekeep.extraction.clean.state import CleanState, Removals
from pagekeep.extraction.clean.vocabulary import ancestors, class_names, first_elements, is_blank, is_only_child, is_tag
from pagekeep.model import Removal
from pagekeep.text import compile_lazily

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
        _rename_prefixed(root)
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


def _rename_prefixed(root: dom.Element) -> None:
    """Turn `mml:math` into `math`; its parts are read with any prefix."""
    for node in dom.tagged(root, _PREFIXED):
        dom.retag(node, "math")


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
