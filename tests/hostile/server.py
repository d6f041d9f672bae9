"""Our own server as a process, for scripts that try it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Served:
    """A running `pagekeep serve`."""

    process: subprocess.Popen[str]
    address: str
    """With a slash at its end."""


@contextmanager
def served(library: Path | str, *flags: str, **settings: str) -> Iterator[Served]:
    """A server on that library, until the end of the block; `settings` by name, as the environment has them."""
    command = [sys.executable, "-m", "pagekeep", "serve", "--port", "0", "--library", str(library), *flags]
    ours = {f"PAGEKEEP_{name.upper()}": value for name, value in settings.items()}
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PAGEKEEP_CONFIG": "", **ours}
    log = Path(library).with_suffix(".log")
    with (
        log.open("w") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environ) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.fullmatch(r"Pagekeep is at (http://127\.0\.0\.1:\d+/)\n", line)
            assert found, line + log.read_text()
            yield Served(process, found[1])
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
