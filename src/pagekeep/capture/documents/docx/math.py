"""Formulas of a DOCX (Office Math) as TeX: fractions, scripts, roots, sums, brackets, matrices, accents, functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from xml.etree.ElementTree import Element

_MAX_CHARS: Final = 20_000
_GREEK: Final = dict(
    zip(
        "αβγδεζηθικλμνξπρστυφχψωϵϑϕϱϖ",
        "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon varphi chi psi "
        "omega epsilon vartheta phi varrho varpi".split(),
        strict=True,
    )
)
_CAPITALS: Final = dict(
    zip("ΓΔΘΛΞΠΣΥΦΨΩ", "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega".split(), strict=True)
)
_SIGNS: Final = {
    **_GREEK, **_CAPITALS,
    "×": "times", "÷": "div", "±": "pm", "∓": "mp", "⋅": "cdot", "·": "cdot", "≤": "leq", "≥": "geq", "≠": "neq", "≈": "approx",
    "≡": "equiv", "∞": "infty", "∂": "partial", "∇": "nabla", "∈": "in", "∉": "notin", "⊂": "subset", "⊆": "subseteq",
    "∪": "cup", "∩": "cap", "∧": "wedge", "∨": "vee", "¬": "neg", "∀": "forall", "∃": "exists", "→": "to", "←": "leftarrow",
    "⇒": "Rightarrow", "⇔": "Leftrightarrow", "↔": "leftrightarrow", "∑": "sum", "∏": "prod", "∫": "int", "∬": "iint",
    "∮": "oint", "√": "surd", "…": "ldots", "⋯": "cdots", "∝": "propto", "∼": "sim", "≅": "cong", "⊥": "perp", "∥": "parallel",
    "⟨": "langle", "⟩": "rangle", "ℏ": "hbar", "ℓ": "ell", "∘": "circ", "⊕": "oplus", "⊗": "otimes", "∅": "emptyset",
    "{": "{", "}": "}", "%": "%", "&": "&", "#": "#", "$": "$", "_": "_",
}  # fmt: skip
_ACCENTS: Final = {"\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "bar", "\u0307": "dot", "\u0308": "ddot",
                   "\u20d7": "vec", "\u030c": "check", "\u0306": "breve"}  # fmt: skip
_FUNCTIONS: Final = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln exp lim max min sup inf det dim ker gcd".split()
)
_BRACKETS: Final = {"{": r"\{", "}": r"\}", "⟨": r"\langle", "⟩": r"\rangle", "‖": r"\|", "⌊": r"\lfloor", "⌋": r"\rfloor",
                    "⌈": r"\lceil", "⌉": r"\rceil", "": "."}  # fmt: skip
_PROPERTIES: Final = frozenset({"m:rPr", "m:ctrlPr", "w:rPr"})


def to_tex(element: Element) -> str:
    """Return a formula as TeX."""
    return " ".join(_children(element).split())[:_MAX_CHARS]


def _children(element: Element | None) -> str:
    return "".join(map(_convert, element)) if element is not None else ""


def _convert(element: Element) -> str:
    tag = element.tag
    if tag == "m:r":
        return _text(element)
    if tag in _PROPERTIES or tag.endswith("Pr"):
        return ""
    handler = _HANDLERS.get(tag)
    return handler(element) if handler else _children(element)


def _text(run: Element) -> str:
    properties = run.find("m:rPr")
    text = "".join(one.text or "" for one in run if one.tag in ("m:t", "w:t"))
    is_plain = properties is not None and (properties.find("m:nor") is not None or _value(properties, "m:sty") == "p")
    if text.strip() in _FUNCTIONS:
        return f"\\{text.strip()} "
    if is_plain and len(text.strip()) > 1 and text.strip().isalpha():
        return f"\\text{{{text}}}"
    return "".join(_sign(char) for char in text)


def _sign(char: str) -> str:
    found = _SIGNS.get(char)
    if found is None:
        return {"\\": r"\backslash ", "−": "-", "~": r"\sim ", "^": r"\hat{}"}.get(char, char)
    return f"\\{found} " if found.isalpha() else f"\\{found}"


def _value(element: Element | None, name: str, default: str = "") -> str:
    found = element.find(name) if element is not None else None
    return found.get("m:val", default) if found is not None else default


def _part(element: Element, name: str) -> str:
    return _children(element.find(name)).strip()


def _fraction(element: Element) -> str:
    kind = _value(element.find("m:fPr"), "m:type")
    over, under = _part(element, "m:num"), _part(element, "m:den")
    if kind == "lin":
        return f"{over}/{under}"
    return f"\\binom{{{over}}}{{{under}}}" if kind == "noBar" else f"\\frac{{{over}}}{{{under}}}"


def _scripts(element: Element) -> str:
    under, over = _part(element, "m:sub"), _part(element, "m:sup")
    base = _part(element, "m:e")
    base = base if len(base) <= 1 or (base.startswith("\\") and base[1:].isalpha()) else f"{{{base}}}"
    return base + (f"_{{{under}}}" if under else "") + (f"^{{{over}}}" if over else "")


def _scripts_before(element: Element) -> str:
    return f"{{}}_{{{_part(element, 'm:sub')}}}^{{{_part(element, 'm:sup')}}}{_part(element, 'm:e')}"


def _root(element: Element) -> str:
    degree = _part(element, "m:deg")
    return f"\\sqrt{f'[{degree}]' if degree else ''}{{{_part(element, 'm:e')}}}"


def _large_operator(element: Element) -> str:
    sign = _value(element.find("m:naryPr"), "m:chr", "∫")
    under, over = _part(element, "m:sub"), _part(element, "m:sup")
    limits = (f"_{{{under}}}" if under else "") + (f"^{{{over}}}" if over else "")
    return f"{_sign(sign).strip()}{limits} {_part(element, 'm:e')}"


def _brackets(element: Element) -> str:
    about = element.find("m:dPr")
    begin, end = _value(about, "m:begChr", "("), _value(about, "m:endChr", ")")
    inner = f" {_value(about, 'm:sepChr', '|')} ".join(_children(one).strip() for one in element.findall("m:e"))
    return f"\\left{_BRACKETS.get(begin, begin)} {inner} \\right{_BRACKETS.get(end, end)}"


def _function(element: Element) -> str:
    name = _part(element, "m:fName")
    sign = "\\" if name in _FUNCTIONS else ""
    return f"{sign}{name} {_part(element, 'm:e')}"


def _accent(element: Element) -> str:
    sign = _value(element.find("m:accPr"), "m:chr", "\u0302")
    return f"\\{_ACCENTS.get(sign, 'hat')}{{{_part(element, 'm:e')}}}"


def _bar(element: Element) -> str:
    place = _value(element.find("m:barPr"), "m:pos", "bot")
    return f"\\{'overline' if place == 'top' else 'underline'}{{{_part(element, 'm:e')}}}"


def _limit(element: Element) -> str:
    sign = "_" if element.tag == "m:limLow" else "^"
    return f"{_part(element, 'm:e')}{sign}{{{_part(element, 'm:lim')}}}"


def _matrix(element: Element) -> str:
    rows = (" & ".join(_children(cell).strip() for cell in row.findall("m:e")) for row in element.findall("m:mr"))
    inner = " \\\\ ".join(rows)
    return f"\\begin{{matrix}} {inner} \\end{{matrix}}"


def _equations(element: Element) -> str:
    rows = " \\\\ ".join(_children(row).strip() for row in element.findall("m:e"))
    return f"\\begin{{aligned}} {rows} \\end{{aligned}}"


_HANDLERS: Final[dict[str, Callable[[Element], str]]] = {
    "m:f": _fraction,
    "m:sSup": _scripts,
    "m:sSub": _scripts,
    "m:sSubSup": _scripts,
    "m:sPre": _scripts_before,
    "m:rad": _root,
    "m:nary": _large_operator,
    "m:d": _brackets,
    "m:func": _function,
    "m:acc": _accent,
    "m:bar": _bar,
    "m:limLow": _limit,
    "m:limUpp": _limit,
    "m:m": _matrix,
    "m:eqArr": _equations,
}
