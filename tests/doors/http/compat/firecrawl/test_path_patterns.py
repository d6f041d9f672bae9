"""Firecrawl's patterns of paths as globs."""

from __future__ import annotations

import pytest

from pagekeep.doors.http.compat.firecrawl.crawl import to_glob
from pagekeep.errors import NotOffered


@pytest.mark.parametrize(
    ("pattern", "glob"),
    [
        ("^/blog/.*$", "/blog/*"),
        ("/blog/.+", "*://*/blog/*"),
        ("blog/.*", "*://*/*blog/*"),
        ("^/docs/v2$", "/docs/v2"),
        (r"^/a\.html$", "/a.html"),
        ("^/a.c$", "/a?c"),
        ("^/p/[^/]+/edit$", "/p/*/edit"),
        (".*", "*://*/*"),
    ],
)
def test_simple_patterns_become_globs(pattern: str, glob: str) -> None:
    assert to_glob(pattern) == glob


@pytest.mark.parametrize("pattern", ["(a+)+$", "a|b", "[a-z]*", "a{1000}", r"\d+", "a**", "^/x("])
def test_others_are_refused(pattern: str) -> None:
    with pytest.raises(NotOffered):
        to_glob(pattern)
