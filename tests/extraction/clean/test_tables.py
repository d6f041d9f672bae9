from __future__ import annotations

import pytest


def test_a_table_of_data_keeps_its_cells(cleaned):
    html = (
        '<table class="x" border=1><caption>Teas</caption><colgroup><col></colgroup><thead><tr><th>Name</th><th align="right">Minutes</th></tr>'
        '</thead><tbody><tr><td rowspan="2">Green</td><td style="text-align: right">2</td></tr></tbody></table>'
    )
    expected = (
        '<table><caption>Teas</caption><thead><tr><th>Name</th><th align="right">Minutes</th></tr></thead>'
        '<tbody><tr><td rowspan="2">Green</td><td align="right">2</td></tr></tbody></table>'
    )
    assert cleaned(html) == expected


def test_a_small_table_without_header_is_data(cleaned):
    html = "<table><tr><td>Green</td><td>2</td></tr><tr><td>Black</td><td></td></tr></table>"
    assert (
        cleaned(html)
        == "<table><tbody><tr><td>Green</td><td>2</td></tr><tr><td>Black</td><td></td></tr></tbody></table>"
    )


@pytest.mark.parametrize(
    "html",
    [
        '<table role="presentation"><tr><td>one</td><td>two</td></tr></table>',
        "<table><tr><td><p>one</p><p>two</p></td></tr></table>",
        "<table><tr><td>one</td></tr><tr><td>two</td></tr></table>",
        "<table><tr><td>one</td><td><table><tr><td>two</td></tr></table></td></tr></table>".replace(
            "<td>one</td>", ""
        ).replace("<table><tr><td><table>", "<p>one</p><table><tr><td><table>"),
    ],
)
def test_a_layout_table_is_unwrapped_in_reading_order(cleaned, html):
    assert cleaned(html) == "<p>one</p><p>two</p>"


def test_cells_of_headings_and_sections_are_layout(cleaned):
    html = "<table><tr><td><h2>Left</h2><p>a</p></td><td><h2>Right</h2><p>b</p></td></tr></table>"
    assert cleaned(html) == "<h2>Left</h2><p>a</p><h2>Right</h2><p>b</p>"


def test_empty_rows_go_and_empty_cells_stay(cleaned):
    html = "<table><tr></tr><tr><th>a</th><th> </th></tr><tr><td>b</td><td></td></tr></table>"
    assert cleaned(html) == "<table><tbody><tr><th>a</th><th></th></tr><tr><td>b</td><td></td></tr></tbody></table>"


def test_code_of_one_line_stays_in_its_cell(cleaned):
    html = (
        "<table><tr><td>Old</td><td><pre>brew()</pre></td></tr><tr><td>New</td><td><pre>steep()</pre></td></tr></table>"
    )
    assert "<td>Old</td><td><code>brew()</code></td>" in cleaned(html)


def test_a_table_that_shows_one_cell_a_row_is_layout(cleaned):
    html = "<table><tr><td></td><td>one</td></tr><tr><td> </td><td>two</td></tr></table>"
    assert cleaned(html) == "<p>one</p><p>two</p>"


def test_a_first_row_in_bold_names_the_columns(cleaned):
    rows = "<tr><td>green</td><td>80</td></tr><tr><td>black</td><td>95</td></tr>"
    assert cleaned(f"<table><tr><td><b>Tea</b></td><td><p><b>Heat</b></p></td></tr>{rows}</table>").count("<th>") == 2
    assert "<th" not in cleaned(f"<table><tr><td><b>Tea</b></td><td>Heat</td></tr>{rows}</table>")
    assert "<th" not in cleaned("<table>" + "<tr><td><b>Tea</b></td><td><b>Heat</b></td></tr>" * 3 + "</table>")
