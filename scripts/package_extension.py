"""Build the browser extension's packages: `build/extension/{chromium,firefox}/` to load, and a zip of each to publish.

The folder `extension/` works in Chromium as it is; `firefox.json` has the differences of Firefox's manifest.
"""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
SOURCE: Final = ROOT / "extension"
OTHERWISE: Final = "firefox.json"
_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)
"""The same files make the same zip."""


def manifest(browser: str) -> dict[str, Any]:
    """Return the browser's manifest; a key that is null in `firefox.json` is left out for Firefox."""
    common: dict[str, Any] = json.loads((SOURCE / "manifest.json").read_text("utf-8"))
    if browser == "chromium":
        return common
    merged = {**common, **json.loads((SOURCE / OTHERWISE).read_text("utf-8"))}
    return {key: value for key, value in merged.items() if value is not None}


def files() -> list[Path]:
    """Return the relative paths of the files in every package but the manifest, in order."""
    found = (path.relative_to(SOURCE) for path in SOURCE.rglob("*") if path.is_file())
    return sorted(path for path in found if path.name not in ("manifest.json", OTHERWISE) and path.name[0] != ".")


def make(browser: str, into: Path) -> Path:
    """Write the folder and the zip beside it, and return the zip's path."""
    folder = into / browser
    shutil.rmtree(folder, ignore_errors=True)
    for name in files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SOURCE / name, folder / name)
    (folder / "manifest.json").write_text(json.dumps(manifest(browser), indent=2) + "\n", "utf-8")
    package = into / f"pagekeep-{browser}-{manifest(browser)['version']}.zip"
    with zipfile.ZipFile(package, "w") as archive:
        for name in [Path("manifest.json"), *files()]:
            entry = zipfile.ZipInfo(name.as_posix(), _LONG_AGO)
            archive.writestr(entry, (folder / name).read_bytes(), zipfile.ZIP_DEFLATED, 9)
    return package


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "extension"
    for browser in ("chromium", "firefox"):
        print(make(browser, target))
