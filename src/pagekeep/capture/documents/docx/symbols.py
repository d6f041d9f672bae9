"""Characters of the fonts Symbol and Wingdings, which do not have their places in Unicode."""

from __future__ import annotations

from typing import Final

_LETTERS: Final = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
_SMALL: Final = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
_SYMBOL: Final = {
    **{0x41 + place: letter for place, letter in enumerate(_LETTERS)},
    **{0x61 + place: letter for place, letter in enumerate(_SMALL)},
    0xA3: "≤", 0xA5: "∞", 0xAB: "↔", 0xAC: "←", 0xAE: "→", 0xB0: "°", 0xB1: "±", 0xB3: "≥", 0xB4: "×", 0xB6: "∂", 0xB7: "•",
    0xB8: "÷", 0xB9: "≠", 0xBA: "≡", 0xBB: "≈", 0xC5: "⊕", 0xC6: "∅", 0xC7: "∩", 0xC8: "∪", 0xCC: "⊂", 0xCE: "∈", 0xD0: "∠",
    0xD1: "∇", 0xD5: "∏", 0xD6: "√", 0xD7: "⋅", 0xD8: "¬", 0xD9: "∧", 0xDA: "∨", 0xDB: "⇔", 0xDC: "⇐", 0xDE: "⇒", 0xE5: "∑",
    0xF2: "∫",
}  # fmt: skip
_WINGDINGS: Final = {
    0x4A: "☺", 0x6C: "●", 0x6E: "■", 0x6F: "□", 0x71: "❑", 0x76: "❖", 0xA7: "▪", 0xA8: "◻", 0xD8: "➢", 0xDF: "←", 0xE0: "→",
    0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip


def read_symbol(font: str, code: str) -> str:
    """Return the character of a font at a hexadecimal place; empty for one that is not known."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    place = number - 0xF000 if 0xF000 <= number <= 0xF0FF else number
    name = font.lower()
    if name.startswith("symbol"):
        return _SYMBOL.get(place, chr(place) if 0x20 <= place < 0x7F else "")
    if name.startswith("wingdings"):
        return _WINGDINGS.get(place, "")
    return chr(number) if 0x20 <= number < 0xD800 else ""
