"""Every thing of the clean HTML has one form in Markdown."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pagekeep import dom
from pagekeep.markdown import to_markdown
from pagekeep.markdown.inline import run

from .render import markdown, render, round_trip, texts


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h2>A <strong>bold</strong> title</h2>", "## A bold title"),
        ("<h3>Sharp #</h3>", "### Sharp \\#"),
        ("<p>one\n  two</p><p>three</p>", "one two\n\nthree"),
        ("loose text<p>block</p>tail", "loose text\n\nblock\n\ntail"),
        ("<p>a<br>b</p>", "a\\\nb"),
        ("<p>a<br><br>b</p>", "a\n\nb"),
        ("<p>one</p><hr><p>two</p>", "one\n\n---\n\ntwo"),
        ("<details><summary>More</summary><p>inside</p></details>", "**More**\n\ninside"),
        ("<custom-box><p>a</p>b</custom-box>", "a\n\nb"),
        ("<script>alert(1)</script><p>a</p>", "a"),
        ("<p>&nbsp;</p><div><span> </span></div>", ""),
    ],
)
def test_blocks(html: str, expected: str) -> None:
    assert markdown(html).rstrip("\n") == expected


def test_markdown_ends_in_one_newline_and_nothing_is_nothing() -> None:
    assert markdown("<p>a</p>\n\n") == "a\n"
    assert markdown("<div><p></p></div>") == ""


def test_any_element_may_be_the_root() -> None:
    item = dom.first(dom.parse_fragment("<ul><li>a</li></ul>"), "ul")
    assert item is not None
    assert to_markdown(item) == "- a\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<b>a</b><b>b</b>", "**ab**"),
        ("<em>a <em>b</em></em>", "*a b*"),
        ("x <b> a </b> y", "x **a** y"),
        ("<b>note:</b>text", "**note**:text"),
        ("注意<b>（重要）</b>事項", "注意（**重要**）事項"),
        ("<b><a href='https://x.y'>a</a></b>s", "[**a**](https://x.y)s"),
        ("<s>gone</s>", "~~gone~~"),
        ("<strong><em>both</em></strong>", "***both***"),
        ("x<b>…</b>y", "x…y"),
        ("<q>so</q> <cite>Book</cite>", "“so” *Book*"),
        ("<kbd><kbd>Ctrl</kbd>+<kbd>C</kbd></kbd>", "`Ctrl`+`C`"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby> <ruby>字<rt>ji</rt></ruby>", "漢(kan) 字(ji)"),
        ("<abbr title='World'>W</abbr> <small>s</small> <ins>i</ins>", "W s i"),
    ],
)
def test_phrases(html: str, expected: str) -> None:
    assert markdown(f"<p>{html}</p>") == expected + "\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("x<sup>2</sup>", "x²"),
        ("10<sup>-3</sup>", "10⁻³"),
        ("H<sub>2</sub>O", "H₂O"),
        ("1<sup>st</sup>", "1st"),
        ("x<sub>max</sub>", "x_max"),
        ("2<sup>a+bc</sup>", "2^(a+bc)"),
        ("a <sup>note</sup>", "a note"),
        ("a<sup><a href='https://x.y'>ref</a></sup>", "a[ref](https://x.y)"),
    ],
)
def test_subscript_and_superscript_read_without_markup(html: str, expected: str) -> None:
    assert markdown(f"<p>{html}</p>") == expected + "\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# no heading", "\\# no heading"),
        ("#hashtag", "#hashtag"),
        ("- no item", "\\- no item"),
        ("-5 degrees", "-5 degrees"),
        ("1986. A year", "1986\\. A year"),
        ("3.14 is pi", "3.14 is pi"),
        ("&gt; no quote", "\\> no quote"),
        ("2 * 3 and 2*3", "2 * 3 and 2\\*3"),
        ("snake_case and _this_", "snake_case and \\_this\\_"),
        ("&lt;b&gt; but a &lt; b", "\\<b> but a < b"),
        ("&amp;copy; but R&amp;D", "\\&copy; but R&D"),
        ("[a](b) but [a] and a[0]", "[a\\](b) but [a] and a[0]"),
        ("[a]: b", "[a\\]: b"),
        ("[x] b", "\\[x] b"),
        ("[!note] b", "\\[!note] b"),
        ("C:\\dir and \\* x", "C:\\dir and \\\\\\* x"),
        ("$5 and $10", "$5 and $10"),
        ("$x$ is text", "\\$x\\$ is text"),
        ("~5 or a~~b~~", "~5 or a\\~\\~b\\~\\~"),
        ("a `tick`", "a \\`tick\\`"),
        ("a | b", "a | b"),
        ("a^[b] but a^b", "a\\^[b] but a^b"),
        ("Mr. T. (really!) e.g. this + that", "Mr. T. (really!) e.g. this + that"),
        ("---", "\\---"),
    ],
)
def test_text_that_looks_like_markdown_stays_text_without_needless_backslashes(text: str, expected: str) -> None:
    assert markdown(f"<p>{text}</p>") == expected + "\n"


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("https://x.y/a_(b)", "https://x.y/a_(b)"),
        ("https://x.y/a)b", "https://x.y/a%29b"),
        ("https://x.y/a b", "https://x.y/a%20b"),
        ("https://x.y/<a>|`", "https://x.y/%3Ca%3E%7C%60"),
        ("https://x.y/?a=1&b=2", "https://x.y/?a=1&b=2"),
        ("https://x.y/?a=&amp;lt;", "https://x.y/?a=\\&lt;"),
        ("https://x.y/ü", "https://x.y/ü"),
    ],
)
def test_addresses_survive_between_parentheses(href: str, expected: str) -> None:
    assert markdown(f'<a href="{href}">a</a>') == f"[a]({expected})\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<a href="https://x.y" title="More &quot;here&quot;">a</a>', '[a](https://x.y "More \\"here\\"")'),
        ('<a href="https://x.y" title="A">a</a>', "[a](https://x.y)"),
        ('<a href="#fn-9">a</a> <a>b</a>', "a b"),
        ('see<a href="https://x.y"> a </a>b', "see [a](https://x.y) b"),
        ('Wow!<a href="https://x.y">a</a>', "Wow\\![a](https://x.y)"),
        ('<a href="https://x.y">[a]</a>', "[\\[a\\]](https://x.y)"),
        ('<code><a href="https://x.y">f()</a></code>', "[`f()`](https://x.y)"),
        ('<p><a class="embed" href="https://x.y/v">YouTube: T</a></p>', "[YouTube: T](https://x.y/v)"),
        ('<a href="https://x.y"><h3>T</h3><p>d</p></a>', "### [T](https://x.y)\n\n[d](https://x.y)"),
    ],
)
def test_links(html: str, expected: str) -> None:
    assert markdown(html) == expected + "\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<img src="https://x.y/i.png" alt="A [b]">', "[![A \\[b\\]](https://x.y/i.png)](https://x.y/i.png)"),
        ('<a href="https://x.y"><img src="https://x.y/i.png" alt="A"></a>', "[![A](https://x.y/i.png)](https://x.y)"),
        ('<img alt="no source">', ""),
        (
            '<img src="https://x.y/i.png" alt="A mill" title="Built in &quot;1820&quot;">',
            '[![A mill](https://x.y/i.png "Built in \\"1820\\"")](https://x.y/i.png)',
        ),
        ('<img src="https://x.y/i" alt="A mill" title="a MILL">', "[![A mill](https://x.y/i)](https://x.y/i)"),
        ('<img src="https://x.y/i" alt="A mill" title="IMG_2034">', "[![A mill](https://x.y/i)](https://x.y/i)"),
        ('<img src="https://x.y/i" title="A mill">', "[![A mill](https://x.y/i)](https://x.y/i)"),
        (
            '<figure><figcaption>A <em>cat</em></figcaption><img src="https://x.y/i.png" alt=""></figure>',
            "[![](https://x.y/i.png)](https://x.y/i.png)\n\n*A cat*",
        ),
        (
            '<figure><img src="https://x.y/1" alt=""><img src="https://x.y/2" alt=""><figcaption>Two</figcaption></figure>',
            "[![](https://x.y/1)](https://x.y/1)\n\n[![](https://x.y/2)](https://x.y/2)\n\n*Two*",
        ),
        (
            "<figure><figcaption>Listing</figcaption><pre><code>x</code></pre></figure>",
            "*Listing*\n\n```\nx\n```",
        ),
    ],
)
def test_images_link_to_themselves_and_captions_are_under_them(html: str, expected: str) -> None:
    assert markdown(html).rstrip("\n") == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<pre><code class="language-python">a\n\n  b\n</code></pre>', "```python\na\n\n  b\n```"),
        ("<pre>```\nx</pre>", "````\n```\nx\n````"),
        ("<pre>a<br>b</pre>", "```\na\nb\n```"),
        ("<code>a`b</code>", "`` a`b ``"),
        ("<code>a</code><code>b</code>", "`ab`"),
        ("<pre>  \n</pre>", ""),
    ],
)
def test_code_keeps_every_character(html: str, expected: str) -> None:
    assert markdown(html).rstrip("\n") == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "- a\n  - b\n- c"),
        ("<ul><li><p>a</p></li><li><p>b</p></li></ul>", "- a\n- b"),
        ("<ul><li><p>a</p><p>b</p></li><li>c</li></ul>", "- a\n\n  b\n\n- c"),
        ('<ol start="9"><li>a</li><li>b<pre>x</pre></li></ol>', "9. a\n\n10. b\n\n    ```\n    x\n    ```"),
        ("<ol><li>a<ol start='3'><li>b</li></ol></li></ol>", "1. a\n\n   3. b"),
        ("<ul><li>a</li></ul><ul><li>b</li></ul>", "- a\n\n* b"),
        ("<ul><li>a</li><ul><li>b</li></ul></ul>", "- a\n  - b"),
        ("<ul><li><hr></li></ul>", ""),
        (
            '<ul><li class="task" data-done="true">a</li><li class="task" data-done="false">b</li></ul>',
            "- [x] a\n- [ ] b",
        ),
        ("<dl><dt>T</dt><dd>one</dd><dd>two</dd><div><dt>U</dt><dd>x</dd></div></dl>",
         "**T**\n\n- one\n- two\n\n**U**\n\n- x"),
    ],
)  # fmt: skip
def test_lists(html: str, expected: str) -> None:
    assert markdown(html).rstrip("\n") == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<blockquote><p>a</p><blockquote>b</blockquote></blockquote>", "> a\n>\n> > b"),
        ("<blockquote><ul><li>a</li></ul></blockquote>", "> - a"),
        (
            '<blockquote class="callout" data-callout="tip" data-title="Do *it*"><p>a</p></blockquote>',
            "> [!tip] Do \\*it\\*\n> a",
        ),
        (
            '<blockquote class="callout" data-callout="note"><pre>a</pre></blockquote>',
            "> [!note]\n>\n> ```\n> a\n> ```",
        ),
    ],
)
def test_quotes_and_callouts(html: str, expected: str) -> None:
    assert markdown(html) == expected + "\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<p><span class="math-inline">a_b</span> for $5</p>', "$a_b$ for \\$5"),
        ('<div class="math-block">\nx\n\n= y\n</div>', "$$\nx\n= y\n$$"),
    ],
)
def test_math(html: str, expected: str) -> None:
    assert markdown(html) == expected + "\n"


NOTES = (
    '<section class="footnotes"><ol><li id="fn-1"><p>One.</p><p>More.</p></li><li id="fn-2">Two.</li></ol></section>'
)
REFERENCE = '<sup class="footnote-ref"><a href="#fn-{0}">{0}</a></sup>'


def test_footnotes_are_at_the_end_with_their_paragraphs_indented() -> None:
    html = f"{NOTES}<p>a{REFERENCE.format(1)}(b){REFERENCE.format(2)}</p>"
    assert markdown(html) == "a[^1]\\(b)[^2]\n\n[^1]: One.\n\n    More.\n\n[^2]: Two.\n"


def test_notes_without_reference_and_references_without_note_keep_their_words() -> None:
    html = f"<p>a{REFERENCE.format(1)} b{REFERENCE.format(7)}</p>{NOTES}"
    assert markdown(html) == "a[^1] b7\n\n- Two.\n\n[^1]: One.\n\n    More.\n"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            "<tr><th>A</th><th align='right'>B</th></tr><tr><td>1</td><td>2</td></tr>",
            "| A | B |\n| --- | --: |\n| 1 | 2 |",
        ),
        (
            "<tr><td>Name</td><td>Age</td></tr><tr><td>Al</td><td>4</td></tr>",
            "| Name | Age |\n| --- | --- |\n| Al | 4 |",
        ),
        ("<tr><th>Born</th><td>1950</td></tr>", "|  |  |\n| --- | --- |\n| Born | 1950 |"),
        ("<tr><td>1</td><td>2</td></tr>", "|  |  |\n| --- | --- |\n| 1 | 2 |"),
        (
            "<tr><th colspan='2'>A</th><th>B</th></tr><tr><td rowspan='2'>x</td><td>y</td><td>z</td></tr><tr><td>v</td></tr>",
            "| A |  | B |\n| --- | --- | --- |\n| x | y | z |\n|  | v |  |",
        ),
        ("<tr><th>a|b</th></tr><tr><td><code>c|d</code></td></tr>", "| a\\|b |\n| --- |\n| `c\\|d` |"),
        (
            "<tr><th>A</th></tr><tr><td><p>x</p><ul><li>y</li><li>z<br>w</li></ul></td></tr>",
            "| A |\n| --- |\n| x • y • z w |",
        ),
        ("<caption>Cap</caption><tr><th>A</th></tr>", "*Cap*\n\n| A |\n| --- |"),
        ("<tr><th>A</th><td><pre>x\ny</pre></td></tr>", "**A**\n\n```\nx\ny\n```"),
    ],
)
def test_tables(rows: str, expected: str) -> None:
    assert markdown(f"<table>{rows}</table>") == expected + "\n"


def test_cells_come_back_where_they_were() -> None:
    html = "<table><tr><th>A</th><th>B</th></tr><tr><td>1 | <b>2</b></td><td><code>|</code></td></tr></table>"
    assert texts(round_trip(html), "td") == ["1 | 2", "|"]


@pytest.mark.parametrize("tag", ["ul", "ol", "blockquote", "dl", "div", "em", "table", "span", "figure", "section"])
def test_nests_of_any_depth_are_written_whole(tag: str) -> None:
    root = dom.parse_fragment(f"<{tag}>w " * 700)
    dom.bound_depth(root)
    assert to_markdown(root).count("w") == 700


def test_deep_lists_stop_indenting_before_renderers_stop_reading() -> None:
    html = "<ul><li>a" * 40
    assert " ".join(texts(render(markdown(html)), "ul")[0].split()) == " ".join("a" * 40)


def test_broken_characters_can_be_written_to_a_file() -> None:
    html = "<p>\ud800a\x00\x01b\x0e[c\x12(d)</p><pre>\udfff</pre><a href='https://x.y/\ud800'>\x10</a>"
    written = markdown(html)
    assert written.encode("utf-8").decode("utf-8") == written
    assert not any(char < " " and char != "\n" for char in written)


def test_huge_spans_do_not_make_huge_tables() -> None:
    rows = "<tr>" + "<td rowspan='999'>a</td>" * 300 + "</tr>" + "<tr><td colspan='999'>b</td></tr>" * 300
    written = markdown(f"<table>{rows}</table>")
    assert written.count("a") == written.count("b") == 300
    assert len(written) < 300_000


# -- what is written at once reads as what is written piece by piece ---------------------------------------------------

_TRICKY = st.text(alphabet=st.sampled_from(" \n\tab1.~*_`[]()!#->+|=:$^&;<\\\u00a0\u00ad\u2019\x00é"), max_size=24)


@given(_TRICKY)
def test_text_alone_in_its_block_is_written_like_text_with_company(text: str) -> None:
    for tag in ("p", "li", "h2", "td", "dd"):
        block = [
            dom.element("div", None, dom.element(tag, None, text, *others)) for others in ((), (dom.element("wbr"),))
        ]
        assert to_markdown(block[0]) == to_markdown(block[1])


@given(_TRICKY, _TRICKY, _TRICKY)
def test_text_alone_in_its_link_is_written_like_text_with_company(before: str, text: str, after: str) -> None:
    lines = []
    for others in ((), (dom.element("wbr"),)):
        link = dom.element("a", {"href": "https://example.org/"}, text, *others)
        lines.append(to_markdown(dom.element("div", None, dom.element("p", None, before, link, after))))
    assert lines[0] == lines[1]


_PIECES = st.lists(st.sampled_from(("word", " ", ".", "a", "-", "é", "\x0e[x](y)\x0f", "(")), max_size=3).map("".join)
_EMPHASISED = st.tuples(st.sampled_from(("\x01\x02", "\x03\x04", "\x05\x06", "\x01\x04")), _PIECES).map(
    lambda made: made[0][0] + made[1] + made[0][1]
)
_LINES = st.lists(_PIECES | _EMPHASISED, max_size=6).map("".join)


@given(_LINES)
@example("a\x01.word\x02 b")
@example("a \x01word.\x02b")
def test_emphasis_of_whole_words_needs_no_trial(line: str) -> None:
    pieces = run._MARKS.split(run._tighten(line))
    tried = run._Delimiters(pieces[0::2], pieces[1::2]).write()
    assert run.resolve(line) == tried


def test_a_formula_beside_a_digit_stays_a_formula() -> None:
    html = '<p>2<span class="math-inline">x</span>3 and <span class="math-inline">y</span><em>4</em></p>'
    assert [dom.text_of(node) for node in dom.select(round_trip(html), ".math")] == ["x", "y"]


def test_a_dollar_sign_in_a_formula_does_not_end_it() -> None:
    html = '<p><span class="math-inline">5$ a</span> and</p><div class="math-block">b \\$ c $ d</div>'
    assert [dom.text_of(node).strip() for node in dom.select(round_trip(html), ".math")] == ["5\\$ a", "b \\$ c \\$ d"]
