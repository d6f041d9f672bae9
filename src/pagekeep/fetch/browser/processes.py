"""Ending the browser's processes for good, whatever state they are in."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Processes:
    """Chromium and the driver that started it."""

    chromium: int
    """Playwright starts Chromium as the leader of a process group that all its processes are in."""
    driver: int | None
    """None where the system does not tell who a process' parent is."""

    def kill(self) -> None:
        """Kill Chromium's whole process group. The driver notices, and tidies up behind it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                os.kill(self.chromium, signal.SIGTERM)
            elif os.getpgid(self.chromium) == self.chromium:
                os.killpg(self.chromium, signal.SIGKILL)
            else:
                os.kill(self.chromium, signal.SIGKILL)

    def kill_driver(self) -> None:
        """Kill a driver that no longer answers. Chromium ends by itself when its driver is gone."""
        if self.driver is not None and sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.driver, signal.SIGKILL)

    async def driver_gone(self) -> None:
        """Wait until the driver is gone, and fetched by us, its parent."""
        while self.driver is not None and Path(f"/proc/{self.driver}").exists():
            await asyncio.sleep(0.02)


def of_chromium(pid: int) -> Processes:
    """The processes of the Chromium whose main process is `pid`."""
    return Processes(pid, _parent(pid))


def _parent(pid: int) -> int | None:
    try:
        # The name in brackets may hold anything; state and parent follow the last bracket.
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None
