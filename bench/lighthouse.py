"""Measure the reader with Lighthouse: performance, accessibility and best practices of the list and an article on a phone.

Usage: python bench/lighthouse.py [--lighthouse PATH] [--report FOLDER] [--gate]

The server, the demo library and the browser are on this machine, and nothing else is asked. `scripts/install-node-tools
lighthouse` installs Lighthouse. `--report` keeps its pages with the details, `--gate` fails below 95.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import tempfile
import urllib.request
from pathlib import Path
from types import ModuleType
from typing import Any

from pagekeep.fetch.browser import chromium

ROOT = Path(__file__).resolve().parent.parent
LIGHTHOUSE = ROOT / ".node" / "lighthouse" / "node_modules" / ".bin" / "lighthouse"
CATEGORIES = ("performance", "accessibility", "best-practices")
FLOOR = 95
FLAGS = "--headless --no-sandbox --disable-dev-shm-usage --disable-gpu --disable-background-networking"
MAX_SECONDS = 180


def load_screenshots() -> ModuleType:
    """Return the script that serves the demo library."""
    spec = importlib.util.spec_from_file_location("make_screenshots", ROOT / "scripts" / "make_screenshots.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measure(lighthouse: Path, url: str, folder: Path, name: str) -> dict[str, Any]:
    """Return Lighthouse's report on a page, with its own profile of a phone (slow network and processor)."""
    out = folder / name
    command = [
        *(str(lighthouse), url, "--quiet", f"--chrome-flags={FLAGS}", "--output=json", "--output=html"),
        *(f"--output-path={out}", f"--only-categories={','.join(CATEGORIES)}", "--form-factor=mobile"),
    ]
    environment = {**os.environ, "CHROME_PATH": str(chromium.find_chromium().path)}
    subprocess.run(command, env=environment, check=True, timeout=MAX_SECONDS)
    return dict(json.loads((folder / f"{name}.report.json").read_text(encoding="utf-8")))


def find_losses(report: dict[str, Any]) -> list[str]:
    """Return what cost points, the most first."""
    lost = []
    for category in CATEGORIES:
        for part in report["categories"][category]["auditRefs"]:
            audit = report["audits"][part["id"]]
            if part["weight"] and audit["score"] is not None and audit["score"] < 1:
                points = part["weight"] * (1 - audit["score"])
                lost.append((points, f"{category}: {audit['title']} {audit.get('displayValue', '')}".strip()))
    return [text for _, text in sorted(lost, reverse=True)]


def main() -> int:
    """Print the scores of each page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lighthouse", type=Path, default=LIGHTHOUSE)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--gate", action="store_true")
    options = parser.parse_args()
    if not options.lighthouse.exists():
        parser.error(f"There is no {options.lighthouse}: run scripts/install-node-tools lighthouse.")
    pages, lowest = load_screenshots(), 100
    with tempfile.TemporaryDirectory() as temporary, pages.serving(Path(temporary)) as (address, ids):
        folder = options.report or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("inbox", "article"):
            url = address + pages.path_of(pages.PAGES[name], ids)
            with urllib.request.urlopen(url) as answer:  # the first request of a server also compiles its templates
                answer.read()
            report = measure(options.lighthouse, url, folder, name)
            scores = {key: round(report["categories"][key]["score"] * 100) for key in CATEGORIES}
            print(f"{name}: " + ", ".join(f"{key} {score}" for key, score in scores.items()))
            for loss in find_losses(report):
                print(f"  {loss}")
            lowest = min(lowest, *scores.values())
    return int(options.gate and lowest < FLOOR)


if __name__ == "__main__":
    raise SystemExit(main())
