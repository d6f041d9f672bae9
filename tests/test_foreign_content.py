"""Doors and use cases pass work on content of others to the worker room, and never do it themselves (H1, H3)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pagekeep
from tests.foreign import FOREIGN

HOUSE = Path(pagekeep.__file__).parent
FILES = sorted([*(HOUSE / "doors").rglob("*.py"), *(HOUSE / "library").rglob("*.py"), HOUSE / "accounts.py"])

ALLOWED = {
    "library/try_rules.py": "inside a task",
    "library/reparse/reparse.py": "the task of its worker processes",
    "library/imports/run.py": "without a room, for callers that trust the file",
    "library/exports/article_html.py": "`pagekeep export`: pages that Pagekeep rendered and sanitised itself",
    "library/exports/single_page.py": "`pagekeep export`: pages that Pagekeep rendered and sanitised itself",
    "doors/cli/library/reparse.py": "a diff on the user's own terminal, with bounded work",
    "doors/cli/pages/explain.py": "an explanation on the user's own terminal, of a page that a worker extracted",
    "doors/cli/pages/extract.py": "an explanation on the user's own terminal; the names of steps",
    "doors/cli/rules/rules.py": "the user's own rule files",
}
"""Modules that may use these functions, and why. None of them is a route or a tool."""


def foreign_uses(source: str) -> Iterator[str]:
    """Yield every function of the list, and every module that has one, that the source imports; and tasks that it runs."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in FOREIGN)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if (
                    name in FOREIGN
                    or node.module.startswith("pagekeep.extraction")
                    or alias.name in FOREIGN.get(node.module, ())
                ):
                    yield name
        elif isinstance(node, ast.Call) and _runs_task(node):
            yield ast.unparse(node)


def _runs_task(call: ast.Call) -> bool:
    """Return whether the call is `SomeTask(...).run()`."""
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "run"
        and isinstance(function.value, ast.Call)
        and isinstance(function.value.func, ast.Name)
        and function.value.func.id.endswith("Task")
    )


def test_uses_are_seen_in_every_form() -> None:
    source = """
from pagekeep import dom
import pagekeep.pipeline
from pagekeep.present.sections import body_of, outline
def f():
    from pagekeep.extraction.clean import clean
    return ExtractTask(1).run()
"""
    assert list(foreign_uses(source)) == [
        "pagekeep.dom",
        "pagekeep.pipeline",
        "pagekeep.present.sections.outline",
        "pagekeep.extraction.clean.clean",
        "ExtractTask(1).run()",
    ]


def test_doors_and_use_cases_do_not_work_on_content_of_others() -> None:
    uses = {file.relative_to(HOUSE).as_posix(): sorted(set(foreign_uses(file.read_text("utf-8")))) for file in FILES}
    assert {name: found for name, found in uses.items() if found and name not in ALLOWED} == {}
    assert [name for name in ALLOWED if not uses[name]] == []


def test_no_route_or_tool_is_allowed_to() -> None:
    assert [name for name in ALLOWED if name.startswith(("doors/http", "doors/mcp"))] == []
