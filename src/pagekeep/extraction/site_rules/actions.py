"""The changes to the tree that a rule can make (docs/rules-actions.md).

Only `replace_with_text` loses text: the content of an element that is unwrapped, and what follows it, stay in place.
The sanitiser still runs on every result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from pagekeep import dom
from pagekeep.extraction.site_rules.embedded_data import insert_data
from pagekeep.extraction.site_rules.select import BAD_SELECTOR, ancestors_within, count_words, outermost, select_all
from pagekeep.model import RuleEffect
from pagekeep.rules.rule import Action, Op
from pagekeep.text import compile_lazily

MAX_ELEMENTS: Final = 5_000
"""Elements that one action changes; a bound on how much a hostile page can grow."""

CONTENT_TAGS: Final = frozenset(
    "p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd blockquote div section article main header footer aside details summary address"
    " a strong em b i s del ins sub sup mark kbd code abbr q cite small span ruby rt rp time"
    " pre figure figcaption table caption thead tbody tfoot tr th td".split()
)
"""Tags an element can be changed to: those that can contain text. A void element or a script would hide it."""

_NO_TEXT_TAGS: Final = frozenset({"script", "style", "template"})
"""Their content is not text of the page and must not become it."""
_ON_SCRIPTS: Final = frozenset({"replace_with_text", "insert_data"})
_PLACEHOLDER: Final = compile_lazily(r"\{([^{}\s]{1,60}?)(?::(\d{1,3}))?\}")
_ATTRIBUTE: Final = compile_lazily(r"[A-Za-z_][A-Za-z0-9_.:-]{0,99}")


def run_action(root: dom.Element, action: Action, *, is_result: bool = False) -> RuleEffect:
    """Run the action on everything below the root that its selector matches.

    With `is_result` the root holds the extracted content: the elements that were around it in the page are gone.
    """
    nodes = select_all(root, action.selector)
    if nodes is None:
        return RuleEffect(action.op, action.selector, 0, 0, BAD_SELECTOR)
    if not nodes:
        return RuleEffect(action.op, action.selector, 0, 0)
    words = count_words(outermost(nodes, action.selector))
    note = f"only the first {MAX_ELEMENTS:,} of {len(nodes):,}" if len(nodes) > MAX_ELEMENTS else ""
    changeable = [node for node in nodes if node.tag not in _NO_TEXT_TAGS or action.op in _ON_SCRIPTS]
    if action.op == "remove_to_parent":
        fault = _remove_to_parent(root, changeable[:MAX_ELEMENTS], action, is_result=is_result)
    else:
        fault = _OPERATIONS[action.op](root, changeable[:MAX_ELEMENTS], action)
    return RuleEffect(action.op, action.selector, len(nodes[:MAX_ELEMENTS]), words, fault or note)


# Each operation takes elements in document order and returns why it did nothing, or `None`.


def _retag(_root: dom.Element, nodes: list[dom.Element], action: Action) -> str | None:
    if action.tag not in CONTENT_TAGS:
        return _refuse_tag(action.tag)
    for node in nodes:
        dom.retag(node, action.tag)
    return None


def _wrap(_root: dom.Element, nodes: list[dom.Element], action: Action) -> str | None:
    if action.wrapper_tag not in CONTENT_TAGS:
        return _refuse_tag(action.wrapper_tag)
    for node in nodes:
        dom.wrap(node, _wrapper(action.wrapper_tag, action))
    return None


def _wrapper(tag: str, action: Action) -> dom.Element:
    return dom.element(tag, {"class": action.class_} if action.class_ else None)


def _refuse_tag(tag: str | None) -> str:
    return f"{tag!r} is not an element that can contain text, ignored"


def _unwrap(_root: dom.Element, nodes: list[dom.Element], _action: Action) -> str | None:
    _unwrap_all(nodes)
    return None


def _remove_children(_root: dom.Element, nodes: list[dom.Element], _action: Action) -> str | None:
    children = [child for node in nodes for child in node.children if isinstance(child, dom.Element)]
    _unwrap_all(child for child in children if child.tag not in _NO_TEXT_TAGS)
    return None


def _remove_parent(root: dom.Element, nodes: list[dom.Element], _action: Action) -> str | None:
    _unwrap_all(_ancestor(root, node, levels=1) for node in nodes)
    return None


def _remove_outer_parent(root: dom.Element, nodes: list[dom.Element], _action: Action) -> str | None:
    _unwrap_all(_ancestor(root, node, levels=2) for node in nodes)
    return None


def _remove_to_parent(
    root: dom.Element, nodes: list[dom.Element], action: Action, *, is_result: bool = False
) -> str | None:
    bounds = select_all(root, action.parent or "")
    if bounds is None:
        return BAD_SELECTOR
    known = set(bounds)
    # In a result the parent is often the container of the content itself or around it: then its root is the bound.
    ends_at_root = dom.matches(root, action.parent or "") or (is_result and not known)
    between: list[dom.Element] = []
    for node in nodes:
        passed: list[dom.Element] = []
        for above in ancestors_within(root, node):
            if above in known:
                between += passed
                break
            passed.append(above)
        else:
            between += passed if ends_at_root else ()
    _unwrap_all(between)
    return None


def _unwrap_all(nodes: Iterable[dom.Element | None]) -> None:
    """Replace each element by its content. All are looked up before the first is removed: two may share a parent."""
    for node in list({id(node): node for node in nodes if node is not None}.values()):
        dom.unwrap(node)


def _ancestor(root: dom.Element, node: dom.Node, levels: int) -> dom.Element | None:
    return next((above for level, above in enumerate(ancestors_within(root, node), start=1) if level == levels), None)


def _move(root: dom.Element, nodes: list[dom.Element], action: Action) -> str | None:
    targets = select_all(root, action.target or "")
    if targets is None:
        return BAD_SELECTOR
    if not targets:
        return "target not found, ignored"
    finder = _Targets(root, targets, select_all(root, f"{action.selector}, {action.target}") or [])
    last_moved: dict[int, dom.Node] = {}  # the last node moved to each target, so that several keep their order
    for node, target in [(node, finder.nearest(node)) for node in nodes]:
        if target is not None and not _contains(node, target, root):  # a node moved earlier may contain the target
            _insert(node, target, action, last_moved)
    return None


class _Targets:
    """Finds the target to move an element to, in the page before the first move."""

    def __init__(self, root: dom.Element, targets: list[dom.Element], in_order: list[dom.Element]) -> None:
        self.root = root
        self.targets = set(targets)
        self.position = {node: index for index, node in enumerate(in_order)}
        self.first: dict[dom.Node, dom.Element] = {}
        """The first target in every element that contains one or is one."""
        for target in targets:
            above: dom.Node | None = target
            while above is not None and above not in self.first:
                self.first[above] = target
                above = None if above is root else above.parent

    def nearest(self, node: dom.Element) -> dom.Element | None:
        """Return the target around the element, or the first in its closest ancestor that has one; never one inside it."""
        contains_one = node in self.first
        for above in (*ancestors_within(self.root, node), self.root):
            if above in self.targets:
                return above
            target = self.first.get(above)
            # If the node contains a target, the first one that does not precede the node is inside it.
            if target is not None and (self.position[target] < self.position[node] or not contains_one):
                return target
        return None


def _contains(outer: dom.Element, inner: dom.Element, root: dom.Element) -> bool:
    return inner is outer or any(above is outer for above in ancestors_within(root, inner))


def _insert(node: dom.Element, target: dom.Element, action: Action, last_moved: dict[int, dom.Node]) -> None:
    last = last_moved.get(id(target))
    if last is not None:
        dom.add_after(last, node)
    elif action.position == "append":
        dom.append(target, node)
        return  # appending keeps the order
    elif action.position == "before":
        dom.add_before(target, node)
        return
    elif action.position == "after":
        dom.add_after(target, node)
    else:
        _insert_at(node, target, (action.index or 0) if action.position == "index" else 0)
    last_moved[id(target)] = node


def _insert_at(node: dom.Element, target: dom.Element, index: int) -> None:
    """Insert before the child element with that index, not counting the moved one, or at the end."""
    children = [child for child in target.children if isinstance(child, dom.Element) and child is not node]
    if index <= 0:
        dom.prepend(target, node)
    elif index < len(children):
        dom.add_before(children[index], node)
    else:
        dom.append(target, node)


def _remove_attrs(_root: dom.Element, nodes: list[dom.Element], action: Action) -> str | None:
    for node in nodes:
        for name in action.attrs:
            dom.set_attr(node, name, None)
    return None


def _set_attr(_root: dom.Element, nodes: list[dom.Element], action: Action) -> str | None:
    if not _ATTRIBUTE.fullmatch(action.attr or ""):
        return f"{action.attr!r} is not an attribute name, ignored"
    for node in nodes:
        dom.set_attr(node, action.attr or "", action.value or "")
    return None


def _replace_with_text(_root: dom.Element, nodes: list[dom.Element], action: Action) -> str | None:
    for node in list(outermost(nodes, action.selector)):
        dom.replace(node, _fill_template(action.template or "", node))
    return None


def _fill_template(template: str, node: dom.Element) -> str:
    """Return the template with the element's attributes; `{text}` is its text, `{datetime:10}` the first ten characters."""

    def value(place: re.Match[str]) -> str:
        full = " ".join(dom.text_of(node).split()) if place[1] == "text" else node.attr(place[1]) or ""
        return full[: int(place[2])] if place[2] else full

    return _PLACEHOLDER.sub(value, template)


def _group_siblings(_root: dom.Element, nodes: list[dom.Element], action: Action) -> str | None:
    if action.wrapper_tag not in CONTENT_TAGS:
        return _refuse_tag(action.wrapper_tag)
    for run in _runs(nodes):
        if len(run) == 1:
            continue  # an element without such a neighbour is not a group
        group = _wrapper(action.wrapper_tag, action)
        dom.add_before(run[0], group)
        dom.append(group, *run)
    return None


def _runs(nodes: list[dom.Element]) -> Iterator[list[dom.Node]]:
    """Yield runs of adjacent nodes, with the white space and comments between them."""
    left = {id(node): node for node in nodes}
    for node in nodes:
        if id(node) not in left:
            continue  # already in a run
        run: list[dom.Node] = [node]
        between: list[dom.Node] = []
        sibling = node.next_sibling
        while sibling is not None and (id(sibling) in left or _is_blank(sibling)):
            between.append(sibling)
            if left.pop(id(sibling), None) is not None:
                run += between
                between = []
            sibling = sibling.next_sibling
        yield run


def _is_blank(node: dom.Node) -> bool:
    return isinstance(node, dom.Comment) or (isinstance(node, dom.Text) and not node.data.strip())


def _reorder(_root: dom.Element, nodes: list[dom.Element], action: Action) -> str | None:
    """Move elements to the start or end of their parents, in order."""
    (_move_to_top if action.method == "move_to_top" else _move_to_bottom)(nodes)
    return None


def _move_to_bottom(nodes: list[dom.Element]) -> None:
    for node in nodes:
        if isinstance(node.parent, dom.Element):
            dom.append(node.parent, node)


def _move_to_top(nodes: list[dom.Element]) -> None:
    first_children: dict[dom.Node, dom.Node] = {}  # looked up once: a parent may have 100,000 children
    for node in nodes:
        parent = node.parent
        if parent is None:
            continue
        if parent not in first_children:
            first_children[parent] = parent.children[0]
        first = first_children[parent]
        if node is not first:
            dom.add_before(first, node)
        elif node.next_sibling is not None:  # already in place; the next ones follow it
            first_children[parent] = node.next_sibling


def _break_lines(_root: dom.Element, nodes: list[dom.Element], action: Action) -> str | None:
    """Turn line feeds into line breaks, as the page's style sheet does for these elements."""
    for node in list(outermost(nodes, action.selector)):
        texts = [inner for inner in dom.nodes(node) if isinstance(inner, dom.Text) and "\n" in inner.data]
        for text in texts:
            lines = [line.strip() for line in text.data.split("\n")]
            if any(lines) or len(lines) == len(text.data) + 1:  # white space between tags is not a line
                first, *rest = text.data.split("\n")
                dom.replace(text, first, *(part for line in rest for part in (dom.element("br"), line)))
    return None


def _insert_data(_root: dom.Element, nodes: list[dom.Element], action: Action) -> str | None:
    found = [node for node in nodes if insert_data(node, action)]
    return None if found else "no text at that path, ignored"


_Operation = Callable[[dom.Element, list[dom.Element], Action], str | None]

_OPERATIONS: Final[dict[Op, _Operation]] = {
    "retag": _retag,
    "wrap": _wrap,
    "unwrap": _unwrap,
    "remove_container": _unwrap,
    "remove_children": _remove_children,
    "remove_parent": _remove_parent,
    "remove_outer_parent": _remove_outer_parent,
    "move": _move,
    "remove_attrs": _remove_attrs,
    "set_attr": _set_attr,
    "replace_with_text": _replace_with_text,
    "group_siblings": _group_siblings,
    "reorder": _reorder,
    "break_lines": _break_lines,
    "insert_data": _insert_data,
}
ADDING_NO_NAMES: Final[frozenset[Op]] = frozenset({
    "retag", "unwrap", "remove_container", "remove_children", "remove_parent", "remove_outer_parent", "remove_to_parent",
    "move", "remove_attrs", "replace_with_text", "reorder",
})  # fmt: skip
"""Operations after which a tree has no class or id that it did not have before."""
DEEPENING: Final = frozenset({"wrap", "group_siblings", "move", "insert_data"})
"""Operations that can make a tree deeper."""
