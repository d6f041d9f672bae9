"""Check the compiled wheel in a folder: the same results as the source on every page, and the core's tests.

Usage: check_wheel.py FOLDER [CORPUS...]. The wheel is installed into a temporary folder; `.venv` stays as it is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE_TESTS = ("tests/extraction", "tests/markdown", "tests/rules")


def main() -> int:
    """Return 0 when the wheel does what the source does."""
    wheels = sorted(Path(sys.argv[1]).glob("pagekeep-*-cp*.whl"), key=os.path.getmtime)
    if not wheels:
        raise SystemExit(f"No compiled wheel in {sys.argv[1]}: run `make wheel`.")
    with tempfile.TemporaryDirectory(prefix="pagekeep-wheel-") as name:
        folder = Path(name)
        run("-m", "pip", "install", "--quiet", "--no-deps", "--target", folder / "installed", wheels[-1])
        pages = sys.argv[2:]
        run("bench/digest.py", folder / "source.json", *pages, path=ROOT / "src")
        compiled = folder / "installed"
        run("-c", _IS_COMPILED, path=compiled)
        run("bench/digest.py", folder / "wheel.json", "--against", folder / "source.json", *pages, path=compiled)
        run("-m", "pytest", "-q", "-n", "auto", *CORE_TESTS, path=compiled)
    return 0


_IS_COMPILED = "from pagekeep import pipeline; assert not pipeline.__file__.endswith('.py'), pipeline.__file__"


def run(*arguments: str | Path, path: Path | None = None) -> None:
    """Run Python in the project's folder, with Pagekeep imported from the given path; end the check when it fails."""
    environment = os.environ | ({"PYTHONPATH": str(path)} if path else {})
    result = subprocess.run([sys.executable, *map(str, arguments)], cwd=ROOT, env=environment, check=False)
    if result.returncode:
        raise SystemExit(f"The compiled wheel failed: {' '.join(map(str, arguments))}")


if __name__ == "__main__":
    sys.exit(main())
