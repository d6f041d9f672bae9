"""Lists that were typed with bullets."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>• one</p><p>• two</p>", "<ul><li>one</li><li>two</li></ul>"),
        (
            "<p>You need:<br>• <b>one</b><br>•two</p>",
            "<p>You need:</p><ul><li><strong>one</strong></li><li>two</li></ul>",
        ),
        ("<p><b>● one</b> more</p> <div>● two</div>", "<ul><li><strong>one</strong> more</li><li>two</li></ul>"),
        ("<ul><li>• one</li><li>▪ two</li></ul>", "<ul><li>one</li><li>two</li></ul>"),
        (
            "<p>• one<br>• two</p><p>and</p><p>• three</p>",
            "<ul><li>one</li><li>two</li></ul><p>and</p><p>• three</p>",
        ),
    ],
)
def test_lines_with_bullets_become_items(cleaned, html, expected):
    assert cleaned(html) == expected


@pytest.mark.parametrize("html", ["<p>• one</p>", "<p>one • two</p>", "<p>– Yes.</p><p>– No.</p>"])
def test_a_single_bullet_and_dashes_of_speech_stay_text(cleaned, html):
    assert cleaned(html) == html


def test_cells_hold_no_lists(cleaned):
    html = "<table><tbody><tr><th>a</th><th>b</th></tr><tr><td>• one<br>• two</td><td>c</td></tr></tbody></table>"
    assert "<ul>" not in cleaned(html)
