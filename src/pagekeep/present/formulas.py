"""Convert TeX formulas to MathML, keeping only safe elements and attributes."""

from __future__ import annotations

from functools import lru_cache
from html import escape, unescape
from typing import TYPE_CHECKING, Final

from latex2mathml.converter import convert_to_element

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_CHARS: Final = 4_000
"""Longer formulas are not converted: the converter takes quadratic time at worst."""
MAX_DEPTH: Final = 40
"""Nesting of braces; the converter recurses for each level."""

_TAGS: Final = frozenset(
    "math mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts "
    "mprescripts none mtable mtr mtd mpadded mphantom menclose mstyle merror".split()
)
_ATTRIBUTES: Final = frozenset(
    "accent accentunder columnalign columnlines columnspacing depth display displaystyle fence form frame height "
    "largeop linethickness lspace mathvariant maxsize minsize movablelimits notation rowlines rowspacing rspace "
    "scriptlevel separator stretchy symmetric voffset width".split()
)
"""The converter also creates `href`, `style`, `class` and `id` from formulas; these are dropped."""


@lru_cache(maxsize=2_000)
def to_mathml(tex: str, *, block: bool) -> str | None:
    """Return the formula as MathML; `None` if it cannot be converted and should be shown as TeX."""
    if len(tex) > MAX_CHARS or _depth(tex) > MAX_DEPTH:
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
    if tag not in _TAGS:
        return content
    attributes = "".join(
        f' {name}="{escape(unescape(value))}"' for name, value in element.attrib.items() if name in _ATTRIBUTES
    )
    return f"<{tag}{attributes}>{content}</{tag}>"
