"""Subscript and superscript, which Markdown does not have.

Digits, signs and single letters become Unicode's own (`x²`, `H₂O`, `Aᵀ`). Letters behind a digit and trade marks are
written as they are spoken (`1st`, `AcmeTM`). Anything else keeps its place with the sign TeX uses: `x_max`, `2^(n+1)`.
`~x~` is no choice: GitHub strikes it through.
"""

from __future__ import annotations

from typing import Final

_SUPER: Final = dict(
    zip(
        "0123456789+-−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW*°′",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ*°′",
        strict=True,
    )
)
_SUB: Final = dict(zip("0123456789+-−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
_LONGEST: Final = 24


def write_superscript(text: str, before: str) -> str | None:
    """The superscript as plain text behind `before`, or None when it is better left as it is."""
    if text.isalpha() and (before.isdigit() or (len(text) == 2 and text.isupper())):
        return text
    return _script(text, before, _SUPER, "^")


def write_subscript(text: str, before: str) -> str | None:
    """The subscript as plain text behind `before`, or None when it is better left as it is."""
    return _script(text, before, _SUB, "_")


def _script(text: str, before: str, table: dict[str, str], sign: str) -> str | None:
    if not text or len(text) > _LONGEST or not (before.isalnum() or before in ")]}"):
        return None
    letters = sum(map(str.isalpha, text))
    if letters < 2 and all(char in table for char in text):
        return "".join([table[char] for char in text])
    if not any(map(str.isalnum, text)) or not before:
        return None
    return f"{sign}{text}" if text.isalnum() else f"{sign}({text})"
