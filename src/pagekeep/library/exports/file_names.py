"""What files are called: the page's title, as every file system and Obsidian take it, and the item's own mark."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

MOST_BYTES: Final = 200
"""Of a name, with its ending: some systems take 255, and sync services put something on top."""
_FORBIDDEN: Final = frozenset('*"\\/<>:|?#^[]%`')
"""For Windows, and for what leads to a heading or block in Obsidian."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_SPACE: Final = re.compile(r"\s+")


def file_name(title: str, item_id: str, ending: str = ".md") -> str:
    """The same name for the same item and title, whatever else is in the folder; no two items share one."""
    mark = f" {item_id[:8]}{ending}"
    return (stem(title, MOST_BYTES - len(mark.encode())) or "Untitled") + mark


def stem(title: str, most_bytes: int) -> str:
    """The title as part of a file name; empty when nothing of it is left."""
    shown = "".join(" " if char in _FORBIDDEN else char for char in unicodedata.normalize("NFC", title))
    seen = "".join(char for char in shown if unicodedata.category(char) not in _UNSEEN or char in "\t\n\r")
    short = _SPACE.sub(" ", seen).strip(" .").encode()[:most_bytes]
    return short.decode("utf-8", "ignore").strip(" .")
