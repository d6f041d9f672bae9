"""The switches Chromium is started with, beside Playwright's own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from pagekeep.fetch.browser.chromium import Chromium

FLAGS: Final = (
    # Nothing goes out but through the proxy: no UDP of WebRTC or QUIC, no look-up of names by the browser itself.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    # Nothing the browser asks for on its own account.
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
"""Of the window that pages are looked at in."""

UNSEEN: Final = (
    # For pages that are only read. Images are switched off here and not refused: a refusal runs the page's `onerror`, which
    # on many sites replaces or removes the very image whose address we want.
    "--blink-settings=imagesEnabled=false",
    "--disable-remote-fonts",
)

DROPPED: Final = (
    # Playwright's defaults that suit tests of one's own site, not other people's.
    "--disable-popup-blocking",
    "--disable-ipc-flooding-protection",
)

_PASSED_ON: Final = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "FONTCONFIG_PATH", "SYSTEMROOT", "LOCALAPPDATA")


def flags(chromium: Chromium, *, seen: bool = False) -> list[str]:
    """All switches for this Chromium; `seen` when pages are to be looked at and not only read."""
    return [
        *FLAGS,
        *(() if seen else UNSEEN),
        *(["--hide-scrollbars"] if chromium.is_shell else ["--disable-extensions", "--disable-notifications"]),
    ]


def environment(scratch: Path) -> dict[str, str | float | bool]:
    """The variables Chromium is given: what it needs to start, and none of the owner's secrets."""
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {**kept, "HOME": str(scratch), "TMPDIR": str(scratch)}


def may_sandbox() -> bool:
    """Whether Chromium's sandbox can be had: it refuses to run as root."""
    return sys.platform == "win32" or os.geteuid() != 0
