"""What tests of several folders share: the flag that rewrites goldens, and the pages of our corpus."""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.site.sandbox import SANDBOX

# Tests start hundreds of processes, which must not compile every module again: bytecode is kept, also where that is turned off.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Ctrl-C is tested on our own processes, which inherit it if the caller of the tests has it ignored (as `&` does).
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A change is judged by the same few made-up pages each time; `make hostile` looks for new ones in ten times as many.
UNHURRIED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("steady", max_examples=20, derandomize=True, deadline=None, suppress_health_check=UNHURRIED)
settings.register_profile("search", max_examples=200, deadline=None, suppress_health_check=UNHURRIED, print_blob=True)
settings.load_profile("steady")

if not SANDBOX:  # for our own processes, which read the environment
    os.environ["PAGEKEEP_BROWSER_SANDBOX"] = "false"

pytest_plugins = ["tests.site.fixtures", "tests.shared_workers"]

CORPUS = Path(__file__).parent / "corpus"
_OF_SOURCE = {
    "test_every_step_has_a_name_to_type_and_a_description",
    "test_every_step_has_its_own_name_and_a_description",
    "test_a_deep_nest_is_left_to_the_sanitiser",  # compiled code reads it: no limit of the interpreter is reached
}
"""Tests of the source rather than of what it does."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite-goldens",
        action="store_true",
        help="write the expected Markdown of tests/fixtures again; read the diff before keeping it",
    )
    parser.addoption(
        "--full", action="store_true", help="run the tests marked `full` too: more of the same, for `make hostile`"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: more cases of what other tests show on a few; run with --full.")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the cases marked `full` unless they are wanted, and those that a compiled core cannot run."""
    if not config.getoption("--full"):
        left_out = [item for item in items if item.get_closest_marker("full")]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if not item.get_closest_marker("full")]
    skip_what_compiled_code_lacks(items)


def skip_what_compiled_code_lacks(items: list[pytest.Item]) -> None:
    """Skip, when the core is compiled, the tests that replace its names or read its docstrings."""
    from pagekeep import pipeline

    if str(pipeline.__file__).endswith(".py"):
        return
    reason = pytest.mark.skip(reason="compiled code does not look its own names up, and has no docstrings")
    for item in items:
        if "monkeypatch" in getattr(item, "fixturenames", ()) or item.name in _OF_SOURCE:
            item.add_marker(reason)


@dataclass(frozen=True)
class OwnPage:
    """A page of `tests/corpus` and what is known about it."""

    name: str
    data: bytes
    gold: dict[str, Any]

    @property
    def html(self) -> str:
        """The page as text; one page is in an old encoding on purpose."""
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError:
            return self.data.decode("windows-1252")

    @property
    def url(self) -> str:
        return str(self.gold["url"])


@pytest.fixture(scope="session")
def own_pages() -> list[OwnPage]:
    """The pages of our corpus, in order of name."""
    return [
        OwnPage(path.stem, path.read_bytes(), json.loads(path.with_suffix(".json").read_text("utf-8")))
        for path in sorted(CORPUS.glob("*.html"))
    ]
