"""The reader's own files: style, script, icons, and what makes it an application that can be installed."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from fastapi import APIRouter
from fastapi.responses import Response

from pagekeep.errors import NotFound

router = APIRouter()

_FOLDER: Final = Path(__file__).parents[1] / "static"
_KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}


class _File(NamedTuple):
    content: bytes
    kind: str
    mark: str
    """Of its content: a changed file has another address, so a browser may keep each for ever."""


@cache
def _files() -> dict[str, _File]:
    return {path.name: _file(path) for path in sorted(_FOLDER.iterdir()) if path.suffix in _KINDS}


def _file(path: Path) -> _File:
    content = path.read_bytes()
    return _File(content, _KINDS[path.suffix], hashlib.sha256(content).hexdigest()[:12])


def address_of(name: str) -> str:
    """Where a page finds the file."""
    return f"/static/{name}?v={_files()[name].mark}"


@router.get("/static/{name}")
def static(name: str, v: str = "") -> Response:
    """One of the files."""
    found = _files().get(name)
    if found is None:
        raise NotFound("There is no such file.")
    keep = "public, max-age=31536000, immutable" if v == found.mark else "no-cache"
    return Response(found.content, media_type=found.kind, headers={"Cache-Control": keep})


@router.get("/service-worker.js")
def service_worker() -> Response:
    """Keeps opened pages for reading without a network. Its text changes with any file, so that a new one is fetched."""
    shell = [address_of(name) for name in _files() if name != "service-worker.js"]
    mark = hashlib.sha256("".join(shell).encode()).hexdigest()[:12]
    given = f"const VERSION = {json.dumps(mark)};\nconst SHELL = {json.dumps(shell)};\n"
    script = given.encode() + _files()["service-worker.js"].content
    return Response(script, media_type="text/javascript", headers={"Cache-Control": "no-cache"})


@router.get("/manifest.webmanifest")
def manifest() -> Response:
    """What makes it an application, and a place to share pages to."""
    told = {
        "name": "Pagekeep",
        "short_name": "Pagekeep",
        "description": "Your library of web pages.",
        "id": "/",
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": "#fbfaf7",
        "theme_color": "#fbfaf7",
        "icons": [
            {"src": address_of("icon-192.png"), "sizes": "192x192", "type": "image/png"},
            {"src": address_of("icon-512.png"), "sizes": "512x512", "type": "image/png", "purpose": "any maskable"},
            {"src": address_of("icon.svg"), "sizes": "any", "type": "image/svg+xml"},
        ],
        "share_target": {
            "action": "/add",
            "method": "GET",
            "params": {"title": "title", "text": "text", "url": "url"},
        },
        "shortcuts": [{"name": "Add a page", "url": "/add"}],
    }
    return Response(json.dumps(told), media_type="application/manifest+json", headers={"Cache-Control": "no-cache"})
