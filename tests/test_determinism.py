"""The same page gives the same bytes in every process, whatever the seed of the hashes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
SOURCE = Path(__file__).parents[1] / "src"

PROGRAM = """
import json, sys
from pathlib import Path
from pagekeep import extract
for path in sorted(Path(sys.argv[1]).glob("*.html")):
    page = extract(path.read_bytes(), "https://mill.example/" + path.stem)
    told = [page.document, page.html, page.text, page.to_json(), repr(page.trace)]
    sys.stdout.write(json.dumps(told) + "\\n")
"""


def output(seed: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(CORPUS)],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_processes_with_different_hash_seeds_agree_on_every_byte() -> None:
    first = output("1")
    assert first.count("\n") == len(list(CORPUS.glob("*.html"))) > 0
    assert output("4242") == first
