"""Formulas for the browser: TeX to MathML, of which only harmless elements and attributes are kept."""

from __future__ import annotations

from functools import lru_cache
from html import escape, unescape
from typing import TYPE_CHECKING, Final

from latex2mathml.converter import convert_to_element

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LONGEST: Final = 4_000
"""Characters of a formula that is typeset; the converter takes the square of them at worst."""
DEEPEST: Final = 40
"""Braces within braces; the converter calls itself for each."""

_TAGS: Final = frozenset(
    "math mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts "
    "mprescripts none mtable mtr mtd mpadded mphantom menclose mstyle merror".split()
)
_ATTRIBUTES: Final = frozenset(
    "accent accentunder columnalign columnlines columnspacing depth display displaystyle fence form frame height "
    "largeop linethickness lspace mathvariant maxsize minsize movablelimits notation rowlines rowspacing rspace "
    "scriptlevel separator stretchy symmetric voffset width".split()
)
"""The converter also makes `href`, `style`, `class` and `id` out of what a formula says: none of them."""


@lru_cache(maxsize=2_000)
def mathml(tex: str, *, block: bool) -> str | None:
    """The formula as MathML; `None` when it cannot be typeset, and is better shown as it is written."""
    if len(tex) > LONGEST or _depth(tex) > DEEPEST:
        return None
    try:
        element = convert_to_element(tex, display="block" if block else "inline")
        return _written(element)
    except Exception:  # the converter has its own errors and lets out others for unfinished TeX: none is worth a page
        return None


def _depth(tex: str) -> int:
    deepest = depth = 0
    for char in tex:
        depth += (char == "{") - (char == "}")
        deepest = max(deepest, depth)
    return max(deepest, tex.count("\\left"), tex.count("\\begin"))


def _written(element: Element) -> str:
    """Text is escaped here: the converter leaves it as the formula had it, `<script>` included."""
    tag = element.tag.rpartition("}")[2]
    inside = escape(unescape(element.text or "")) + "".join(
        _written(child) + escape(unescape(child.tail or "")) for child in element
    )
    if tag not in _TAGS:
        return inside
    attributes = "".join(
        f' {name}="{escape(unescape(value))}"' for name, value in element.attrib.items() if name in _ATTRIBUTES
    )
    return f"<{tag}{attributes}>{inside}</{tag}>"
