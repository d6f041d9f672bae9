"""Whether Chromium can have its sandbox here: tests that run as root render without it, by the setting for that."""

from __future__ import annotations

from typing import Final

from pagekeep.fetch.browser.chromium import may_sandbox

SANDBOX: Final = may_sandbox()
