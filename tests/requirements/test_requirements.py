"""Every requirement of the design documents has a command that shows it, and it holds."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts/check_requirements.py"


def test_all_requirements_hold() -> None:
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    held = re.findall(r"(?m)^holds  (\d{3})\.\d+  ", done.stdout)
    assert set(Counter(held)) == {"000", "001", "002", "003", "004"}


def test_numbers_are_used_once_and_in_order() -> None:
    text = (ROOT / "docs/requirements.md").read_text("utf-8")
    numbers = [tuple(map(int, number.split("."))) for number in re.findall(r"(?m)^- (\d{3}\.\d+) ", text)]
    assert numbers == sorted(set(numbers))
    assert len(numbers) > 100
