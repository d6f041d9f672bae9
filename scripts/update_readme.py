"""Put the tool's real output into README.md; with `--check`, write nothing and fail when it is out of date."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PAGE = "docs/examples/tide-clock.html"
URL = "https://saltmarsh.example/projects/tide-clock"
SHOWN = {"example": ("markdown", ()), "explain": ("text", ("--explain",))}
"""Mark in the README to the fence's language and the options."""


def output(options: tuple[str, ...]) -> str:
    """What the command prints for the example page, without the times, which differ from run to run."""
    command = [sys.executable, "-m", "pagekeep", "extract", PAGE, "--url", URL, *options]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1742464800"}
    printed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True).stdout.decode()
    return re.sub(r"\n\nTime\n.*", "", re.sub(r", [\d.]+ ms", "", printed), flags=re.DOTALL).strip()


def filled(readme: str) -> str:
    for mark, (language, options) in SHOWN.items():
        shell = " ".join(["./pagekeep extract", PAGE, "--url", URL, *options])
        block = f"```sh\n{shell}\n```\n\n````{language}\n{output(options)}\n````"
        between = re.compile(f"(<!-- {mark}:start -->\n).*?(<!-- {mark}:end -->)", re.DOTALL)
        readme = between.sub(lambda found, block=block: f"{found[1]}{block}\n{found[2]}", readme)
    return readme


def main() -> int:
    old = README.read_text(encoding="utf-8")
    new = filled(old)
    if "--check" in sys.argv[1:]:
        return int(old != new)
    README.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
