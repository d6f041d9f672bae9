"""The rules of the house that import-linter cannot hold: outside libraries, purity, and the length of functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pagekeep

HOUSE = Path(pagekeep.__file__).parent
FILES = sorted(HOUSE.rglob("*.py"))
PURE_ROOMS = ("extraction", "markdown", "pipeline.py", "dom.py", "model", "errors.py", "text.py")

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

MAX_FUNCTION_LINES = 80
MAX_DEPTH = 4


@cache
def read(file: Path) -> str:
    """Return the source of a file."""
    return file.read_text(encoding="utf-8")


@cache
def nodes(source: str) -> tuple[ast.AST, ...]:
    """Return every node of the source; each file is parsed once for all rules."""
    return tuple(ast.walk(ast.parse(source)))


@cache
def imports(source: str) -> tuple[str, ...]:
    """Return every name the source imports, in full: `from a import b` as `a` and `a.b`."""
    return tuple(find_imports(source))


def find_imports(source: str) -> Iterator[str]:
    """Yield every name the source imports."""
    for node in nodes(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def reaches(name: str, banned: frozenset[str]) -> bool:
    """Return whether the import is one of the banned modules or part of one."""
    parts = name.split(".")
    return any(".".join(parts[:end]) in banned for end in range(1, len(parts) + 1))


def banned_imports(files: list[Path], banned: frozenset[str]) -> list[str]:
    """Return `file: import` for every banned import in the files."""
    return [f"{name_of(file)}: {name}" for file in files for name in imports(read(file)) if reaches(name, banned)]


def calls(source: str) -> set[str]:
    """Return the names of the functions the source calls plainly, such as `open`."""
    called = (node.func for node in nodes(source) if isinstance(node, ast.Call))
    return {function.id for function in called if isinstance(function, ast.Name)}


def name_of(file: Path) -> str:
    return file.relative_to(HOUSE).as_posix()


def long_functions(source: str, limit: int = MAX_FUNCTION_LINES) -> list[str]:
    """Return the functions of the source over the limit that do not say why they are long.

    They say it where they begin: a docstring of several lines, or a comment above or in the first lines.
    """
    lines = source.splitlines()
    found = []
    for node in nodes(source):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        assert node.end_lineno is not None
        docstring = ast.get_docstring(node) or ""
        beginning = lines[node.lineno - 2 : node.body[0].lineno + 3]
        explained = "\n" in docstring or any(line.lstrip().startswith("#") for line in beginning)
        if node.end_lineno - node.lineno + 1 > limit and not explained:
            found.append(f"{node.lineno} {node.name}")
    return found


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


def test_pure_rooms_reach_no_side_effect() -> None:
    pure = [file for file in FILES if file.relative_to(HOUSE).parts[0] in PURE_ROOMS]
    assert len(pure) > 80
    assert banned_imports(pure, EFFECTS) == []
    assert [name_of(file) for file in pure if calls(read(file)) & {"open", "input", "print", "hash"}] == []


def test_only_the_seam_imports_the_html_library() -> None:
    assert banned_imports([file for file in FILES if name_of(file) != "dom.py"], HTML_LIBRARY) == []


def test_only_doors_import_the_command_line_and_terminal_libraries() -> None:
    assert banned_imports([file for file in FILES if not name_of(file).startswith("doors/")], DOOR_LIBRARIES) == []


def test_a_migration_never_calls_live_code() -> None:
    """The lint contract names the rooms of today; this also holds for those that come later."""
    own = "pagekeep.store.migrations"
    found = [
        f"{name_of(file)}: {name}"
        for file in (HOUSE / "store" / "migrations").rglob("*.py")
        for name in imports(read(file))
        if name.startswith("pagekeep") and not name.startswith(own)
    ]
    assert found == []


def test_a_long_function_says_why_it_is_long() -> None:
    assert [f"{name_of(file)}:{found}" for file in FILES for found in long_functions(read(file))] == []


def test_a_reason_is_a_comment_or_a_second_paragraph() -> None:
    body = "    x = 1\n" * 9
    assert long_functions(f'def f():\n    """Do it."""\n{body}', 8) == ["1 f"]
    assert long_functions(f'def f():\n    """Do it.\n\n    One table.\n    """\n{body}', 8) == []
    assert long_functions(f"# One table.\ndef f():\n{body}", 8) == []


def test_folders_are_at_most_four_deep() -> None:
    assert [name_of(file) for file in FILES if len(file.relative_to(HOUSE).parts) - 1 > MAX_DEPTH] == []


def test_only_the_command_line_imports_what_does_not_run_in_production() -> None:
    others = [file for file in FILES if not file.is_relative_to(HOUSE / "doors/cli")]
    assert banned_imports(others, frozenset({"pagekeep_demo", "pagekeep_lab"})) == []
