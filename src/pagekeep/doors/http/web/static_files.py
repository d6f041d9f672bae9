"""Serve the reader's static files, the web app manifest, the service worker and the offline page."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import Response

from pagekeep.errors import NotFound

router = APIRouter()

_FOLDER: Final = Path(__file__).parent / "static"
_MEDIA_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
_COMMON_STYLES: Final = (
    "base",
    "fonts",
    "top",
    "sidebar",
    "list",
    "messages",
    "article",
    "highlights",
    "code",
    "pages",
)
_FONT: Final = re.compile(rb'url\("fonts/([\w-]+\.woff2)"\)')
_FIRST_FONTS: Final = ("literata-latin.woff2", "source-sans-latin.woff2")
"""Fonts that nearly every page needs; the others are cached when a page first has such a character."""
_LAST_STYLE: Final = "screens"
"""Small screens, print and reduced motion: these rules win over those of single pages."""
_TEXTS: Final = frozenset({".css", ".js", ".svg"})
_NOT_OFFLINE: Final = frozenset({"service-worker.js", "screenshot-phone.webp", "screenshot-wide.webp"})
"""Files that no page shows: the worker itself, and the pictures with which phones and desktops offer the app."""


class _File(NamedTuple):
    content: bytes
    media_type: str
    version: str
    """Hash of the content: a changed file has a new URL, so browsers may cache each URL for ever."""
    compressed: bytes | None = None
    """The content of a text file as gzip; on a phone's network this saves half a second."""


@cache
def _load_files() -> dict[str, _File]:
    found = (*_FOLDER.iterdir(), *(_FOLDER / "fonts").iterdir())
    paths = sorted(path for path in found if path.suffix in _MEDIA_TYPES)
    files = {path.name: _make_file(path.name, path.read_bytes()) for path in paths}
    styles = _FONT.sub(lambda font: f'url("{_address(font[1].decode(), files)}")'.encode(), _join_styles())
    return files | {"reader.css": _make_file("reader.css", styles)}


def _make_file(name: str, content: bytes) -> _File:
    suffix, version = Path(name).suffix, hashlib.sha256(content).hexdigest()[:12]
    compressed = gzip.compress(content, mtime=0) if suffix in _TEXTS else None
    return _File(content, _MEDIA_TYPES[suffix], version, compressed)


def _join_styles() -> bytes:
    """Return the style sheets of the folder `style` as one: the common ones, those of single pages, small screens."""
    names = {path.stem for path in (_FOLDER / "style").glob("*.css")}
    of_pages = sorted(names - {*_COMMON_STYLES, _LAST_STYLE})
    ordered = (*_COMMON_STYLES, *of_pages, _LAST_STYLE)
    return b"\n".join((_FOLDER / "style" / f"{name}.css").read_bytes() for name in ordered)


def _address(name: str, files: dict[str, _File]) -> str:
    return f"/static/{name}?v={files[name].version}"


def static_url(name: str) -> str:
    """Return the URL of a static file, with its version."""
    return _address(name, _load_files())


@router.get("/static/{name}")
def static(request: Request, name: str, v: str = "") -> Response:
    """Return a static file."""
    file = _load_files().get(name)
    if file is None:
        raise NotFound(f"File {name!r} not found.")
    caching = "public, max-age=31536000, immutable" if v == file.version else "no-cache"
    headers = {"Cache-Control": caching}
    if file.compressed is None:
        return Response(file.content, media_type=file.media_type, headers=headers)
    headers["Vary"] = "Accept-Encoding"
    if "gzip" not in request.headers.get("accept-encoding", "").lower():
        return Response(file.content, media_type=file.media_type, headers=headers)
    return Response(file.compressed, media_type=file.media_type, headers={**headers, "Content-Encoding": "gzip"})


@router.get("/service-worker.js")
def service_worker() -> Response:
    """Return the service worker; its text changes with every static file, so that browsers update it."""
    fonts = {name for name in _load_files() if name.endswith(".woff2")} - {*_FIRST_FONTS}
    shell = [static_url(name) for name in _load_files() if name not in _NOT_OFFLINE | fonts]
    version = hashlib.sha256("".join(shell).encode()).hexdigest()[:12]
    constants = f"const VERSION = {json.dumps(version)};\nconst SHELL = {json.dumps(shell)};\n"
    script = constants.encode() + _load_files()["service-worker.js"].content
    return Response(script, media_type="text/javascript", headers={"Cache-Control": "no-cache"})


@router.get("/manifest.webmanifest")
def manifest() -> Response:
    """Return the web app manifest, with the share target."""
    content = {
        "name": "Pagekeep",
        "short_name": "Pagekeep",
        "description": "Your library of saved web pages.",
        "id": "/",
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": "#fbfaf7",
        "theme_color": "#fbfaf7",
        "icons": [
            {"src": static_url("icon-192.png"), "sizes": "192x192", "type": "image/png"},
            {"src": static_url("icon-512.png"), "sizes": "512x512", "type": "image/png"},
            {
                "src": static_url("icon-maskable.png"),
                "sizes": "512x512",
                "type": "image/png",
                "purpose": "maskable",
            },
            {"src": static_url("icon.svg"), "sizes": "any", "type": "image/svg+xml"},
        ],
        "screenshots": [
            {
                "src": static_url("screenshot-phone.webp"),
                "sizes": "780x1688",
                "type": "image/webp",
                "form_factor": "narrow",
                "label": "The inbox on a phone",
            },
            {
                "src": static_url("screenshot-wide.webp"),
                "sizes": "1280x860",
                "type": "image/webp",
                "form_factor": "wide",
                "label": "A saved article with its highlights",
            },
        ],
        "share_target": {
            "action": "/add",
            "method": "GET",
            "params": {"title": "title", "text": "text", "url": "url"},
        },
        "shortcuts": [{"name": "Add a page", "url": "/add"}, {"name": "Offline pages", "url": "/offline"}],
    }
    return Response(json.dumps(content), media_type="application/manifest+json", headers={"Cache-Control": "no-cache"})
