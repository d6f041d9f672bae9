"""Doors and use cases pass work on content of others to the worker room, and never do it themselves (H1, H3)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pagekeep
from tests.foreign import FOREIGN

HOUSE = Path(pagekeep.__file__).parent
READERS = [
    *(HOUSE / "library" / "imports" / name for name in ("formats", "input")),
    HOUSE / "library" / "feeds" / "parse",
]
"""Whole folders of such functions, which only functions of the list call."""
FILES = sorted(
    file
    for file in (
        *(HOUSE / "doors").rglob("*.py"),
        *(HOUSE / "library").rglob("*.py"),
        *(HOUSE / "identity").rglob("*.py"),
    )
    if file.parent not in READERS
)

ALLOWED = {
    "library/saving/try_rules.py": "inside a task",
    "library/archive/noise.py": "inside a task",
    "library/watch.py": "the task itself",
    "library/archive/versions.py": "the task itself",
    "library/saving/reparse.py": "the task of its worker processes",
    "library/imports/run.py": "without a room, for callers that trust the file",
    "library/verify.py": "the task of its worker process",
    "library/imports/reader.py": "the task of its worker process",
    "library/imports/rows.py": "called by that task",
    "library/exports/article_html.py": "`pagekeep export`: pages that Pagekeep rendered and sanitised itself",
    "library/exports/item_book.py": "the task itself",
    "library/crawl/read_page.py": "called by the task of `read_page.py`",
    "library/crawl/known_site.py": "the tasks themselves; shingles of texts, in bounded work, for `pagekeep crawl --out`",
    "library/items/reading.py": "words of 12,000 characters that are stored, in bounded work",
    "library/packs/write.py": "the task itself",
    "library/crawl/sitemaps.py": "a value",
    "library/packs/pack.py": "a value",
    "library/imports/detect.py": "called by the task of `reader.py`",
    "library/packs/folder.py": "the task itself",
    "doors/cli/crawl.py": "a diff on the user's own terminal, with bounded work",
    "doors/cli/reparse.py": "a diff on the user's own terminal, with bounded work",
    "doors/cli/extract.py": "an explanation on the user's own terminal; the names of steps",
    "doors/cli/rules.py": "the user's own rule files",
}
"""Modules that may use these functions, and why. None of them is a route or a tool."""


def foreign_uses(source: str) -> Iterator[str]:
    """Yield every function of the list that the source imports or calls as part of its module; and tasks that it runs."""
    tree = ast.parse(source)
    modules: dict[str, str] = {}
    """The full names of imported modules that have such functions, by the name they have here."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name: alias.name for alias in node.names if alias.name in FOREIGN}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if name in FOREIGN:
                    modules[alias.asname or alias.name] = name
                elif node.module.startswith("pagekeep.extraction") or alias.name in FOREIGN.get(node.module, ()):
                    yield name
        elif isinstance(node, ast.Call) and _runs_task(node):
            yield ast.unparse(node)
    for node in ast.walk(tree):
        module = modules.get(ast.unparse(node.value)) if isinstance(node, ast.Attribute) else None
        if isinstance(node, ast.Attribute) and module and node.attr in FOREIGN[module]:
            yield f"{module}.{node.attr}"


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
from pagekeep import dom as tree, markdown
import pagekeep.pipeline
from pagekeep.present.sections import body_of, outline
markdown.join_document(tree.parse("a"))
pagekeep.pipeline.extract("a")
def f():
    from pagekeep.extraction.clean import clean
    return ExtractTask(1).run()
"""
    assert sorted(foreign_uses(source)) == [
        "ExtractTask(1).run()",
        "pagekeep.dom.parse",
        "pagekeep.extraction.clean.clean",
        "pagekeep.pipeline.extract",
        "pagekeep.present.sections.outline",
    ]


def test_doors_and_use_cases_do_not_work_on_content_of_others() -> None:
    uses = {file.relative_to(HOUSE).as_posix(): sorted(set(foreign_uses(file.read_text("utf-8")))) for file in FILES}
    assert {name: found for name, found in uses.items() if found and name not in ALLOWED} == {}
    assert [name for name in ALLOWED if not uses[name]] == []


def test_no_route_or_tool_is_allowed_to() -> None:
    assert [name for name in ALLOWED if name.startswith(("doors/http", "doors/mcp"))] == []
