"""Who may import what from outside the house (import-linter holds who may import whom within it)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import pagekeep

HOUSE = Path(pagekeep.__file__).parent
FILES = sorted(HOUSE.rglob("*.py"))
PURE_ROOMS = ("extraction", "markdown", "pipeline.py", "dom.py", "model", "errors.py", "text.py")
PURE = [file for file in FILES if file.relative_to(HOUSE).parts[0] in PURE_ROOMS]

EFFECTS = frozenset(
    (
        *("asyncio", "ctypes", "fcntl", "glob", "http", "importlib.metadata", "importlib.resources", "io", "locale"),
        *("logging", "mmap", "multiprocessing", "os", "pathlib", "random", "secrets", "shutil", "signal", "socket"),
        *("ssl", "subprocess", "sys", "tempfile", "threading", "time", "urllib.request", "urllib.robotparser", "uuid"),
    )
)
"""Ways to a clock, the environment, disk, network, randomness or another process."""
HTML_LIBRARY = frozenset({"turbohtml"})
DOOR_LIBRARIES = frozenset({"click", "rich"})


def imports(source: str) -> Iterator[str]:
    """Every name the source imports, in full: `from a import b` as `a` and `a.b`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def reaches(name: str, banned: frozenset[str]) -> bool:
    """Whether the import is one of the banned modules or lies within one."""
    parts = name.split(".")
    return any(".".join(parts[:end]) in banned for end in range(1, len(parts) + 1))


def calls(source: str) -> set[str]:
    """Names of the functions the source calls plainly, such as `open`."""
    called = (node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return {function.id for function in called if isinstance(function, ast.Name)}


def name_of(file: Path) -> str:
    return str(file.relative_to(HOUSE))


def test_imports_are_seen_in_every_form() -> None:
    source = "import os.path\ndef f():\n    from urllib import request\nfrom time import sleep"
    assert {name for name in imports(source) if reaches(name, EFFECTS)} == {
        "os.path",
        "urllib.request",
        "time",
        "time.sleep",
    }


def test_a_harmless_neighbour_is_not_taken_for_an_effect() -> None:
    source = "from urllib.parse import urljoin\nimport timeit\nfrom datetime import date"
    assert [name for name in imports(source) if reaches(name, EFFECTS)] == []


@pytest.mark.parametrize("file", PURE, ids=name_of)
def test_pure_rooms_reach_no_side_effect(file: Path) -> None:
    source = file.read_text(encoding="utf-8")
    assert [name for name in imports(source) if reaches(name, EFFECTS)] == []
    assert calls(source).isdisjoint({"open", "input", "print", "hash"})


@pytest.mark.parametrize("file", [file for file in FILES if name_of(file) != "dom.py"], ids=name_of)
def test_only_the_seam_imports_the_html_library(file: Path) -> None:
    assert not [name for name in imports(file.read_text(encoding="utf-8")) if reaches(name, HTML_LIBRARY)]


@pytest.mark.parametrize("file", [file for file in FILES if "doors" not in file.parts], ids=name_of)
def test_only_doors_import_the_command_line_and_terminal_libraries(file: Path) -> None:
    assert not [name for name in imports(file.read_text(encoding="utf-8")) if reaches(name, DOOR_LIBRARIES)]
