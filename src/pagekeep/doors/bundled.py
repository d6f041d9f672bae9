"""Files that ship with the package besides its code: the documentation, and the browser extension as packages."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any, Final, Literal

_PACKAGE: Final = Path(__file__).parents[1]
_CHECKOUT: Final = Path(__file__).parents[3]


def bundled_folder(name: Literal["docs", "extension"]) -> Path | None:
    """Return the folder in the installed package, or in the checkout that the code runs from; `None` without either."""
    places = (_PACKAGE / "bundled" / name, _CHECKOUT / name)
    return next((place for place in places if place.is_dir()), None)


Browser = Literal["chromium", "firefox"]
BROWSERS: Final[tuple[Browser, ...]] = ("chromium", "firefox")
DIFFERENCES: Final = "firefox.json"
_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)
"""The same files make the same zip."""


def manifest(source: Path, browser: Browser) -> dict[str, Any]:
    """Return the browser's manifest; a key that is null in `firefox.json` is left out for Firefox."""
    common: dict[str, Any] = json.loads((source / "manifest.json").read_text("utf-8"))
    if browser == "chromium":
        return common
    merged = {**common, **json.loads((source / DIFFERENCES).read_text("utf-8"))}
    return {key: value for key, value in merged.items() if value is not None}


def package_files(source: Path, browser: Browser) -> dict[str, bytes]:
    """Return the files of a package by their paths, the manifest first."""
    own = json.dumps(manifest(source, browser), indent=2) + "\n"
    found = sorted(path.relative_to(source) for path in source.rglob("*") if path.is_file())
    others = [path for path in found if path.name not in ("manifest.json", DIFFERENCES) and path.name[0] != "."]
    return {"manifest.json": own.encode(), **{path.as_posix(): (source / path).read_bytes() for path in others}}


def zip_package(source: Path, browser: Browser) -> bytes:
    """Return the package as a zip."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in package_files(source, browser).items():
            archive.writestr(zipfile.ZipInfo(name, _LONG_AGO), content, zipfile.ZIP_DEFLATED, 9)
    return out.getvalue()
