"""Files that ship with the package besides its code: the documentation and the browser extension."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

_PACKAGE: Final = Path(__file__).parents[1]
_CHECKOUT: Final = Path(__file__).parents[3]


def bundled_folder(name: Literal["docs", "extension"]) -> Path | None:
    """Return the folder in the installed package, or in the checkout that the code runs from; `None` without either."""
    places = (_PACKAGE / "bundled" / name, _CHECKOUT / name)
    return next((place for place in places if place.is_dir()), None)
