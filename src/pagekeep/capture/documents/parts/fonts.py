"""Names of fonts: monospaced ones show code."""

from __future__ import annotations

import re
from typing import Final

_MONOSPACED: Final = re.compile(
    r"courier|consolas|menlo|monaco|lucida console|lucida sans typewriter|inconsolata|cascadia|andale mono|fixedsys|terminal\b"
    r"|\bmono\b|monospace|fira code|source code|sf mono|jetbrains|typewriter|hack$|ocr[- ]?[ab]\b|letter gothic",
    re.I,
)


def is_monospaced(name: str) -> bool:
    """Return whether a font of this name is monospaced."""
    return _MONOSPACED.search(name[:200]) is not None
