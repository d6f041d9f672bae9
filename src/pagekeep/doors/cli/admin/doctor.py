"""What is installed, what is missing, and how to get it."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final, Literal

from pagekeep import config
from pagekeep.config import Settings
from pagekeep.errors import RenderError
from pagekeep.fetch.browser import chromium
from pagekeep.version import __version__

State = Literal["ok", "missing", "note"]
VERSION_SECONDS: Final = 10
_MARKS: Final[dict[State, str]] = {"ok": "ok", "missing": "--", "note": "! "}
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)+")
# Distribution, what it is for. All are needed; one that is missing was lost after the installation.
_LIBRARIES: Final = (
    ("turbohtml", "reads HTML"),
    ("nh3", "makes HTML safe"),
    ("httpcore", "fetches pages"),
    ("h2", "HTTP/2"),
    ("brotli", "pages packed with brotli"),
)
EXTRAS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "server": (
        "`pagekeep serve`",
        (
            *("argon2-cffi", "fastapi", "jinja2", "latex2mathml", "markdown-it-py", "mdit-py-plugins"),
            *("prometheus-client", "pygments", "python-multipart", "sse-starlette", "uvicorn"),
        ),
    ),
    "mcp": ("`pagekeep mcp`, for assistants", ("mcp",)),
    "bulk": ("`pagekeep bulk`", ("fastwarc", "pyarrow", "rensa")),
    "browser": ("pages that need their scripts", ("playwright",)),
    "postgres": ("a library on PostgreSQL", ("psycopg",)),
}
"""Optional parts: what each is for, and the distributions it brings."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    state: State
    detail: str
    """Version, or what is wrong."""
    hints: tuple[str, ...] = ()
    """How to put it right."""

    def to_json(self) -> dict[str, Any]:
        """As plain JSON types."""
        return {"name": self.name, "state": self.state, "detail": self.detail, "hints": list(self.hints)}


def run(settings: Settings) -> list[Finding]:
    """Look at everything. Nothing is fetched and no page is opened."""
    return [
        Finding("pagekeep", "ok", __version__),
        Finding("python", "ok", f"{platform.python_version()} on {platform.system()}"),
        *(_library(name, purpose) for name, purpose in _LIBRARIES),
        *(_extra(name, purpose, needed) for name, (purpose, needed) in EXTRAS.items()),
        *_browser(settings),
        _place("settings", config.settings_path(), "make this file to change settings"),
        _place("rules", config.rules_folder(settings), "make this folder for rules of your own"),
    ]


def render(findings: list[Finding]) -> str:
    """The findings for people, one a line, each hint below its finding."""
    width = max(len(finding.name) for finding in findings)
    lines = []
    for finding in findings:
        lines.append(f"{_MARKS[finding.state]}  {finding.name:{width}}  {finding.detail}")
        lines += [f"    {'':{width}}  {hint}" for hint in finding.hints]
    return "\n".join(lines) + "\n"


def to_json(findings: list[Finding]) -> dict[str, Any]:
    """The findings for programs."""
    complete = all(finding.state != "missing" for finding in findings)
    return {"success": True, "complete": complete, "findings": [finding.to_json() for finding in findings]}


def _place(name: str, path: Path, hint: str) -> Finding:
    return Finding(name, "ok", str(path) if path.exists() else f"{path} (not there: {hint})")


def _library(name: str, purpose: str) -> Finding:
    try:
        return Finding(name, "ok", f"{metadata.version(name)} ({purpose})")
    except metadata.PackageNotFoundError:
        return Finding(name, "missing", f"not installed ({purpose})", (f"pip install {name}",))


def _extra(name: str, purpose: str, needed: tuple[str, ...]) -> Finding:
    missing = [distribution for distribution in needed if not _is_installed(distribution)]
    if not missing:
        return Finding(name, "ok", f"installed ({purpose})")
    detail = f"optional, not installed ({purpose}): {', '.join(missing)}"
    return Finding(name, "missing", detail, (f"pip install 'pagekeep[{name}]'",))


def _is_installed(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def _browser(settings: Settings) -> list[Finding]:
    return [_playwright(), *_chromium(settings)]


def _playwright() -> Finding:
    try:
        return Finding("playwright", "ok", f"{metadata.version('playwright')} (drives the browser)")
    except metadata.PackageNotFoundError:
        detail = "not installed: pages that need their scripts cannot be read"
        return Finding("playwright", "missing", detail, (chromium.MISSING_PLAYWRIGHT,))


def _chromium(settings: Settings) -> list[Finding]:
    try:
        found = chromium.find(settings.chromium)
    except RenderError as error:
        return [Finding("chromium", "missing", error.message, error.suggestions)]
    version = _version(found.path)
    if version is None:
        hint = "Start it by hand to see what it lacks, most often a system library."
        return [Finding("chromium", "missing", f"{found.path} does not start", (hint, *chromium.INSTALL_HINTS))]
    kind = "headless shell" if found.is_shell else "whole browser; the headless shell takes half the memory"
    return [Finding("chromium", "ok", f"{version} at {found.path} ({kind})"), _sandbox()]


def _version(binary: Path) -> str | None:
    try:
        said = subprocess.run(
            [binary, "--version"], capture_output=True, text=True, timeout=VERSION_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    number = _NUMBER.search(said.stdout)
    return number[0] if number else None


def _sandbox() -> Finding:
    if sys.platform != "win32" and os.geteuid() == 0:
        hint = "Run Pagekeep as an ordinary user to have it."
        return Finding("sandbox", "note", "off: Chromium has none when it is started by root", (hint,))
    return Finding("sandbox", "ok", "used where the system allows it")
