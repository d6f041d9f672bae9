"""What the documentation names in this repository exists, and every page of it is linked from the README."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.commands import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *(ROOT / "docs").rglob("*.md")]
ROOMS = frozenset(path.name for path in (ROOT / "src/pagekeep").iterdir() if path.is_dir())
ROOTS = frozenset({"bench", "docs", "scripts", "src", "tests"})
OURS = frozenset(
    path.relative_to(ROOT).as_posix()
    for root in (*sorted(ROOTS), "extension")
    for path in (ROOT / root).rglob("*")
    if not {"node_modules", "__pycache__"} & set(path.parts)
)
NOT_MADE_YET = frozenset({"docs/guide.html", "rules/schema", "tests/fuzz/cases/NAME"})
"""A path of an API, an example of a user's site, and a place for findings."""


def names(text: str) -> set[str]:
    """Return the paths that a page names as code: of Python modules, or below a room or a top folder."""
    found = {name.strip("/") for name in re.findall(r"`([\w./-]*\w/?)`", text)}
    return {name for name in found if name.endswith(".py") or ("/" in name and name.split("/")[0] in ROOMS | ROOTS)}


def exists(name: str) -> bool:
    """Return whether a path is one of ours, from the root or from a folder below it."""
    return (ROOT / name).exists() or any(path.endswith(f"/{name}") for path in OURS)


def test_paths_that_the_documentation_names_exist() -> None:
    missing = [
        f"{page.relative_to(ROOT)}: {name}"
        for page in PAGES
        for name in sorted(names(page.read_text("utf-8")) - NOT_MADE_YET)
        if not exists(name)
    ]
    assert missing == []


def test_a_module_that_is_gone_is_found() -> None:
    assert names("in `extraction/gone.py` and `library/gone/`") == {"extraction/gone.py", "library/gone"}
    assert not exists("extraction/gone.py")
    assert exists("extraction/state.py")


def test_every_page_of_the_documentation_is_linked_from_the_readme() -> None:
    linked = set(re.findall(r"\(docs/([\w/-]+\.md)", (ROOT / "README.md").read_text("utf-8")))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in Path(ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if not page.startswith("adr/0")} == linked
