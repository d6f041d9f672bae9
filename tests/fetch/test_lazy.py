from __future__ import annotations

import subprocess
import sys


def test_the_http_library_is_loaded_with_the_first_fetch_only() -> None:
    script = "import sys, pagekeep.fetch, pagekeep.fetch.guard, pagekeep.config; print([m for m in ('httpcore', 'h2', 'certifi', 'brotli', 'idna') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"
