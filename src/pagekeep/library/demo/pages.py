"""The pages of the demo library, as their texts in `texts/` describe them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

_FOLDER: Final = Path(__file__).parent / "texts"
_LANGUAGES: Final = {"english": "en", "german": "de", "spanish": "es", "arabic": "ar", "japanese": "ja"}
"""File name to language."""


@dataclass(frozen=True, slots=True)
class DemoPage:
    """A page of the demo library, and what its user has done with it."""

    language: str
    fields: Mapping[str, Any]
    """As in the file: `kind`, `title`, `body` or `posts` or `entries`..."""

    @property
    def url(self) -> str:
        """Its address, below a name that can never exist on the internet."""
        return str(self.fields["url"])

    @property
    def origin(self) -> str:
        """The first part of its address."""
        return "/".join(self.url.split("/")[:3])

    @property
    def picture_url(self) -> str | None:
        """The address of its picture, if it has one."""
        picture = self.fields.get("picture")
        return f"{self.origin}/pictures/{picture['scene']}-{picture['palette']}.png" if picture else None

    @property
    def saved_at(self) -> str:
        """When it was saved."""
        return _to_time(str(self.fields["saved"]))

    @property
    def opened_at(self) -> str | None:
        """When it was last read; `None` for an unread page."""
        return _to_time(str(self.fields["opened"])) if "opened" in self.fields else None


def _to_time(text: str) -> str:
    day, time = text.split()[:2]
    return f"{day}T{time[:5]}:00.000000Z"


@cache
def load_pages() -> tuple[DemoPage, ...]:
    """Return the pages of the demo library, oldest saved first."""
    pages = [
        DemoPage(language, fields)
        for name, language in _LANGUAGES.items()
        for fields in yaml.safe_load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    ]
    return tuple(sorted(pages, key=lambda page: page.saved_at))
