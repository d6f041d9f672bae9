"""The documented columns are those of the code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_table_of_columns_is_what_the_code_says() -> None:
    script = Path(__file__).parents[2] / "scripts" / "update_bulk.py"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, f"run scripts/update_bulk.py\n{checked.stderr}"
