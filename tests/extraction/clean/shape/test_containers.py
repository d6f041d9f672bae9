from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li><p>a</p></li></ul>", "<ul><li>a</li></ul>"),
        ("<ul><li><div>a</div><ul><li>b</li></ul></li></ul>", "<ul><li>a<ul><li>b</li></ul></li></ul>"),
        ("<ul><li>a</li><ul><li>b</li></ul></ul>", "<ul><li>a<ul><li>b</li></ul></li></ul>"),
        ("<ul><div><li>a</li></div><div><li>b</li></div></ul>", "<ul><li>a</li><li>b</li></ul>"),
        ("<ul>\n<li>a</li> text </ul>", "<ul><li>a</li><li> text </li></ul>"),
        ("<ul><li></li><li>a</li></ul><ul></ul>", "<ul><li>a</li></ul>"),
        ("<div><li>a</li><li>b</li></div>", "<ul><li>a</li><li>b</li></ul>"),
        ("<ul><li><p>a</p><p>b</p></li></ul>", "<ul><li><p>a</p><p>b</p></li></ul>"),
        ("<ul><li>a<br><br>b</li></ul>", "<ul><li><p>a</p><p>b</p></li></ul>"),
        ('<ol start="3" type="a"><li>a</li></ol>', '<ol start="3"><li>a</li></ol>'),
        ("<dl><div><dt>a</dt><dd><p>b</p></dd></div></dl>", "<dl><dt>a</dt><dd>b</dd></dl>"),
        (
            "<table><tr><th>h</th><td><div>a</div></td></tr></table>",
            "<table><tbody><tr><th>h</th><td>a</td></tr></tbody></table>",
        ),
    ],
)
def test_containers_hold_what_clean_html_allows(cleaned, html, expected):
    assert cleaned(html) == expected


def test_definitions_of_nothing_are_how_old_pages_indent(cleaned):
    assert cleaned("<dl><dd>one</dd><dd><p>two</p><p>three</p></dd></dl>") == "<p>one</p><p>two</p><p>three</p>"


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
