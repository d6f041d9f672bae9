"""The seam over the HTML library: what the house relies on, whatever library is behind it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep import dom
from tests.hostile.web_encodings import LABELS, is_web_label, odd_labels, python_names


def body(html: str) -> dom.Element:
    """A detached `div` that holds the markup."""
    return dom.parse_fragment(html)


def depth_of(root: dom.Element) -> int:
    """Levels of elements below the root."""
    deepest, pending = 0, [(root, 0)]
    while pending:
        node, depth = pending.pop()
        deepest = max(deepest, depth)
        pending.extend((child, depth + 1) for child in node.children if isinstance(child, dom.Element))
    return deepest


def only(node: dom.Node, css: str) -> dom.Element:
    (found,) = dom.select(node, css)
    return found


def test_parse_builds_the_tree_a_browser_builds() -> None:
    document = dom.parse("<!doctype html><p>one<p>two<table><tr><td>three")
    assert [dom.text_of(node) for node in dom.select(document, "body > p")] == ["one", "two"]
    assert dom.first(document, "table > tbody > tr > td") is not None


def test_texts_come_one_by_one() -> None:
    assert list(dom.texts_of(body("one<p>two <b>three</b></p><!--no-->"))) == ["one", "two ", "three"]


def test_select_gives_document_order_without_repeats() -> None:
    root = body("<b>1</b><i>2</i><b>3</b>")
    assert [dom.text_of(node) for node in dom.select(root, "i, b, b")] == ["1", "2", "3"]


def test_malformed_selector_is_an_error() -> None:
    with pytest.raises(dom.SelectorError):
        dom.select(body("<p>"), "p[")


def test_first_is_none_when_nothing_matches() -> None:
    assert dom.first(body("<p>one</p>"), "h1") is None


def test_matches_asks_about_the_element_itself() -> None:
    paragraph = only(body("<section><p class='lead'><b>x</b></p></section>"), "p")
    assert dom.matches(paragraph, "section > .lead")
    assert not dom.matches(paragraph, "b")


def test_node_identity_is_stable() -> None:
    root = body("<p>one</p>")
    assert only(root, "p") is only(root, "p")
    assert {only(root, "p"): "found"}[only(root, "p")] == "found"


def test_attributes_are_plain_strings() -> None:
    image = only(body("<img class='a  b' alt src=x.png>"), "img")
    attributes = dom.attributes(image)
    assert attributes["alt"] == ""
    assert attributes["src"] == "x.png"
    assert attributes["class"].split() == ["a", "b"]


def test_attributes_are_a_copy() -> None:
    image = only(body("<img alt=old>"), "img")
    dom.attributes(image)["alt"] = "new"
    assert image.attr("alt") == "old"


def test_set_attr_sets_and_removes() -> None:
    link = only(body("<a href='/x' title=t>go</a>"), "a")
    dom.set_attr(link, "href", '/y?a=1&b="2"')
    dom.set_attr(link, "title", None)
    dom.set_attr(link, "never-there", None)
    assert dom.attributes(link) == {"href": '/y?a=1&b="2"'}
    assert only(body(dom.html_of(link)), "a").attr("href") == '/y?a=1&b="2"'


def test_strings_become_text_not_markup() -> None:
    made = dom.element("p", {"class": "x"}, "1 < 2 & ", dom.element("b", None, "<i>"))
    assert dom.text_of(made) == "1 < 2 & <i>"
    assert dom.html_of(made) == '<p class="x">1 &lt; 2 &amp; <b>&lt;i&gt;</b></p>'


def test_append_and_prepend_keep_the_order_given() -> None:
    root = body("<i>m</i>")
    dom.append(root, "y", dom.element("b", None, "z"))
    dom.prepend(root, "a", dom.element("b", None, "b"))
    assert dom.inner_html(root) == "a<b>b</b><i>m</i>y<b>z</b>"


def test_append_takes_the_node_from_where_it_was() -> None:
    root = body("<ul><li>one</li></ul><ol></ol>")
    dom.append(only(root, "ol"), only(root, "li"))
    assert dom.inner_html(root) == "<ul></ul><ol><li>one</li></ol>"


def test_add_before_and_after_keep_the_order_given() -> None:
    root = body("<i>m</i>")
    dom.add_before(only(root, "i"), "a", "b")
    dom.add_after(only(root, "i"), "y", "z")
    assert dom.inner_html(root) == "ab<i>m</i>yz"


def test_drop_keeps_what_is_behind() -> None:
    root = body("before<b>gone</b>after")
    dom.drop(only(root, "b"))
    assert dom.inner_html(root) == "beforeafter"


def test_replace_puts_others_in_its_place() -> None:
    root = body("a<b>x</b>c")
    old = only(root, "b")
    dom.replace(old, "1", dom.element("i", None, "2"))
    assert dom.inner_html(root) == "a1<i>2</i>c"
    assert old.parent is None


def test_unwrap_keeps_children_in_place() -> None:
    root = body("a<b>x<i>y</i></b>c")
    dom.unwrap(only(root, "b"))
    assert dom.inner_html(root) == "ax<i>y</i>c"


def test_wrap_puts_the_wrapper_where_the_node_is() -> None:
    root = body("a<img src=x>c")
    wrapper = dom.wrap(only(root, "img"), dom.element("figure"))
    assert wrapper.tag == "figure"
    assert dom.inner_html(root) == 'a<figure><img src="x"></figure>c'


def test_retag_keeps_attributes_and_children() -> None:
    root = body("<b class=x>a<i>b</i></b>")
    dom.retag(only(root, "b"), "strong")
    assert dom.inner_html(root) == '<strong class="x">a<i>b</i></strong>'


def test_copy_is_detached_and_deep() -> None:
    root = body("<div><p>one</p></div>")
    twin = dom.copy(only(root, "div"))
    dom.append(only(twin, "p"), " two")
    assert twin.parent is None
    assert dom.text_of(twin) == "one two"
    assert dom.text_of(root) == "one"


def test_neighbours_skip_text_and_comments() -> None:
    root = body("<b>1</b> text <!-- note --> <i>2</i>")
    assert dom.next_element(only(root, "b")) is only(root, "i")
    assert dom.previous_element(only(root, "i")) is only(root, "b")
    assert dom.next_element(only(root, "i")) is None


def test_nodes_hold_text_and_comments_and_elements_do_not() -> None:
    root = body("a<b>c</b><!--d-->")
    assert [type(node).__name__ for node in dom.nodes(root)] == ["Text", "Element", "Text", "Comment"]
    assert [node.tag for node in dom.elements(root)] == ["b"]


def test_shallow_tree_is_left_alone() -> None:
    root = body("<div><p>one <b>two</b></p></div>")
    before = dom.inner_html(root)
    assert dom.bound_depth(root) == 0
    assert dom.inner_html(root) == before


@pytest.mark.parametrize("tag", ["div", "span", "blockquote"])
def test_deep_nest_is_flattened_and_loses_no_text(tag: str) -> None:
    levels = 3_000
    root = body("".join(f"<{tag}>w{number} " for number in range(levels)) + "<img src=kept.png>")
    words = dom.text_of(root)
    assert dom.bound_depth(root) > 0
    assert depth_of(root) <= dom.MAX_DEPTH + 1
    assert dom.text_of(root) == words
    assert only(root, "img").attr("src") == "kept.png"


def test_nest_of_a_hundred_thousand_is_survived() -> None:
    document = dom.parse("<div>" * 100_000 + "core")
    root = dom.first(document, "body")
    assert root is not None
    dom.bound_depth(root)
    assert depth_of(root) <= dom.MAX_DEPTH + 1
    assert dom.text_of(root) == "core"


def test_element_of_two_hundred_thousand_attributes_is_survived() -> None:
    paragraph = only(body("<p " + " ".join(f"a{number}=1" for number in range(200_000)) + ">core</p>"), "p")
    assert dom.text_of(paragraph) == "core"
    assert len(dom.attributes(paragraph)) > 0


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("<>/!-&\"'= \0\ud800")), max_size=300))
def test_any_text_parses_to_a_tree_that_prints_and_parses_again(html: str) -> None:
    root = dom.first(dom.parse(html), "body")
    assert root is not None
    assert isinstance(dom.text_of(dom.parse_fragment(dom.inner_html(root))), str)


def test_tagged_finds_all_of_several_names_in_document_order() -> None:
    root = body("<ul><li>a<p>b</p></li></ul><p>c</p><svg></svg>")
    assert [node.tag for node in dom.tagged(root, ("p", "li", "svg"))] == ["li", "p", "p", "svg"]
    assert dom.tagged(root, ("table",)) == []


def test_attributes_that_only_a_parser_can_make_are_left_out_of_new_elements() -> None:
    parsed = dom.first(dom.parse("<p = class=a>x</p>"), "p")
    assert parsed is not None
    assert "=" in dom.attributes(parsed)
    assert dom.attributes(dom.element("p", dom.attributes(parsed))) == {"class": "a"}


def count_elements(document: dom.Document) -> int:
    return sum(1 for _ in dom.elements(document))


@pytest.mark.parametrize("opening", ["<html a{}=1>", "<p><body a{}=1>", "<p><BODY/a{}>", "<html x='>' a{} b{}_ c{}_>"])
def test_attributes_of_endless_html_and_body_tags_are_dropped(opening: str) -> None:
    source = "".join(opening.replace("{}", str(number)) for number in range(5_000)) + "<p>words"
    document, simplified = dom.parse_bounded(source)
    merged = sum(len(dom.attributes(node)) for node in dom.select(document, "html, body"))
    assert merged <= dom.MAX_ROOT_ATTRIBUTES
    assert "words" in dom.text_of(document)
    assert len(simplified) == 1
    assert "<html>" in simplified[0]


def test_two_html_tags_with_many_attributes_are_not_merged() -> None:
    many = [" ".join(f"{letter}{number}" for number in range(3_000)) for letter in "ab"]
    document, simplified = dom.parse_bounded("".join(f"<html {names}>" for names in many))
    assert simplified
    assert not any(dom.attributes(node) for node in dom.select(document, "html"))


BOLD = "".join(f"<b id={number}>" for number in range(400))


@pytest.mark.parametrize(
    "source",
    [
        "".join(f"<font size={number}><p>x" for number in range(8_000)),
        f"<p>{BOLD}" + "<p>x" * 20_000,
        f"<!--<b title='--><p>{BOLD}" + "<p>x" * 20_000 + "'></b>",
        '<p><b x=1"><b>' + BOLD + '"</b>' + "<p>x" * 20_000,
        "<p>" + "".join(f'<b "x="1>{number}">' for number in range(400)) + "<p>x" * 20_000,
    ],
)
def test_unclosed_formatting_does_not_multiply_the_elements(source: str) -> None:
    document, simplified = dom.parse_bounded(source)
    assert count_elements(document) <= source.count("<") + 3
    assert dom.text_of(document).count("x") >= 8_000
    assert len(simplified) == 1
    assert "formatting" in simplified[0]


def test_large_pages_keep_their_formatting() -> None:
    unit = '<p>One <b>bold</b>, <i class="x{}">more</i> and <b id=y{}>a <code>name</code></b>.</p>'
    source = "".join(unit.replace("{}", str(number % 200)) for number in range(2_000))
    document, simplified = dom.parse_bounded(source)
    assert simplified == ()
    assert len(dom.select(document, "b")) == 4_000


def test_every_label_of_the_encoding_standard_is_known_and_no_other_codec_of_python() -> None:
    names = [*python_names(), *odd_labels(200)]
    assert [label for label in LABELS if dom.decode(b"abc", label) is None] == []
    assert [name for name in names if dom.decode(b"abc", name) is not None and not is_web_label(name)] == []


def test_shadow_roots_are_shown_where_a_browser_shows_them():
    page = dom.parse(
        '<my-card><template shadowrootmode="open"><h2><slot name="title">No title</slot></h2><div><slot></slot></div>'
        '<my-note><template shadowrootmode="open"><p>Inner <slot></slot></p></template>note</my-note></template>'
        '<span slot="title">Bells</span>They <b>ring</b>.<i slot="unknown">lost</i></my-card>'
    )
    card = dom.first(page, "my-card")
    assert card is not None
    assert dom.inner_html(card) == (
        '<h2><span slot="title">Bells</span></h2><div>They <b>ring</b>.</div><my-note><p>Inner note</p></my-note>'
    )
