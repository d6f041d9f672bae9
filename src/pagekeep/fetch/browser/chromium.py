"""Find the installed Chromium, and its command-line flags besides Playwright's own."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagekeep import extras
from pagekeep.errors import RenderError

# The headless shell first: it needs half the time to start and half the memory of the full browser.
_NAMES: Final = tuple(
    "chromium-headless-shell chrome-headless-shell chromium chromium-browser google-chrome-stable google-chrome chrome".split()
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
_MAX_SCRIPT_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Chromium:
    """An installed Chromium."""

    path: Path
    """The binary itself, not the distribution's wrapper script, which would remain as a parent process."""
    is_shell: bool
    """Whether it is the headless shell: no window, half the memory."""


def find_chromium(configured: str | None = None) -> Chromium:
    """Return the Chromium to use: the configured one, else the system's, else one that Playwright downloaded.

    Raises `RenderError`, which says how to install one.
    """
    if configured:
        return _find_configured(configured)
    for path in _candidates():
        binary = _binary(path)
        if binary is not None:
            return _chromium(binary)
    raise RenderError("This page needs a browser, but Chromium is not installed.", suggestions=install_hints())


def install_hints() -> tuple[str, ...]:
    """Return how to get a Chromium where this program runs."""
    download = f"{sys.executable} -m playwright install --only-shell chromium"
    return (
        "On Debian or Ubuntu: sudo apt-get install --no-install-recommends chromium-headless-shell (or chromium).",
        f"Elsewhere: {extras.install_command('browser')} && {download}",
        "If Chromium is installed in an unusual place, set `chromium` to the path of its binary.",
    )


def _find_configured(configured: str) -> Chromium:
    path = shutil.which(configured)
    binary = None if path is None else _binary(Path(path))
    if binary is None:
        raise RenderError("The setting `chromium` is not a program that can be started.", suggestions=install_hints())
    return _chromium(binary)


def _chromium(binary: Path) -> Chromium:
    return Chromium(binary, "headless-shell" in binary.name or "headless_shell" in binary.name)


def _candidates() -> Iterator[Path]:
    for name in _NAMES:
        for folder in _FOLDERS[:3]:
            yield Path(folder, name)
        path = shutil.which(name)
        if path is not None:
            yield Path(path)
    for folder in _FOLDERS[3:]:
        for name in _IN_FOLDERS:
            yield Path(folder, name)
    yield from _downloaded()


def _downloaded() -> Iterator[Path]:
    """Yield the browsers that `playwright install` downloaded, newest first."""
    caches = {"darwin": "Library/Caches", "win32": "AppData/Local"}
    configured = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    folder = Path(configured) if configured else Path.home() / caches.get(sys.platform, ".cache") / "ms-playwright"
    for pattern in _DOWNLOADS:
        yield from sorted(folder.glob(pattern), key=_build_number, reverse=True)


def _build_number(path: Path) -> int:
    """Return the build number in the name of a downloaded browser's folder: 1187 for `chromium-1187`."""
    numbers = re.findall(r"chromium(?:_headless_shell)?-(\d+)", str(path))
    return int(numbers[-1]) if numbers else 0


def _binary(path: Path) -> Path | None:
    """Return the program at `path`, or the one that the wrapper script there starts; `None` when there is none."""
    start = _read_start(path, _MAX_SCRIPT_BYTES)
    if not start:
        return None
    if not start.startswith(b"#!") or sys.platform == "win32":
        return path.resolve()
    return _behind_wrapper(path.resolve(), start.decode("utf-8", "replace"))


def _read_start(path: Path, size: int) -> bytes:
    """Return the first bytes of a file; empty when it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError:
        return b""


def _behind_wrapper(wrapper: Path, script: str) -> Path | None:
    """Return the program that a wrapper script starts, else the script; `None` for a snap, which cannot be automated."""
    if "/snap/bin/" in script:
        return None
    for name, value in _VARIABLE.findall(script):
        script = script.replace(f"${{{name}}}", value).replace(f"${name}", value)
    for path in _STARTED.findall(script.replace("$HERE", str(wrapper.parent))):
        if _read_start(Path(path), 2) not in (b"", b"#!"):
            return Path(path)
    return wrapper


FLAGS: Final = (
    # All traffic goes through the proxy: no UDP of WebRTC or QUIC, no DNS queries by the browser itself.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    # No requests of the browser itself.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-client-side-phishing-detection",
    "--no-pings",
    "--no-first-run",
    "--autoplay-policy=user-gesture-required",
    "--mute-audio",
    # Small machines and containers.
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--js-flags=--max-old-space-size=768",
)

WIDTH: Final = 1280
HEIGHT: Final = 800
"""Pixels of the window for screenshots."""

READ_ONLY_FLAGS: Final = (
    # For pages that are only read. Images are switched off, not blocked: blocking runs the page's `onerror`, which on many
    # sites replaces or removes the image whose URL we want.
    "--blink-settings=imagesEnabled=false",
    "--disable-remote-fonts",
)

REMOVED_DEFAULTS: Final = (
    # Defaults of Playwright that are meant for testing your own site.
    "--disable-popup-blocking",
    "--disable-ipc-flooding-protection",
)

_ENVIRONMENT: Final = tuple("PATH LANG LC_ALL TZ LD_LIBRARY_PATH FONTCONFIG_PATH SYSTEMROOT LOCALAPPDATA".split())


def build_flags(chromium: Chromium, *, visual: bool = False) -> list[str]:
    """Return all flags for this Chromium; `visual` for screenshots, else pages are only read."""
    return [
        *FLAGS,
        *(() if visual else READ_ONLY_FLAGS),
        *(["--hide-scrollbars"] if chromium.is_shell else ["--disable-extensions", "--disable-notifications"]),
    ]


def browser_environment(scratch: Path) -> dict[str, str | float | bool]:
    """Return Chromium's environment: what it needs to start, without the owner's secrets."""
    copied = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    return {**copied, "HOME": str(scratch), "TMPDIR": str(scratch)}


def may_sandbox() -> bool:
    """Return whether Chromium's sandbox can be used: not as root."""
    return sys.platform == "win32" or os.geteuid() != 0
