"""Lines across the page that part nothing."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<hr><p>tea</p><hr><hr>", "<p>tea</p>"),
        ("<h1>Tea</h1><hr><p>tea</p>", "<h1>Tea</h1><p>tea</p>"),
        ("<p>a</p><hr><p>b</p>", "<p>a</p><hr><p>b</p>"),
        ("<h2>Tea</h2><hr><p>tea</p>", "<h2>Tea</h2><hr><p>tea</p>"),
        ("<hr>", ""),
    ],
)
def test_lines_at_the_edges_go(cleaned, html, expected):
    assert cleaned(html) == expected
