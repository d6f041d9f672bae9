"""The flat arrays agree with the tree they were read from."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep import dom
from pagekeep.extraction.locate import survey as module
from pagekeep.extraction.locate.survey import TEXT, Sign, Survey, survey

Surveyed = Callable[[str], Survey]
IndexOf = Callable[[Survey, str], int]

leaf = st.sampled_from(
    ["word", " two words ", "\n", "<br>", "<img src=a>", "<script>code</script>", "<!-- note -->", "汉字"]
)
tree = st.recursive(
    leaf,
    lambda inner: st.tuples(
        st.sampled_from("div p a span ul li table b section svg select".split()), st.lists(inner, max_size=4)
    ).map(lambda made: f"<{made[0]}>{''.join(made[1])}</{made[0]}>"),
    max_leaves=25,
)


@given(st.lists(tree, max_size=4))
def test_every_array_agrees_with_the_tree(surveyed: Surveyed, parts: list[str]) -> None:
    found = surveyed("".join(parts))
    size = len(found.nodes)
    assert {
        len(found.tag),
        len(found.parent),
        len(found.end),
        len(found.flags),
        len(found.chars),
        len(found.linked),
    } == {size}
    for index in range(1, size):
        node, parent = found.nodes[index], found.parent[index]
        assert node.parent is found.nodes[parent]
        assert parent < index < found.end[index] <= found.end[parent]
        assert (found.tag[index] == TEXT) == isinstance(node, dom.Text)
        if isinstance(node, dom.Element):
            assert found.tag[index] == node.tag


@given(st.lists(tree, max_size=4))
def test_the_sums_of_a_subtree_are_those_of_its_texts(surveyed: Surveyed, parts: list[str]) -> None:
    found = surveyed("".join(parts))
    for index in range(len(found.nodes)):
        texts = [inner for inner in range(index, found.end[index]) if found.tag[inner] == TEXT]
        in_links = [inner for inner in texts if any(found.tag[above] == "a" for above in found.ancestors(inner))]
        assert found.chars[index] == sum(found.chars[inner] for inner in texts)
        assert found.linked[index] == sum(found.chars[inner] for inner in in_links)


@given(st.lists(tree, max_size=4))
def test_the_lists_by_tag_and_of_texts_agree_with_the_arrays(surveyed: Surveyed, parts: list[str]) -> None:
    found = surveyed("".join(parts))
    for tag in set(found.tag):
        assert found.places[tag] == [index for index, other in enumerate(found.tag) if other == tag]
    assert found.texts == [dom.text_of(found.nodes[index]) for index in found.places[TEXT]]
    for index, end in enumerate(found.end):
        inside = [place for place in found.places[TEXT] if index <= place < end]
        assert found.texts_in(index, end) == [dom.text_of(found.nodes[place]) for place in inside]


def test_elements_are_found_by_tag_by_sign_and_by_node(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<nav class=menu><a>x</a></nav><p class=share>y</p><svg><g></g></svg><p>z</p>")
    paragraph = index_of(found, "p")
    assert found.find_tags("p", "nav", "table") == [index_of(found, "nav"), paragraph, len(found.nodes) - 2]
    assert found.find_signs(int(Sign.SHARE)) == [paragraph]
    assert found.flagged == [index_of(found, "nav"), paragraph]
    wanted = dom.select(found.nodes[0], "g, p.share")
    assert found.find_nodes(wanted) == {wanted[0]: paragraph}  # what is in a drawing is not listed


def test_only_visible_text_is_counted(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed(
        "<div>  seen <script>hidden</script><style>hidden</style><!-- hidden --><select><option>x</select></div>"
    )
    assert found.chars[index_of(found, "div")] == len("seen")
    assert not {"script", "style", "select", "option"} & set(found.tag)


def test_text_of_white_space_is_left_out(surveyed: Surveyed) -> None:
    found = surveyed("<div>\n  <p>word</p>\n\t&nbsp;\n</div>")
    assert found.tag.count(TEXT) == 1


def test_media_are_seen_but_not_entered(surveyed: Surveyed) -> None:
    found = surveyed("<svg><g><text>drawn</text></g></svg><iframe>frame</iframe><video>old browser</video>")
    assert {"svg", "iframe", "video"} <= set(found.tag)
    assert found.chars[0] == 0


def test_ancestors_lead_from_the_parent_to_the_root(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<section><div><p>word</p></div></section>")
    inner = index_of(found, "p")
    assert [found.tag[above] for above in found.ancestors(inner)] == ["div", "section", "body"]
    assert found.ancestors(0) == []


def test_class_and_id_are_read_once_per_element(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed('<div class="share-bar">a</div><div id="footer">b</div><div class="plain">c</div>')
    assert found.flags[index_of(found, ".share-bar")]
    assert found.flags[index_of(found, "#footer")]
    assert not found.flags[index_of(found, ".plain")]


def test_an_ordinary_page_is_neither_truncated_nor_too_deep(surveyed: Surveyed) -> None:
    found = surveyed("<div>" * 50 + "<p>word</p>" * 50)
    assert not found.truncated
    assert not found.too_deep


def test_a_page_with_more_nodes_than_the_limit_is_marked_truncated(
    surveyed: Surveyed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_NODES", 100)
    found = surveyed("<p>word</p>" * 200)
    assert found.truncated
    assert len(found.nodes) <= 101
    monkeypatch.setattr(module, "MAX_NODES", 1_000)
    assert not surveyed("<p>word</p>" * 200).truncated


def test_a_tree_below_the_depth_bound_is_marked_and_fits_after_flattening() -> None:
    root = innermost = dom.element("div")
    for _ in range(dom.MAX_DEPTH + 100):
        child = dom.element("div")
        dom.append(innermost, child)
        innermost = child
    dom.append(innermost, dom.element("p", None, "the bottom"))
    assert survey(root).too_deep
    dom.bound_depth(root)
    found = survey(root)
    assert not found.too_deep
    assert found.chars[0] == len("the bottom")


def test_an_ideograph_counts_as_three_letters(surveyed: Surveyed) -> None:
    latin = surveyed("<p>The ferry did not sail this morning because of the fog.</p>").chars[0]
    assert 0.7 * latin < surveyed("<p>渡轮今天早上没有开，因为雾太大了。</p>").chars[0] < 1.3 * latin
    # A name in Latin letters in the middle does not make it Latin.
    assert surveyed("<p>渡轮今天早上没有开 Hammershøi 因为江上的雾太大</p>").chars[0] > 60
