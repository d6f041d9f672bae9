"""The appearance settings: stored in a cookie, so that the server sends pages without a flash of other colours."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from fastapi import Request

COOKIE: Final = "pagekeep_look"
CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "theme": ("auto", "light", "sepia", "dark"),
    "size": ("1", "2", "3", "4", "5"),
    "width": ("narrow", "medium", "wide"),
    "font": ("serif", "sans"),
}


@dataclass(frozen=True, slots=True)
class Appearance:
    """The user's choices."""

    theme: str = "auto"
    size: str = "3"
    width: str = "medium"
    font: str = "serif"

    def to_cookie(self) -> str:
        """Return the cookie's value; `appearance.js` writes the same."""
        return ".".join(getattr(self, part.name) for part in fields(self))


def read_appearance(request: Request) -> Appearance:
    """Return the settings in the request's cookie; invalid values become the defaults."""
    chosen = dict(zip(CHOICES, request.cookies.get(COOKIE, "").split("."), strict=False))
    return Appearance(**{name: value for name, value in chosen.items() if value in CHOICES[name]})
