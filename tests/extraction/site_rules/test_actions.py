"""Every action: the pairs of docs/rules-actions.md, what no action may do, and what happens when they meet."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pagekeep import dom
from pagekeep.extraction.output.sanitise import sanitise
from pagekeep.extraction.site_rules import actions
from pagekeep.extraction.site_rules.actions import run_action
from pagekeep.rules.rule import Action, Op

DOCS = Path(__file__).parents[3] / "docs" / "rules-actions.md"
PAIR = re.compile(r"```yaml\n(.*?)```\n```html\n(.*?)\n```\n```html\n(.*?)\n```", re.S)


def action(**fields: Any) -> Action:
    if "class" in fields:
        fields["class_"] = fields.pop("class")
    return Action(**{name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()})


def documented() -> list[tuple[dict[str, Any], str, str]]:
    return [(yaml.safe_load(fields), before, after) for fields, before, after in PAIR.findall(DOCS.read_text("utf-8"))]


def changed(html: str, *wanted: dict[str, Any]) -> str:
    root = dom.parse_fragment(html)
    for fields in wanted:
        run_action(root, action(**fields))
    return dom.inner_html(root)


@pytest.mark.parametrize(("fields", "before", "after"), documented(), ids=lambda value: str(value)[:40])
def test_the_documented_pairs_are_true(fields, before, after):
    assert changed(before, fields).replace('hidden=""', "hidden") == after


def test_every_operation_is_documented():
    assert {fields["op"] for fields, _, _ in documented()} == set(get_args(Op))


def test_an_action_shows_how_many_elements_and_words():
    root = dom.parse_fragment("<p class=x>one two</p><div class=x>three <b class=x>four</b></div>")
    effect = run_action(root, Action("retag", ".x", tag="h2"))
    assert (effect.what, effect.selector, effect.count, effect.words, effect.note) == ("retag", ".x", 3, 4, "")


@pytest.mark.parametrize("selector", ["..", "p:nth-child(", "[[", ":hover(", "p >"])
def test_a_bad_selector_is_reported_and_changes_nothing(selector):
    root = dom.parse_fragment("<p>one</p>")
    assert "not a selector" in run_action(root, Action("unwrap", selector)).note
    assert dom.inner_html(root) == "<p>one</p>"


@pytest.mark.parametrize(
    "fields",
    [
        {"op": "move", "target": ".."},
        {"op": "remove_to_parent", "parent": "[["},
    ],
)
def test_a_bad_second_selector_is_reported_and_changes_nothing(fields):
    root = dom.parse_fragment("<div><p>one</p></div>")
    assert "not a selector" in run_action(root, action(selector="p", **fields)).note
    assert dom.inner_html(root) == "<div><p>one</p></div>"


@pytest.mark.parametrize("tag", ["script", "img", "br", "iframe", "style", "textarea", "x-y", "", None])
def test_nothing_becomes_an_element_that_would_swallow_its_text(tag):
    root = dom.parse_fragment("<p>one</p>")
    for fields in (
        Action("retag", "p", tag=tag),
        Action("wrap", "p", wrapper_tag=tag),
        Action("group_siblings", "p", wrapper_tag=tag),
    ):
        assert "ignored" in run_action(root, fields).note
    assert dom.inner_html(root) == "<p>one</p>"


def test_a_script_is_not_opened():
    html = "<div><script>let x</script></div><style>p {}</style>"
    assert changed(html, {"op": "unwrap", "selector": "script, style"}) == html
    assert changed(html, {"op": "remove_children", "selector": "div"}) == html
    assert changed(html, {"op": "retag", "selector": "script", "tag": "p"}) == html


def test_what_an_attribute_says_still_goes_through_the_sanitiser():
    root = dom.parse_fragment('<p>one <a href="https://example.com/">two</a> <img src="https://example.com/i.png"></p>')
    for attr, value in (
        ("onclick", "steal()"),
        ("href", "javascript:steal()"),
        ("src", "data:text/html,<script>"),
        ("style", "x"),
    ):
        run_action(root, Action("set_attr", "p, a, img", attr=attr, value=value))
    html, _ = sanitise(root)
    assert html == "<p>one <a>two</a> <img></p>"


def test_an_attribute_with_an_impossible_name_is_refused():
    root = dom.parse_fragment("<p>one</p>")
    assert "ignored" in run_action(root, Action("set_attr", "p", attr='x"><script>', value="1")).note
    assert dom.inner_html(root) == "<p>one</p>"


def test_a_template_writes_text_and_never_markup():
    html = '<iframe title="<b>x</b>"></iframe>'
    reported = changed(html, {"op": "replace_with_text", "selector": "iframe", "template": "<i>{title}{absent}</i>"})
    assert reported == "&lt;i&gt;&lt;b&gt;x&lt;/b&gt;&lt;/i&gt;"


# What happens when actions meet, or an action meets itself.


def test_nested_matches_are_all_opened():
    html = "<div class=x>a<div class=x>b<div class=x>c</div>d</div>e</div>f"
    assert changed(html, {"op": "unwrap", "selector": ".x"}) == "abcdef"


def test_two_children_share_one_parent_that_goes_once():
    html = "<section><div><p>a</p><p>b</p></div></section>"
    assert changed(html, {"op": "remove_parent", "selector": "p"}) == "<section><p>a</p><p>b</p></section>"


def test_the_root_of_the_page_never_goes():
    html = "<p><b>a</b></p>"
    assert changed(html, {"op": "remove_outer_parent", "selector": "b"}) == html
    assert changed(html, {"op": "remove_parent", "selector": "p"}) == html
    assert changed(html, {"op": "remove_to_parent", "selector": "b", "parent": "article"}) == html


def test_what_was_wrapped_moves_with_its_wrapper():
    html = '<img src="a"><h1>a</h1>'
    wrapped = {"op": "wrap", "selector": "img", "wrapper_tag": "figure", "class": "lead"}
    moved = {"op": "move", "selector": ".lead", "target": "h1", "position": "after"}
    assert changed(html, wrapped, moved) == '<h1>a</h1><figure class="lead"><img src="a"></figure>'


def test_an_element_is_not_moved_into_itself_or_what_it_holds():
    html = "<div class=a><p class=b>x</p></div>"
    for target in (".a", ".b", "div, p"):
        for position in ("append", "prepend", "before", "after"):
            reported = changed(html, {"op": "move", "selector": ".a", "target": target, "position": position})
            assert dom.text_of(dom.parse_fragment(reported)) == "x"
            assert reported == '<div class="a"><p class="b">x</p></div>'


def test_an_element_whose_target_was_removed_stays():
    html = "<figure></figure><p>x</p>"
    root = dom.parse_fragment(html)
    dom.drop(dom.select(root, "figure")[0])
    assert run_action(root, Action("move", "p", target="figure")).note == "target not found, ignored"
    assert dom.inner_html(root) == "<p>x</p>"


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        ("append", "<div><i></i>0</div>"),
        ("prepend", "<div>0<i></i></div>"),
        ("before", "0<div><i></i></div>"),
        ("after", "<div><i></i></div>0"),
    ],
)
def test_several_that_move_keep_their_order(position, expected):
    moved = "<b>1</b><b>2</b><b>3</b>"
    html = "<div><i></i></div><p><b>1</b><b>2</b><b>3</b></p>"
    reported = changed(html, {"op": "move", "selector": "b", "target": "div", "position": position})
    assert reported == expected.replace("0", moved) + "<p></p>"


def test_nested_matches_that_move_lose_nothing():
    html = "<div class=x>a<div class=x>b</div></div><aside></aside>"
    reported = changed(html, {"op": "move", "selector": ".x", "target": "aside"})
    assert sorted(dom.text_of(dom.parse_fragment(reported))) == ["a", "b"]


def test_reordered_elements_keep_their_order():
    html = "<div><p>1</p><h2>2</h2><p>3</p><h2>4</h2></div>"
    top = changed(html, {"op": "reorder", "selector": "h2", "method": "move_to_top"})
    assert top == "<div><h2>2</h2><h2>4</h2><p>1</p><p>3</p></div>"
    bottom = changed(html, {"op": "reorder", "selector": "p", "method": "move_to_bottom"})
    assert bottom == "<div><h2>2</h2><h2>4</h2><p>1</p><p>3</p></div>"


def test_text_between_siblings_parts_groups():
    html = "<i>1</i>and<i>2</i>\n<!-- x --><i>3</i> "
    reported = changed(html, {"op": "group_siblings", "selector": "i", "wrapper_tag": "p", "class": "g"})
    assert reported == '<i>1</i>and<p class="g"><i>2</i>\n<!-- x --><i>3</i></p> '


def test_only_this_many_elements_are_changed(monkeypatch):
    monkeypatch.setattr(actions, "MAX_ELEMENTS", 2)
    root = dom.parse_fragment("<p>1</p><p>2</p><p>3</p>")
    effect = run_action(root, Action("retag", "p", tag="h2"))
    assert dom.inner_html(root) == "<h2>1</h2><h2>2</h2><p>3</p>"
    assert effect.note == "only the first 2 of 3"


# No text is lost, whatever the page and the action.

_TAGS = ["div", "p", "section", "span", "ul", "li", "a", "b", "figure", "table", "x-y"]
_CLASSES = ["a", "b", "c"]


@st.composite
def markup(draw: st.DrawFn, depth: int = 4) -> str:
    pieces: list[str] = []
    for _ in range(draw(st.integers(0, 3))):
        if depth and draw(st.booleans()):
            tag, name = draw(st.sampled_from(_TAGS)), draw(st.sampled_from(_CLASSES))
            pieces.append(f'<{tag} class="{name}">{draw(markup(depth - 1))}</{tag}>')
        else:
            pieces.append(draw(st.sampled_from(["one ", "two ", " ", "three ", "<!-- -->"])))
    return "".join(pieces)


_SELECTORS = st.sampled_from([".a", ".b", ".c", "div", "p", "li, a", "div div", ".a .b", "*", "span > *"])
_MADE = st.sampled_from(["div", "p", "h2", "figure", "li", "table", "pre"])

_KEEPING = [op for op in get_args(Op) if op != "replace_with_text"]
_STILL = [op for op in _KEEPING if op not in ("move", "reorder")]


def anything(ops: list[Any]) -> st.SearchStrategy[Action]:
    return st.builds(
        Action,
        op=st.sampled_from(ops),
        selector=_SELECTORS,
        tag=_MADE,
        wrapper_tag=_MADE,
        parent=_SELECTORS,
        target=_SELECTORS,
        position=st.sampled_from(["append", "prepend", "before", "after", "index"]),
        index=st.integers(0, 4),
        attrs=st.just(("class",)),
        attr=st.just("class"),
        value=st.sampled_from(_CLASSES),
        method=st.sampled_from(["move_to_top", "move_to_bottom"]),
    )


def texts(root: dom.Node) -> list[str]:
    return [node.data for node in dom.nodes(root) if isinstance(node, dom.Text)]


@given(html=markup(), wanted=st.lists(anything(_KEEPING), min_size=1, max_size=4))
def test_no_action_loses_text(html, wanted):
    root = dom.parse_fragment(html)
    before = sorted(texts(root))
    for fields in wanted:
        run_action(root, fields)
    assert sorted(texts(root)) == before


@given(html=markup(), wanted=st.lists(anything(_STILL), min_size=1, max_size=4))
def test_actions_that_move_nothing_keep_the_order_of_the_text(html, wanted):
    root = dom.parse_fragment(html)
    before = dom.text_of(root)
    for fields in wanted:
        run_action(root, fields)
    assert dom.text_of(root) == before


@given(html=markup(), wanted=anything(["move", "reorder"]))
def test_what_does_not_move_keeps_its_order(html, wanted):
    root = dom.parse_fragment(html)
    everything = list(dom.nodes(root))
    moved = {inner for node in dom.select(root, wanted.selector) for inner in (node, *dom.nodes(node))}
    run_action(root, wanted)
    assert [node for node in dom.nodes(root) if node not in moved] == [node for node in everything if node not in moved]
    assert len(list(dom.nodes(root))) == len(everything)


def test_lone_element_is_not_grouped():
    html = "<p class=x>one</p><p>two</p><p class=x>three</p> <p class=x>four</p>"
    wanted = {"op": "group_siblings", "selector": ".x", "wrapper_tag": "ul"}
    assert changed(html, wanted) == (
        '<p class="x">one</p><p>two</p><ul><p class="x">three</p> <p class="x">four</p></ul>'
    )


NESTED = '<div class="a"><div class="b"><p class="x">one</p></div></div><p>two</p>'


def test_remove_to_parent_ends_at_the_root_of_a_result_that_the_parent_was_around():
    wanted = action(op="remove_to_parent", selector=".x", parent="article")
    root = dom.parse_fragment(NESTED)
    run_action(root, wanted)
    assert dom.inner_html(root) == NESTED  # in the whole page, no such parent is around the element
    run_action(root, wanted, is_result=True)
    assert dom.inner_html(root) == '<p class="x">one</p><p>two</p>'


def test_remove_to_parent_stops_at_a_parent_within_the_result():
    root = dom.parse_fragment(NESTED)
    run_action(root, action(op="remove_to_parent", selector=".x", parent=".a"), is_result=True)
    assert dom.inner_html(root) == '<div class="a"><p class="x">one</p></div><p>two</p>'
