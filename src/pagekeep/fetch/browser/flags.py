"""The command-line flags of Chromium, besides Playwright's own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from pagekeep.fetch.browser.chromium import Chromium

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

_ENVIRONMENT: Final = (
    "PATH",
    "LANG",
    "LC_ALL",
    "TZ",
    "LD_LIBRARY_PATH",
    "FONTCONFIG_PATH",
    "SYSTEMROOT",
    "LOCALAPPDATA",
)


def build_flags(chromium: Chromium, *, visual: bool = False) -> list[str]:
    """Return all flags for this Chromium; `visual` for screenshots, else pages are only read."""
    return [
        *FLAGS,
        *(() if visual else READ_ONLY_FLAGS),
        *(["--hide-scrollbars"] if chromium.is_shell else ["--disable-extensions", "--disable-notifications"]),
    ]


def environment(scratch: Path) -> dict[str, str | float | bool]:
    """Return Chromium's environment: what it needs to start, without the owner's secrets."""
    copied = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    return {**copied, "HOME": str(scratch), "TMPDIR": str(scratch)}


def may_sandbox() -> bool:
    """Return whether Chromium's sandbox can be used: not as root."""
    return sys.platform == "win32" or os.geteuid() != 0
