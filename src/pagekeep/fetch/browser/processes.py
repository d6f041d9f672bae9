"""Kill the browser's processes, whatever state they are in."""

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
    """Process id; Playwright makes it the leader of a process group with all its processes."""
    driver: int | None
    """Process id; `None` if the system does not say."""

    def kill(self) -> None:
        """Kill Chromium's whole process group. The driver notices and cleans up."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                os.kill(self.chromium, signal.SIGTERM)
            elif os.getpgid(self.chromium) == self.chromium:
                os.killpg(self.chromium, signal.SIGKILL)
            else:
                os.kill(self.chromium, signal.SIGKILL)

    def kill_driver(self) -> None:
        """Kill a driver that does not respond. Chromium ends by itself when its driver is gone."""
        if self.driver is not None and sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.driver, signal.SIGKILL)

    async def wait_for_driver(self) -> None:
        """Wait until the driver has ended."""
        while self.driver is not None and Path(f"/proc/{self.driver}").exists():
            await asyncio.sleep(0.02)


def find_processes(pid: int) -> Processes:
    """Return the processes of the Chromium whose main process is `pid`."""
    return Processes(pid, _parent(pid))


def _parent(pid: int) -> int | None:
    try:
        # The name in brackets may contain anything; state and parent follow the last bracket.
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None
