"""`/settings/about`: the version, the licences of the parts, and where help is."""

from __future__ import annotations

import re
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final, NamedTuple

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from pagekeep.doors.http.web.layout.page import ReadFrame
from pagekeep.version import __version__

router = APIRouter()
_STATIC: Final = Path(__file__).parents[1] / "static"
_NAME: Final = re.compile(r"[\w.-]+")
_FOR_DEVELOPERS: Final = re.compile(r"""extra == ["'](?:dev|train)["']""")
_MAX_LICENCE_CHARS: Final = 60
"""Some packages put the whole text into the field for the licence's name."""


class Part(NamedTuple):
    """A library that this installation uses."""

    name: str
    version: str
    licence: str


@router.get("/settings/about")
def about(frame: ReadFrame) -> HTMLResponse:
    """Show the version and the licences."""
    return frame.show("settings/about.html", version=__version__, parts=_parts(), files=_licence_files())


@cache
def _parts() -> tuple[Part, ...]:
    """Return the installed libraries that Pagekeep names as its dependencies, by name."""
    try:
        needed = metadata.requires("pagekeep") or []
    except metadata.PackageNotFoundError:  # run from a checkout that was never installed
        return ()
    used = [line for line in needed if not _FOR_DEVELOPERS.search(line)]
    names = {match.group().lower() for line in used if (match := _NAME.match(line))} - {"pagekeep"}
    found = []
    for name in sorted(names):
        try:
            about = metadata.metadata(name)
        except metadata.PackageNotFoundError:  # an optional part that is not installed
            continue
        found.append(Part(about["Name"], about["Version"], _licence(about)))
    return tuple(found)


def _licence(about: metadata.PackageMetadata) -> str:
    fields = about.json
    named = str(fields.get("license_expression") or fields.get("license") or "")
    if named and "\n" not in named and len(named) <= _MAX_LICENCE_CHARS:
        return named
    classes = [line for line in about.get_all("Classifier") or () if line.startswith("License ::")]
    return ", ".join(line.rpartition(":: ")[2] for line in classes) or "see the package"


@cache
def _licence_files() -> tuple[tuple[str, str], ...]:
    """Return the licences of files that are part of the reader, such as fonts, with their texts."""
    paths = sorted(path for path in _STATIC.rglob("*.txt") if re.search("licen[cs]e|ofl", path.name.lower()))
    return tuple((path.stem, path.read_text("utf-8")) for path in paths)
