"""Names of exported files: the page's title as every file system and Obsidian accept it, and the item's id."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

MAX_NAME_BYTES: Final = 200
"""With the ending: most file systems allow 255, and sync services add to the name."""
_FORBIDDEN: Final = frozenset('*"\\/<>:|?#^[]%`')
"""What Windows does not allow, and what links to a heading or block in Obsidian."""
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories of characters that have no shape."""
_SPACE: Final = re.compile(r"\s+")


def file_name(title: str, item_id: str, ending: str = ".md") -> str:
    """Return a file name that depends only on title and id, and that no two items share."""
    suffix = f" {item_id[:8]}{ending}"
    return (clean_stem(title, MAX_NAME_BYTES - len(suffix.encode())) or "Untitled") + suffix


def clean_stem(title: str, max_bytes: int) -> str:
    """Return the title as part of a file name; empty when none of its characters is allowed."""
    allowed = "".join(" " if char in _FORBIDDEN else char for char in unicodedata.normalize("NFC", title))
    visible = "".join(char for char in allowed if unicodedata.category(char) not in _INVISIBLE or char in "\t\n\r")
    cut = _SPACE.sub(" ", visible).strip(" .").encode()[:max_bytes]
    return cut.decode("utf-8", "ignore").strip(" .")
