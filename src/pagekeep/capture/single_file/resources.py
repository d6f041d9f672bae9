"""The files that a page loaded, and how each gets into the single file: inside of the one place that uses it, or shared."""

from __future__ import annotations

import base64
import email
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from pagekeep import dom
from pagekeep.errors import ParseError

MAX_RESOURCE_BYTES: Final = 5_000_000
"""Larger pictures and fonts are left out."""
MAX_PAGE_BYTES: Final = 25_000_000
"""All pictures and fonts of a page together."""
_MAX_PARTS: Final = 5_000
_MAX_MISSING: Final = 200
_EMBEDDED: Final = re.compile(
    r"(?:image|font)/[\w.+-]+|application/(?:x-)?font-[\w.+-]+|application/vnd\.ms-fontobject"
)
"""Types that are put into the file: pictures, which run no scripts, and fonts."""


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a snapshot."""

    media_type: str
    charset: str
    body: bytes

    @property
    def text(self) -> str:
        """The file as text, in an encoding of the web: Python has others, which a page must not choose."""
        decoded = dom.decode(self.body, self.charset)
        return self.body.decode("utf-8", "replace") if decoded is None else decoded[0]


def read_snapshot(mhtml: bytes) -> tuple[str, dict[str, Part]]:
    """Return the address of the page and all files by their addresses; the page itself is the first."""
    message = email.message_from_bytes(mhtml)
    parts: dict[str, Part] = {}
    for entry in message.walk():
        if entry.is_multipart() or len(parts) >= _MAX_PARTS:
            continue
        payload = entry.get_payload(decode=True)
        body = payload if isinstance(payload, bytes) else b""
        part = Part(entry.get_content_type(), entry.get_content_charset() or "utf-8", body)
        names = (entry.get("Content-Location"), f"cid:{str(entry.get('Content-ID') or '').strip('<>')}")
        for name in names:
            if name and name != "cid:":
                parts.setdefault(str(name).strip(), part)
    if not parts:
        raise ParseError("The browser's snapshot of the page is empty.")
    return next(iter(parts)), parts


@dataclass(slots=True)
class Resources:
    """Decides for every use of a file what is written there."""

    parts: dict[str, Part]
    uses: Counter[str] = field(default_factory=Counter)
    """How often each file is used, counted before anything is written."""
    missing: dict[str, tuple[str, int | None]] = field(default_factory=dict)
    """Address to the reason and the size of what is left out."""
    kept: dict[str, str] = field(default_factory=dict)
    """Address to the data URL of what is kept."""
    _shared: dict[str, str] = field(default_factory=dict)
    _bytes: int = 0

    def data_url(self, url: str) -> str | None:
        """Return the file as a data URL; `None` when it is left out."""
        if url in self.kept or url in self.missing:
            return self.kept.get(url)
        part = self.parts.get(url)
        reason = self._why_left_out(part)
        if part is None or reason is not None:
            self._leave_out(url, reason or "unreachable", len(part.body) if part else None)
            return None
        self._bytes += len(part.body)
        self.kept[url] = f"data:{part.media_type};base64,{base64.b64encode(part.body).decode('ascii')}"
        return self.kept[url]

    def _why_left_out(self, part: Part | None) -> str | None:
        if part is None:
            return "unreachable"
        if not _EMBEDDED.fullmatch(part.media_type):
            return "not_wanted"
        if len(part.body) > MAX_RESOURCE_BYTES:
            return "too_large"
        return "page_full" if self._bytes + len(part.body) > MAX_PAGE_BYTES else None

    def variable(self, url: str) -> str | None:
        """Return the name of the style variable that holds a file which is used several times; `None` for others."""
        if self.uses[url] < 2 or self.data_url(url) is None:
            return None
        return self._shared.setdefault(url, f"--pagekeep-{len(self._shared) + 1}")

    def shared_style(self) -> str:
        """Return the style sheet with the shared files."""
        values = "".join(f'{name}:url("{self.kept[url]}");' for url, name in self._shared.items())
        return f":root{{{values}}}" if values else ""

    def _leave_out(self, url: str, reason: str, size: int | None) -> None:
        if len(self.missing) < _MAX_MISSING and not url.startswith(("cid:", "data:", "blob:", "about:")):
            self.missing[url] = (reason, size)
