"""Markdown as safe HTML for the reader."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep import dom
from pagekeep.present.markdown_html import MAX_CHARS, render, sanitise
from pagekeep.present.sections import body_of


def test_frontmatter_is_not_a_part_of_the_body() -> None:
    assert body_of("---\ntitle: A\n---\n\n# A\n\nText\n") == "# A\n\nText\n"
    assert body_of("Text\n\n---\n\nmore") == "Text\n\n---\n\nmore"
    assert body_of("---\nnever closed") == "---\nnever closed"


def test_the_title_is_not_repeated_and_stays_when_it_is_another() -> None:
    assert "<h" not in render("# The  mill\n\nText", title="The mill").html
    assert "<h2" in render("# Another\n\nText", title="The mill").html


def test_headings_have_ids_that_we_make_and_no_second_first_level() -> None:
    rendered = render("# One\n\n### Two `x`\n\n# Three")
    assert [(heading.level, heading.id, heading.text) for heading in rendered.headings] == [
        (2, "section-1", "One"),
        (4, "section-2", "Two x"),
        (2, "section-3", "Three"),
    ]
    assert '<h2 id="section-1">' in rendered.html
    assert "<h1" not in rendered.html


def test_a_picture_with_its_caption_is_a_figure() -> None:
    html = render(
        "[![A wheel](https://e.example/w.png)](https://e.example/w.png)\n\n*The **old** wheel.*\n\nText *in italics*",
        image_url=lambda url: f"/proxy?{url[-5:]}",
    ).html
    assert 'src="/proxy?w.png"' in html
    assert "<figcaption>The <strong>old</strong> wheel.</figcaption>" in html
    assert "Text <em>in italics</em>" in html
    assert html.count("<figure>") == 1


def test_two_italic_words_under_a_picture_are_not_a_caption() -> None:
    html = render("![a](https://e.example/a.png)\n\n*one* and *two*").html
    assert "<figcaption>" not in html
    assert "<em>one</em> and <em>two</em>" in html


@pytest.mark.parametrize("address", ["data:image/png;base64,AAAA", "file:///etc/passwd", "blob:https://e.example/1"])
def test_pictures_from_anywhere_but_the_web_leave_their_words(address: str) -> None:
    html = render(f"![the words]({address})", image_url=lambda url: url).html
    assert "<img" not in html
    assert "the words" in html


def test_links_lead_out_and_report_to_no_site() -> None:
    html = render("[a](/b?c#d) [m](mailto:x@e.example)", base="https://e.example/page").html
    assert '<a href="https://e.example/b?c#d" rel="noopener noreferrer">a</a>' in html
    assert 'href="mailto:x@e.example"' in html


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "vbscript:x",
        "data:text/html,x",
        "java\tscript:alert(1)",
        "&#106;avascript:alert(1)",
        "//evil.example",
        "/settings",
        "#section-1",
    ],
)
def test_no_link_leads_into_our_own_site_or_runs_anything(address: str) -> None:
    for tree in (
        dom.parse_fragment(render(f"[x](<{address}>)").html),
        dom.parse_fragment(sanitise(f'<a href="{address}">x</a>', set())),
    ):
        assert dom.select(tree, "a[href]") == []


def test_callouts_have_their_kind_and_title() -> None:
    html = render("> [!tip] Cold *days*\n> Wear wool.\n\n> [!Caution]\n> Ice.\n\n> [!odd]\n> X\n\n> plain [!note]").html
    assert '<blockquote class="callout tip">\n<p class="callout-title">Cold <em>days</em></p><p>Wear wool.</p>' in html
    assert '<blockquote class="callout danger">\n<p class="callout-title">Caution</p><p>Ice.</p>' in html
    assert '<blockquote class="callout note">' in html
    assert "plain [!note]" in html


def test_tasks_are_marks_and_no_fields() -> None:
    html = render("- [x] done\n- [ ] not\n- [y] neither").html
    assert '<li class="task"><span class="done" role="img" aria-label="Done"></span> done</li>' in html
    assert 'aria-label="To do"' in html
    assert "[y] neither" in html
    assert "<input" not in html


def test_footnotes_lead_there_and_back() -> None:
    html = render("One[^a] two[^a].\n\n[^a]: The note.").html
    assert '<a href="#fn1" id="fnref1"' in html
    assert '<li id="fn1"' in html
    assert '<a href="#fnref1" class="back" aria-label="Back to the text"' in html
    assert 'href="#fnref1:1"' in html


def test_formulas_are_mathml() -> None:
    html = render("So $x^2$ and\n\n$$\n\\frac{a}{b}\n$$\n\nand $\\frac{$ and it costs $5 or $6.").html
    assert '<math display="inline"><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow></math>' in html
    assert '<div class="formula"><math display="block">' in html
    assert "it costs $5 or $6" in html


def test_formulas_bring_nothing_but_mathematics() -> None:
    html = render(
        "$\\text{<script>alert(1)</script>}$ $\\href{javascript:alert(1)}{x}$ $\\style{position:fixed}{x}$ $\\class{toast}{x}$"
    ).html
    assert "<script" not in html
    for name in ("href", "style", "class"):
        assert f"{name}=" not in html


def test_what_looks_like_the_mark_of_a_formula_is_none() -> None:
    assert render('<data value="0"></data> `<data value="0"></data>` $x$').html.count("<math") == 1


def test_code_is_coloured_by_class_and_stays_the_same_text() -> None:
    html = render('```python\ndef f(): return "<b>"\n```\n\n```nonsense-language\n<i>\n```').html
    assert '<pre data-language="python"><code><span class="k">def</span>' in html
    assert "style=" not in html
    pre = dom.select(dom.parse_fragment(html), "pre")
    assert [dom.text_of(node) for node in pre] == ['def f(): return "<b>"\n', "<i>\n"]


def test_cells_are_aligned_by_class() -> None:
    html = render("| a | b |\n|:-:|--:|\n| 1 | 2 |").html
    assert '<th class="center">' in html
    assert '<td class="right">' in html
    assert "style" not in html


VECTORS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<math><mi xlink:href='javascript:alert(1)'>x</mi></math>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<a href='java&#10;script:alert(1)'>x</a>",
    "<form action=/items><button name=deed value=delete>x</button></form>",
    "<input autofocus onfocus=alert(1)>",
    "<style>body{display:none}</style>",
    "<base href=https://evil.example/>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<p id=told class=toast style='position:fixed'>x</p>",
    "<div data-quick data-key=j>x</div>",
]


@pytest.mark.parametrize("vector", VECTORS)
def test_html_in_the_text_is_text(vector: str) -> None:
    tree = dom.parse_fragment(render(f"a {vector} b").html)
    assert vector.split("<")[1].split(">")[0].split()[0] in dom.text_of(tree)


@pytest.mark.parametrize("vector", VECTORS)
def test_the_sanitiser_alone_leaves_nothing_that_acts(vector: str) -> None:
    tree = dom.parse_fragment(sanitise(vector, set()))
    for node in dom.elements(tree):
        assert node.tag not in ("script", "style", "svg", "math", "iframe", "form", "input", "button", "base", "meta")
        for name, value in dom.attributes(node).items():
            assert not name.startswith(("on", "data-"))
            assert name not in ("style", "id", "src", "srcdoc", "action")
            assert "script:" not in value


def test_a_text_too_long_is_shown_as_it_is() -> None:
    shown = render("*a* <b> " * (MAX_CHARS // 8 + 1)).html
    assert shown.startswith('<p role="note">This page is too long')
    assert "<pre>*a* &lt;b&gt; *a*" in shown


@given(st.text(alphabet=st.sampled_from("<>\"'&[]()!*_`$^#|:-\\ \n\0\ud800ax1{}~+=/"), max_size=120))
def test_any_text_gives_html_without_anything_that_acts(text: str) -> None:
    for node in dom.elements(dom.parse_fragment(render(text, base="https://e.example/").html)):
        assert node.tag not in ("script", "iframe", "object", "form", "style", "link", "input")
        for name, value in dom.attributes(node).items():
            assert not name.startswith("on")
            assert not (name == "href" and not value.startswith(("http://", "https://", "mailto:", "tel:", "#fn")))


def test_a_link_around_a_picture_without_words_has_a_name_for_screen_readers() -> None:
    picture = "https://mill.example/wheel.jpg"
    assert 'aria-label="Picture"' in render(f"[![]({picture})]({picture})").html
    assert "aria-label" not in render(f"[![The wheel]({picture})]({picture})").html
