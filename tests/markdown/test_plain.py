"""Plain text: the words of the content and nothing else."""

from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.markdown import to_text


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h2>Title</h2><p>one\n <b>two</b></p><p>three</p>", "Title\n\none two\n\nthree"),
        ("<p>a<br>b</p>", "a\nb"),
        ("<ul><li>a</li><li><p>b</p><ul><li>c</li></ul></li></ul><p>d</p>", "a\nb\nc\n\nd"),
        ("<dl><dt>T</dt><dd>D</dd></dl>", "T\nD"),
        ("<table><tr><th>A</th><th>B</th></tr><tr><td><p>1</p><p>2</p></td><td>3</td></tr></table>", "A\tB\n1 2\t3"),
        ("<p>a</p><pre><code>x\n  y\n</code></pre><p>b</p>", "a\n\nx\n  y\n\nb"),
        ('<p>a <a href="https://x.y">link</a> <img src="https://x.y/i" alt="alt"></p>', "a link"),
        ('<p>word<sup class="footnote-ref"><a href="#fn-1">1</a></sup>.</p>', "word."),
        ('<p>so <span class="math-inline">a_b</span></p>', "so a_b"),
        ('<blockquote class="callout" data-callout="tip" data-title="Do"><p>it</p></blockquote>', "Do\n\nit"),
        ("<p>* # [a](b) &lt;b&gt;</p>", "* # [a](b) <b>"),
        ("<p>a<script>b</script></p>", "a"),
        ("<figure><img src='/i'><figcaption>caption</figcaption></figure><p>a</p>", "a"),
        ("", ""),
    ],
)
def test_text_of(html: str, expected: str) -> None:
    assert to_text(dom.parse_fragment(html)) == expected


def test_deep_trees_and_broken_characters_do_no_harm() -> None:
    root = dom.parse_fragment("<div><table><tr><td>\ud800\x00" * 300)
    dom.bound_depth(root)
    assert to_text(root).count("\ufffd") == 300
