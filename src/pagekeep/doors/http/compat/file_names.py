"""Names of files that clients download."""

from __future__ import annotations

import re
import unicodedata
from typing import Final
from urllib.parse import quote

_UNSAFE: Final = re.compile(r'[\x00-\x1f\x7f"\\/:*?<>|;%]+')
_MAX_CHARS: Final = 100


def attachment(title: str, ending: str) -> str:
    """Return the header `Content-Disposition` for a file named after a title, for old and new clients."""
    name = " ".join(_UNSAFE.sub(" ", title).split()).strip(". ")[:_MAX_CHARS].strip() or "page"
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().strip() or "page"
    header = f'attachment; filename="{plain}.{ending}"'
    encoded = quote(f"{name}.{ending}".encode("utf-8", "replace"))
    return header if plain == name else f"{header}; filename*=UTF-8''{encoded}"
