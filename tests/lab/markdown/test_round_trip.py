"""Whether Markdown says what the clean HTML said."""

from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.markdown import to_markdown
from pagekeep_lab.markdown_cases import find_differences

HTML = (
    "<h2>Tea</h2><p>H<sub>2</sub>O at 10<sup>th</sup> hour"
    '<sup class="footnote-ref"><a href="#fn-1">1</a></sup>, <span class="math-inline">x^2</span>.</p>'
    '<blockquote class="callout" data-callout="note" data-title="Mind"><p>Hot.</p></blockquote>'
    "<ul><li>green<ol><li>sencha</li></ol></li></ul><pre><code>brew()</code></pre>"
    "<table><tbody><tr><td>a<br>b</td><td><ul><li>c</li></ul></td></tr></tbody></table>"
    '<section class="footnotes"><ol><li id="fn-1">Soft.</li><li id="fn-2">Unused.</li></ol></section>'
)
WRITTEN = to_markdown(dom.parse_fragment(HTML))


def test_what_is_written_otherwise_by_design_is_not_a_fault() -> None:
    assert find_differences(HTML, WRITTEN) == []


@pytest.mark.parametrize(
    ("right", "wrong", "aspect"),
    [
        ("## Tea", "Tea", "headings"),
        ("brew()", "brew( )", "code"),
        ("$x^2$", "x^2", "math"),
        ("a b", "a", "tables"),
        ("- green", "green", "items"),
        ("hour", "our", "words"),
        ("hour", "<b>hour</b>", "raw HTML"),
    ],
)
def test_what_is_not_the_same_is_said(right: str, wrong: str, aspect: str) -> None:
    assert right in WRITTEN
    assert any(fault.startswith(aspect) for fault in find_differences(HTML, WRITTEN.replace(right, wrong, 1)))
