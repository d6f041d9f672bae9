"""The checks of `pagekeep doctor`: what is installed, what is missing, and how to install it."""

from __future__ import annotations

import platform
import re
import subprocess
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final, Literal

from pagekeep import config, extras
from pagekeep.config import Settings
from pagekeep.errors import RenderError
from pagekeep.fetch.browser import chromium
from pagekeep.fetch.browser.chromium import may_sandbox
from pagekeep.version import __version__

State = Literal["ok", "missing", "note"]
VERSION_SECONDS: Final = 10
"""Time for Chromium to print its version."""
_MARKS: Final[dict[State, str]] = {"ok": "ok", "missing": "--", "note": "! "}
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)+")
_LIBRARIES: Final = (
    ("turbohtml", "parses HTML"),
    ("nh3", "sanitises HTML"),
    ("httpcore", "fetches pages"),
    ("h2", "HTTP/2"),
    ("brotli", "brotli compression"),
)
"""Required distributions, and what each is for."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    name: str
    state: State
    detail: str
    """Version, or what is wrong."""
    hints: tuple[str, ...] = ()
    """How to fix it."""

    def to_json(self) -> dict[str, Any]:
        """Return the finding as JSON types."""
        return {"name": self.name, "state": self.state, "detail": self.detail, "hints": list(self.hints)}


def run(settings: Settings) -> list[Finding]:
    """Run all checks, without using the network."""
    return [
        Finding("pagekeep", "ok", __version__),
        Finding("python", "ok", f"{platform.python_version()} on {platform.system()}"),
        *(_check_package(name, purpose) for name, purpose in _LIBRARIES),
        *(_check_extra(name, extra.purpose) for name, extra in extras.EXTRAS.items()),
        _check_playwright(),
        *_check_chromium(settings),
        _check_path("settings", config.settings_path(), "create this file to change settings"),
        _check_path("rules", config.rules_folder(settings), "create this folder for your own rules"),
    ]


def render(findings: list[Finding]) -> str:
    """Return the findings as text, one per line, with their hints below."""
    width = max(len(finding.name) for finding in findings)
    lines = []
    for finding in findings:
        lines.append(f"{_MARKS[finding.state]}  {finding.name:{width}}  {finding.detail}")
        lines += [f"    {'':{width}}  {hint}" for hint in finding.hints]
    return "\n".join(lines) + "\n"


def to_json(findings: list[Finding]) -> dict[str, Any]:
    """Return the findings as JSON types."""
    complete = all(finding.state != "missing" for finding in findings)
    return {"success": True, "complete": complete, "findings": [finding.to_json() for finding in findings]}


def _check_path(name: str, path: Path, hint: str) -> Finding:
    return Finding(name, "ok", str(path) if path.exists() else f"{path} (does not exist: {hint})")


def _check_package(name: str, purpose: str) -> Finding:
    try:
        return Finding(name, "ok", f"{metadata.version(name)} ({purpose})")
    except metadata.PackageNotFoundError:
        return Finding(name, "missing", f"not installed ({purpose})", (f"pip install {name}",))


def _check_extra(name: str, purpose: str) -> Finding:
    missing = extras.find_missing(name)
    if not missing:
        return Finding(name, "ok", f"installed ({purpose})")
    detail = f"optional, not installed ({purpose}): {', '.join(missing)}"
    first_use = ("Installed at first use.",) if extras.checkout() else ()
    return Finding(name, "missing", detail, (extras.install_command(name), *first_use))


def _check_playwright() -> Finding:
    try:
        return Finding("playwright", "ok", f"{metadata.version('playwright')} (drives the browser)")
    except metadata.PackageNotFoundError:
        detail = "not installed: pages that need JavaScript cannot be read"
        return Finding("playwright", "missing", detail, (extras.install_command("browser"),))


def _check_chromium(settings: Settings) -> list[Finding]:
    try:
        browser = chromium.find_chromium(settings.chromium)
    except RenderError as error:
        return [Finding("chromium", "missing", error.message, error.suggestions)]
    version = _read_version(browser.path)
    if version is None:
        hint = "Run it by hand to see what is missing, most often a system library."
        return [Finding("chromium", "missing", f"{browser.path} does not start", (hint, *chromium.install_hints()))]
    kind = "headless shell" if browser.is_shell else "full browser; the headless shell needs half the memory"
    return [Finding("chromium", "ok", f"{version} at {browser.path} ({kind})"), _check_sandbox(settings)]


def _read_version(binary: Path) -> str | None:
    try:
        process = subprocess.run(
            [binary, "--version"], capture_output=True, text=True, timeout=VERSION_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    number = _NUMBER.search(process.stdout)
    return number[0] if number else None


def _check_sandbox(settings: Settings) -> Finding:
    if not settings.browser_sandbox:
        return Finding("sandbox", "note", "off: the setting `browser_sandbox` is false", ())
    if not may_sandbox():
        hints = ("Run Pagekeep as an ordinary user.", "Or render without it: PAGEKEEP_BROWSER_SANDBOX=false")
        return Finding("sandbox", "note", "Chromium has none when started as root: pages are not rendered", hints)
    return Finding("sandbox", "ok", "required; where the system does not allow it, pages are not rendered")
