"""Build the browser extension's packages: `build/extension/{chromium,firefox}/` to load, and a zip of each to publish."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from pagekeep.doors import bundled  # noqa: E402
from pagekeep.doors.bundled import BROWSERS, Browser, package_files, zip_package  # noqa: E402

SOURCE: Final = ROOT / "extension"


def manifest(browser: Browser) -> dict[str, Any]:
    """Return the browser's manifest."""
    return bundled.manifest(SOURCE, browser)


def files() -> list[Path]:
    """Return the relative paths of the files in every package but the manifest, in order."""
    return [Path(name) for name in package_files(SOURCE, "chromium") if name != "manifest.json"]


def make(browser: Browser, into: Path) -> Path:
    """Write the folder and the zip beside it, and return the zip's path."""
    folder = into / browser
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in package_files(SOURCE, browser).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    package = into / f"pagekeep-{browser}-{manifest(browser)['version']}.zip"
    package.write_bytes(zip_package(SOURCE, browser))
    return package


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "extension"
    for browser in BROWSERS:
        print(make(browser, target))
