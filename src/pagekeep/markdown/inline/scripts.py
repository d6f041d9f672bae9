"""Write subscripts and superscripts, which Markdown does not have.

Digits, signs and single letters become Unicode characters (`x²`, `H₂O`, `Aᵀ`). Letters after a digit and trade marks
are written as they are (`1st`, `AcmeTM`). Anything else is written as in TeX: `x_max`, `2^(n+1)`. `~x~` is not an
option: GitHub strikes it through.
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
_MAX_CHARS: Final = 24
"""A longer script is a text that the page only shows smaller."""


def write_superscript(text: str, before: str) -> str | None:
    """Return the superscript as plain text after `before`, or None to write it as it is."""
    if text.isalpha() and (before.isdigit() or (len(text) == 2 and text.isupper())):
        return text
    return _script(text, before, _SUPER, "^")


def write_subscript(text: str, before: str) -> str | None:
    """Return the subscript as plain text after `before`, or None to write it as it is."""
    return _script(text, before, _SUB, "_")


def _script(text: str, before: str, table: dict[str, str], sign: str) -> str | None:
    if not text or len(text) > _MAX_CHARS or not (before.isalnum() or before in ")]}"):
        return None
    letters = sum(map(str.isalpha, text))
    if letters < 2 and all(char in table for char in text):
        return "".join([table[char] for char in text])
    if not any(map(str.isalnum, text)) or not before:
        return None
    return f"{sign}{text}" if text.isalnum() else f"{sign}({text})"
