"""Lists typed with bullets, and lists of tasks."""

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


@pytest.mark.parametrize(
    "box",
    [
        '<input type="checkbox" checked>{}',
        "<label><input type=checkbox checked> {}</label>",
        "<p><input type=checkbox checked=''>{}</p>",
    ],
)
def test_a_checkbox_at_the_head_of_an_item_makes_a_task(cleaned, box):
    done = cleaned(f"<ul><li>{box.format('boil')}</li></ul>").replace("> boil", ">boil")
    assert done == '<ul><li class="task" data-done="true">boil</li></ul>'


def test_an_open_task_is_not_done(cleaned):
    html = '<ul><li><input type="checkbox"> pour</li></ul>'
    assert cleaned(html) == '<ul><li class="task" data-done="false"> pour</li></ul>'


def test_a_checkbox_elsewhere_is_a_control(cleaned):
    assert cleaned("<ul><li>pour <input type=checkbox> now</li></ul>") == "<ul><li>pour  now</li></ul>"
