"""Presentation MathML, and MathJax's rendering of it, as TeX."""

from __future__ import annotations

import unicodedata
from typing import Final

from pagekeep import dom

_MAX_DEPTH: Final = 60
"""Deeper parts of a formula are written as plain text: the conversion is recursive."""
_NAMES: Final = (
    "α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota κ kappa λ "
    "lambda μ mu ν nu ξ xi π pi ρ rho ϱ varrho σ sigma ς varsigma τ tau υ upsilon φ varphi ϕ phi χ chi ψ psi ω "
    "omega Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega ∑ sum ∏ prod ∫ int ∬ "
    "iint ∮ oint ∂ partial ∇ nabla ∞ infty ± pm ∓ mp × times ÷ div ⋅ cdot · cdot ∗ ast ∘ circ ≤ leq ≥ geq ≠ neq ≈ "
    "approx ≡ equiv ∼ sim ≃ simeq ≅ cong ∝ propto ≪ ll ≫ gg ∈ in ∉ notin ∋ ni ⊂ subset ⊃ supset ⊆ subseteq ⊇ "
    "supseteq ∪ cup ∩ cap ∅ emptyset ∀ forall ∃ exists ¬ neg ∧ wedge ∨ vee ⊕ oplus ⊗ otimes ⊥ perp ∥ parallel ∠ "
    "angle → to ← leftarrow ↔ leftrightarrow ⇒ Rightarrow ⇐ Leftarrow ⇔ Leftrightarrow ↦ mapsto ↑ uparrow ↓ "
    "downarrow … ldots ⋯ cdots ⋮ vdots ⋱ ddots ′ prime ℓ ell ℏ hbar ℜ Re ℑ Im ℵ aleph ⟨ langle ⟩ rangle ⌊ lfloor "
    "⌋ rfloor ⌈ lceil ⌉ rceil ∖ setminus ⊢ vdash ⊨ models ℝ mathbb{R} ℕ mathbb{N} ℤ mathbb{Z} ℚ mathbb{Q} ℂ "
    "mathbb{C} ⋆ star † dagger ‡ ddagger ≜ triangleq ∣ mid ‖ |"
).split()
_COMMANDS: Final = {character: f"\\{name}" for character, name in zip(_NAMES[::2], _NAMES[1::2], strict=True)}
_ESCAPED: Final = {
    "{": "\\{",
    "}": "\\}",
    "%": "\\%",
    "&": "\\&",
    "#": "\\#",
    "$": "\\$",
    "_": "\\_",
    "\\": "\\backslash",
}
_FUNCTIONS: Final = frozenset(
    (
        "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp det dim ker lim sup inf max "
        "min arg gcd deg Pr hom liminf limsup"
    ).split()
)
_WITH_LIMITS: Final = frozenset("sum prod int iint oint lim max min sup inf cup cap liminf limsup".split())
_INVISIBLE: Final = frozenset("\u2061\u2062\u2063\u2064\u200b")
_ACCENTS: Final = {
    "^": "hat", "ˆ": "hat", "~": "tilde", "˜": "tilde", "¯": "bar", "‾": "overline", "_": "bar", "→": "vec", "⃗": "vec",
    "˙": "dot", "¨": "ddot", "ˇ": "check", "˘": "breve", "⏞": "overbrace",
}  # fmt: skip
_DRAWN_LIMITS: Final = {
    "mjx-munderover": ("mjx-base", "mjx-under", "mjx-over"),
    "mjx-munder": ("mjx-base", "mjx-under"),
    "mjx-mover": ("mjx-base", "mjx-over"),
}
_VARIANTS: Final = {
    "bold": "mathbf",
    "double-struck": "mathbb",
    "script": "mathcal",
    "fraktur": "mathfrak",
    "normal": "mathrm",
}


def tex_of(node: dom.Element) -> str:
    """Return the formula as TeX."""
    return " ".join(_tex(node, 0).split())


def _tex(node: dom.Node, depth: int) -> str:
    if isinstance(node, dom.Text):
        return _characters(node.data)
    if not isinstance(node, dom.Element):
        return ""
    if depth > _MAX_DEPTH:
        return _characters(dom.text_of(node))
    name = node.attr("data-mml-node") or node.tag.rpartition(":")[2].removeprefix("mjx-")
    if name in ("mi", "mn", "mo", "mtext", "ms"):
        return _token(node, name)
    if name in ("annotation", "annotation-xml", "mphantom", "mspace", "none", "mprescripts", "assistive-mml"):
        return " "
    parts = [_tex(child, depth + 1) for child in _parts(node)]
    return _STRUCTURES.get(name, _row)(node, parts)


def _parts(node: dom.Element) -> list[dom.Element]:
    """Return the parts of a formula in MathML's order, whatever order they are rendered in."""
    parts = [child for child in node.children if isinstance(child, dom.Element)]
    if node.tag == "mjx-msubsup" and len(parts) == 2:
        scripts = [child for child in parts[1].children if isinstance(child, dom.Element) and child.tag != "mjx-spacer"]
        return [parts[0], *reversed(scripts)]
    drawn = _DRAWN_LIMITS.get(node.tag)
    if drawn:
        limits = [dom.first(node, name) for name in drawn]
        return [part for part in limits if part is not None]
    return parts


def _token(node: dom.Element, name: str) -> str:
    text = _token_text(node).strip()
    if name == "mtext" or name == "ms":
        return f"\\text{{{text}}}" if text else " "
    if name == "mi" and len(text) > 1 and text.isalpha():
        return f"\\{text} " if text in _FUNCTIONS else f"\\mathrm{{{text}}}"
    tex = _characters(text)
    variant = _VARIANTS.get(node.attr("mathvariant") or "")
    if variant and name == "mi" and text.isalpha() and variant != "mathrm":
        return f"\\{variant}{{{tex.strip()}}}"
    return f" {tex} " if name == "mo" and tex.strip() not in ("(", ")", "[", "]", "|", ",", "!", "\\{", "\\}") else tex


def _token_text(node: dom.Element) -> str:
    """Return the token's characters; MathJax may name them only by code point."""
    text = dom.text_of(node)
    if not text.strip():
        codes = [_code(leaf) for leaf in dom.elements(node)]
        text = "".join(chr(code) for code in codes if code)
    return unicodedata.normalize("NFKC", text) if any(ord(character) >= 0x1D400 for character in text) else text


def _code(leaf: dom.Element) -> int:
    digits = leaf.attr("data-c") or ""
    for name in (leaf.attr("class") or "").split():
        if name.startswith("mjx-c") and not digits:
            digits = name[5:]
    try:
        code = int(digits, 16)
    except ValueError:
        return 0
    return code if 0x20 < code < 0x110000 and not 0xD800 <= code < 0xE000 else 0


def _characters(text: str) -> str:
    out: list[str] = []
    for character in text:
        if character in _COMMANDS:
            out.append(f"{_COMMANDS[character]} ")
        elif character in _ESCAPED:
            out.append(_ESCAPED[character])
        elif character == "−":
            out.append("-")
        elif character not in _INVISIBLE:
            out.append(character)
    return "".join(out)


# -- structures -------------------------------------------------------------------------------------------------------


def _at(parts: list[str], index: int) -> str:
    return parts[index].strip() if index < len(parts) else ""


def _row(_node: dom.Element, parts: list[str]) -> str:
    return "".join(part if part.endswith(" ") else f"{part} " for part in parts)


def _fraction(node: dom.Element, parts: list[str]) -> str:
    if node.attr("linethickness") == "0":
        return f"\\binom{{{_at(parts, 0)}}}{{{_at(parts, 1)}}}"
    return f"\\frac{{{_at(parts, 0)}}}{{{_at(parts, 1)}}}"


def _drawn_fraction(node: dom.Element, parts: list[str]) -> str:
    """Return a fraction of MathJax, whose numerator and denominator may be one group already."""
    if len(parts) > 1:
        return _fraction(node, parts)
    return _row(node, parts)


def _drawn_frac(_node: dom.Element, parts: list[str]) -> str:
    return f"\\frac{{{_at(parts, 0)}}}{{{_at(parts, 1)}}}"


def _root(_node: dom.Element, parts: list[str]) -> str:
    return f"\\sqrt[{_at(parts, 1)}]{{{_at(parts, 0)}}}"


def _square_root(node: dom.Element, parts: list[str]) -> str:
    inner = _row(node, parts).strip()
    return inner if inner.startswith("\\sqrt") else f"\\sqrt{{{inner}}}"


def _drawn_square_root(node: dom.Element, parts: list[str]) -> str:
    return f"\\sqrt{{{_row(node, parts[1:]).strip()}}}"


def _sup(_node: dom.Element, parts: list[str]) -> str:
    return f"{_base(parts)}^{{{_at(parts, 1)}}}"


def _sub(_node: dom.Element, parts: list[str]) -> str:
    return f"{_base(parts)}_{{{_at(parts, 1)}}}"


def _subsup(_node: dom.Element, parts: list[str]) -> str:
    return f"{_base(parts)}_{{{_at(parts, 1)}}}^{{{_at(parts, 2)}}}"


def _base(parts: list[str]) -> str:
    """Return what carries a script; a group if it is more than one symbol."""
    base = _at(parts, 0)
    return base if len(base) < 2 or (base.startswith("\\") and " " not in base) or base.isdigit() else f"{{{base}}}"


def _over(_node: dom.Element, parts: list[str]) -> str:
    accent = _at(parts, 1)
    name = _ACCENTS.get(accent) or ("vec" if accent == "\\to" else "")
    if name:
        return f"\\{name}{{{_at(parts, 0)}}}"
    return f"\\overset{{{accent}}}{{{_at(parts, 0)}}}" if not _takes_limits(parts) else f"{_at(parts, 0)}^{{{accent}}}"


def _under(_node: dom.Element, parts: list[str]) -> str:
    if _takes_limits(parts):
        return f"{_at(parts, 0)}_{{{_at(parts, 1)}}}"
    return f"\\underset{{{_at(parts, 1)}}}{{{_at(parts, 0)}}}"


def _takes_limits(parts: list[str]) -> bool:
    return _at(parts, 0).lstrip("\\") in _WITH_LIMITS


def _underover(_node: dom.Element, parts: list[str]) -> str:
    return f"{_at(parts, 0)}_{{{_at(parts, 1)}}}^{{{_at(parts, 2)}}}"


def _table(_node: dom.Element, parts: list[str]) -> str:
    return "\\begin{matrix} " + " \\\\ ".join(part.strip() for part in parts) + " \\end{matrix}"


def _cells(_node: dom.Element, parts: list[str]) -> str:
    return " & ".join(part.strip() for part in parts)


def _fenced(node: dom.Element, parts: list[str]) -> str:
    opening, closing = node.attr("open"), node.attr("close")
    inner = ", ".join(part.strip() for part in parts)
    return (
        f"{_characters('(' if opening is None else opening)}{inner}{_characters(')' if closing is None else closing)}"
    )


def _first(_node: dom.Element, parts: list[str]) -> str:
    return _at(parts, 0)


_STRUCTURES: Final = {
    "mfrac": _drawn_fraction,
    "frac": _drawn_frac,
    "msqrt": _square_root,
    "sqrt": _drawn_square_root,
    "mroot": _root,
    "msup": _sup,
    "msub": _sub,
    "msubsup": _subsup,
    "mover": _over,
    "munder": _under,
    "munderover": _underover,
    "mtable": _table,
    "mtr": _cells,
    "mlabeledtr": _cells,
    "mfenced": _fenced,
    "semantics": _first,
    "maction": _first,
}
