"""Finding the Chromium that pages are rendered with."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagekeep.errors import RenderError

INSTALL_HINTS: Final = (
    "On Debian or Ubuntu: sudo apt-get install --no-install-recommends chromium-headless-shell (or chromium).",
    "Anywhere else: playwright install --only-shell chromium.",
    "If Chromium is installed in an unusual place, name its binary in the setting `chromium`.",
)
MISSING_PLAYWRIGHT: Final = "Install Pagekeep with its browser part: pip install 'pagekeep[browser]'."

# The headless shell first: it starts in half the time and memory of the whole browser.
_NAMES: Final = (
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chrome",
)
_FOLDERS: Final = (
    "/usr/lib/chromium",
    "/usr/lib/chromium-browser",
    "/usr/lib64/chromium-browser",
    "/opt/google/chrome",
    "/Applications/Chromium.app/Contents/MacOS",
    "/Applications/Google Chrome.app/Contents/MacOS",
    "C:/Program Files/Google/Chrome/Application",
    "C:/Program Files (x86)/Google/Chrome/Application",
)
_IN_FOLDERS: Final = (*_NAMES, "Chromium", "Google Chrome", "chrome.exe")
_DOWNLOADS: Final = (
    "chromium_headless_shell-*/*/headless_shell*",
    "chromium_headless_shell-*/*/chrome-headless-shell*",
    "chromium-*/*/chrome",
    "chromium-*/*/chrome.exe",
    "chromium-*/*/*.app/Contents/MacOS/*",
)
_VARIABLE: Final = re.compile(r"^\s*(?:export\s+)?([A-Za-z_]\w*)=[\"']?([^\"'\s]+)", re.MULTILINE)
_STARTED: Final = re.compile(r"(/[^\s\"'$]*/(?:chromium|chrome)[\w-]*)(?=[\s\"']|$)")
_SCRIPT_LIMIT: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Chromium:
    """A Chromium that is installed."""

    path: Path
    """The real binary, not the distribution's wrapper script, which would stay as a parent process."""
    is_shell: bool
    """The headless shell: no window, half the memory."""


def find(chosen: str | None = None) -> Chromium:
    """The Chromium to use: the one the owner chose, else the system's, else one that Playwright downloaded.

    `RenderError` with the way to install one when there is none.
    """
    if chosen:
        return _chosen(chosen)
    for path in _candidates():
        binary = _binary(path)
        if binary is not None:
            return _chromium(binary)
    raise RenderError("There is no Chromium where Pagekeep runs, and this page needs one.", suggestions=INSTALL_HINTS)


def _chosen(chosen: str) -> Chromium:
    located = shutil.which(chosen)
    binary = None if located is None else _binary(Path(located))
    if binary is None:
        raise RenderError(
            "The setting `chromium` does not name a program that can be started.", suggestions=INSTALL_HINTS
        )
    return _chromium(binary)


def _chromium(binary: Path) -> Chromium:
    return Chromium(binary, "headless-shell" in binary.name or "headless_shell" in binary.name)


def _candidates() -> Iterator[Path]:
    for name in _NAMES:
        for folder in _FOLDERS[:3]:
            yield Path(folder, name)
        located = shutil.which(name)
        if located is not None:
            yield Path(located)
    for folder in _FOLDERS[3:]:
        for name in _IN_FOLDERS:
            yield Path(folder, name)
    yield from _downloaded()


def _downloaded() -> Iterator[Path]:
    """Where `playwright install` puts its browsers, newest first."""
    caches = {"darwin": "Library/Caches", "win32": "AppData/Local"}
    chosen = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    folder = Path(chosen) if chosen else Path.home() / caches.get(sys.platform, ".cache") / "ms-playwright"
    for pattern in _DOWNLOADS:
        yield from sorted(folder.glob(pattern), key=_build, reverse=True)


def _build(path: Path) -> int:
    """The build that a downloaded browser's folder names: `chromium-1187` is 1187."""
    numbers = re.findall(r"chromium(?:_headless_shell)?-(\d+)", str(path))
    return int(numbers[-1]) if numbers else 0


def _binary(path: Path) -> Path | None:
    """The program itself: `path`, or what the wrapper script at `path` starts; None when there is no such program."""
    start = _start(path, _SCRIPT_LIMIT)
    if not start:
        return None
    if not start.startswith(b"#!") or sys.platform == "win32":
        return path.resolve()
    return _behind_wrapper(path.resolve(), start.decode("utf-8", "replace"))


def _start(path: Path, size: int) -> bytes:
    """The first bytes of a file; none when it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError:
        return b""


def _behind_wrapper(wrapper: Path, script: str) -> Path | None:
    """What a wrapper script starts, else the script itself. None for a snap: it cannot be driven from outside."""
    if "/snap/bin/" in script:
        return None
    for name, value in _VARIABLE.findall(script):
        script = script.replace(f"${{{name}}}", value).replace(f"${name}", value)
    for found in _STARTED.findall(script.replace("$HERE", str(wrapper.parent))):
        if _start(Path(found), 2) not in (b"", b"#!"):
            return Path(found)
    return wrapper
