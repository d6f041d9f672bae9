"""How a reader wants pages to look: kept in a cookie, so that the server sends them so and nothing flickers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from fastapi import Request

COOKIE: Final = "pagekeep_look"
CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "theme": ("auto", "light", "sepia", "dark"),
    "size": ("1", "2", "3", "4", "5"),
    "width": ("narrow", "medium", "wide"),
    "face": ("serif", "sans"),
}


@dataclass(frozen=True, slots=True)
class Look:
    """What can be chosen."""

    theme: str = "auto"
    size: str = "3"
    width: str = "medium"
    face: str = "serif"

    def written(self) -> str:
        """As the cookie has it; the script writes the same."""
        return ".".join(getattr(self, part.name) for part in fields(self))


def look_of(request: Request) -> Look:
    """As the cookie says; what it says wrongly is as it always was."""
    return read(request.cookies.get(COOKIE, ""))


def read(written: str) -> Look:
    """A look as it was written."""
    chosen = dict(zip(CHOICES, written.split("."), strict=False))
    return Look(**{name: value for name, value in chosen.items() if value in CHOICES[name]})
