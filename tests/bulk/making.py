"""Corpora for the tests of bulk runs: all pages are made here."""

from __future__ import annotations

import gzip
import json
import sys
import uuid
from collections.abc import Iterable
from pathlib import Path

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def page(number: int, what: str = "lantern") -> str:
    """A page with its own text."""
    body = "".join(
        f"<p>Paragraph {part} of page {number} tells how the {what} was lit at dusk, and who carried it home that night.</p>"
        for part in range(6)
    )
    head = f"<html lang=en><title>Page {number}</title><body><nav><a href=/>Home</a></nav>"
    return f"{head}<article><h1>Page {number}</h1>{body}</article>"


def response(
    body: bytes,
    *,
    url: str = "https://example.com/",
    kind: str = "response",
    content_type: str = "text/html; charset=utf-8",
    headers: str = "",
    warc: str = "",
) -> bytes:
    """A WARC record."""
    carries_http = kind in ("response", "revisit")
    http = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n{headers}\r\n".encode() + body
    block = http if carries_http else body
    media = "application/http; msgtype=response" if carries_http else "application/warc-fields"
    head = (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2025-01-01T00:00:00Z\r\n"
        f"WARC-Record-ID: <urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, url + kind)}>\r\n{warc}"
        f"Content-Type: {media}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def warc(path: Path, records: Iterable[bytes]) -> Path:
    """A WARC file, each record packed as the file's name says."""
    pack = {".gz": lambda record: gzip.compress(record, mtime=0), ".zst": zstd.compress}.get(path.suffix, bytes)
    path.write_bytes(b"".join(pack(record) for record in records))
    return path


def jsonl(path: Path, pages: Iterable[str]) -> Path:
    """Pages as lines of JSON."""
    rows = ({"url": f"https://example.com/{number}", "html": html} for number, html in enumerate(pages))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path
