"""Pictures of formulas: their TeX, from the alternative text or from the address of the service that draws them."""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote, unquote_plus

from pagekeep import dom
from pagekeep.extraction.clean.math.source import is_surely_tex, plain_tex
from pagekeep.extraction.clean.vocabulary import class_names, is_only_child
from pagekeep.text import compile_lazily

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
    return not _SURE_CLASSES.isdisjoint(words) or (not _LIKELY_CLASSES.isdisjoint(words) and _is_short(alt))


def is_displayed(image: dom.Element) -> bool:
    """Return whether the image of a formula is a block."""
    alt, names = (image.attr("alt") or "").strip(), class_names(image)
    if "mwe-math-fallback-image-display" in names or alt.startswith(("\\[", "$$")):
        return True
    return is_only_child(image) and image.parent is not None and not _is_line(image.parent)


def _is_short(alt: str) -> bool:
    """Return whether a text is symbols and not a description."""
    return any(sign in alt for sign in "=<>+^_") or len(alt.split()) == 1


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
