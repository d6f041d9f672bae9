from __future__ import annotations

import pytest


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
