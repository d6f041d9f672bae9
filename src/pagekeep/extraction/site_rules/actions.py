"""The changes of the tree that a rule can ask for (docs/rules-actions.md).

None loses text but `replace_with_text`: what stands in and behind an element that is opened stays where it was. Whatever is
made of an element, the sanitiser still has the last word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from pagekeep import dom
from pagekeep.extraction.site_rules.select import BAD_SELECTOR, count_words, found, outermost
from pagekeep.model import RuleEffect
from pagekeep.rules.rule import Action, Op

MOST: Final = 5_000
"""Elements that one action changes at most: no page has more that matter, and a hostile one must not grow without end."""

TAGS: Final = frozenset(
    "p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd blockquote div section article main header footer aside details summary address"
    " a strong em b i s del ins sub sup mark kbd code abbr q cite small span ruby rt rp time"
    " pre figure figcaption table caption thead tbody tfoot tr th td".split()
)
"""What an element can be made: content tags that can hold text. A void element or a script would swallow it."""

_CLOSED: Final = frozenset({"script", "style", "template"})
"""Their insides are no text of the page and must not become it."""
_PLACE: Final = re.compile(r"\{([^{}\s]{1,60}?)(?::(\d{1,3}))?\}")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,99}")


def act(root: dom.Element, action: Action) -> RuleEffect:
    """Do the action to everything below the root that its selector finds."""
    nodes = found(root, action.selector)
    if nodes is None:
        return RuleEffect(action.op, action.selector, 0, 0, BAD_SELECTOR)
    if not nodes:
        return RuleEffect(action.op, action.selector, 0, 0)
    words = count_words(outermost(nodes, action.selector))
    note = f"only the first {MOST:,} of {len(nodes):,}" if len(nodes) > MOST else ""
    open_ones = [node for node in nodes if node.tag not in _CLOSED or action.op == "replace_with_text"]
    fault = _OPERATIONS[action.op](root, open_ones[:MOST], action)
    return RuleEffect(action.op, action.selector, len(nodes[:MOST]), words, fault or note)


# Each operation gets elements in document order and returns why it did nothing, or `None`.


def _retag(_root: dom.Element, nodes: list[dom.Element], action: Action) -> str | None:
    if action.tag not in TAGS:
        return _not_a_tag(action.tag)
    for node in nodes:
        dom.retag(node, action.tag)
    return None


def _wrap(_root: dom.Element, nodes: list[dom.Element], action: Action) -> str | None:
    if action.wrapper_tag not in TAGS:
        return _not_a_tag(action.wrapper_tag)
    for node in nodes:
        dom.wrap(node, _wrapper(action.wrapper_tag, action))
    return None


def _wrapper(tag: str, action: Action) -> dom.Element:
    return dom.element(tag, {"class": action.class_} if action.class_ else None)


def _not_a_tag(tag: str | None) -> str:
    return f"{tag!r} is no element that can hold text, ignored"


def _unwrap(_root: dom.Element, nodes: list[dom.Element], _action: Action) -> str | None:
    _open(nodes)
    return None


def _remove_children(_root: dom.Element, nodes: list[dom.Element], _action: Action) -> str | None:
    children = [child for node in nodes for child in node.children if isinstance(child, dom.Element)]
    _open(child for child in children if child.tag not in _CLOSED)
    return None


def _remove_parent(root: dom.Element, nodes: list[dom.Element], _action: Action) -> str | None:
    _open(_ancestor(root, node, 1) for node in nodes)
    return None


def _remove_outer_parent(root: dom.Element, nodes: list[dom.Element], _action: Action) -> str | None:
    _open(_ancestor(root, node, 2) for node in nodes)
    return None


def _remove_to_parent(root: dom.Element, nodes: list[dom.Element], action: Action) -> str | None:
    bounds = found(root, action.parent or "")
    if bounds is None:
        return BAD_SELECTOR
    known = set(map(id, bounds))
    between: list[dom.Element] = []
    for node in nodes:
        passed: list[dom.Element] = []
        for above in _ancestors(root, node):
            if id(above) in known:
                between += passed
                break
            passed.append(above)
    _open(between)
    return None


def _open(nodes: Iterable[dom.Element | None]) -> None:
    """Put what each holds where it is. All are looked up before the first goes: two may share one parent."""
    for node in list({id(node): node for node in nodes if node is not None}.values()):
        dom.unwrap(node)


def _ancestors(root: dom.Element, node: dom.Node) -> Iterator[dom.Element]:
    """From the parent up, the root left out."""
    above = node.parent
    while isinstance(above, dom.Element) and above is not root:
        yield above
        above = above.parent


def _ancestor(root: dom.Element, node: dom.Node, levels: int) -> dom.Element | None:
    return next((above for level, above in enumerate(_ancestors(root, node), start=1) if level == levels), None)


def _move(root: dom.Element, nodes: list[dom.Element], action: Action) -> str | None:
    targets = found(root, action.target or "")
    if targets is None:
        return BAD_SELECTOR
    if not targets:
        return "there is no target, ignored"
    choice = _Targets(root, targets, found(root, f"{action.selector}, {action.target}") or [])
    behind: dict[int, dom.Node] = {}  # what was put in last at each target, so that several keep their order
    for node, target in [(node, choice.nearest(node)) for node in nodes]:
        if target is not None and not _holds(node, target, root):  # a node moved before may have taken the target along
            _put(node, target, action, behind)
    return None


class _Targets:
    """Where elements can be moved to, as the page is before the first one moves."""

    def __init__(self, root: dom.Element, targets: list[dom.Element], in_order: list[dom.Element]) -> None:
        self.root = root
        self.targets = set(targets)
        self.place = {node: index for index, node in enumerate(in_order)}
        self.first: dict[dom.Node, dom.Element] = {}
        """The first target in every element that holds one or is one."""
        for target in targets:
            above: dom.Node | None = target
            while above is not None and above not in self.first:
                self.first[above] = target
                above = None if above is root else above.parent

    def nearest(self, node: dom.Element) -> dom.Element | None:
        """One the element stands in, or the first one in the closest element around it; never one in itself."""
        holds_one = node in self.first
        for above in (*_ancestors(self.root, node), self.root):
            if above in self.targets:
                return above
            target = self.first.get(above)
            # The first target around it that does not precede it stands in it, where anything does.
            if target is not None and (self.place[target] < self.place[node] or not holds_one):
                return target
        return None


def _holds(outer: dom.Element, inner: dom.Element, root: dom.Element) -> bool:
    return inner is outer or any(above is outer for above in _ancestors(root, inner))


def _put(node: dom.Element, target: dom.Element, action: Action, behind: dict[int, dom.Node]) -> None:
    last = behind.get(id(target))
    if last is not None:
        dom.add_after(last, node)
    elif action.position == "append":
        dom.append(target, node)
        return  # each goes behind the one before it by itself
    elif action.position == "before":
        dom.add_before(target, node)
        return
    elif action.position == "after":
        dom.add_after(target, node)
    else:
        _put_at(node, target, (action.index or 0) if action.position == "index" else 0)
    behind[id(target)] = node


def _put_at(node: dom.Element, target: dom.Element, index: int) -> None:
    """Before the child element with that number, counted without the moved one; past the last, at the end."""
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
    if not _NAME.fullmatch(action.attr or ""):
        return f"{action.attr!r} is no name of an attribute, ignored"
    for node in nodes:
        dom.set_attr(node, action.attr or "", action.value or "")
    return None


def _replace_with_text(_root: dom.Element, nodes: list[dom.Element], action: Action) -> str | None:
    for node in list(outermost(nodes, action.selector)):
        dom.replace(node, _filled(action.template or "", node))
    return None


def _filled(template: str, node: dom.Element) -> str:
    """The template with the element's attributes; `{text}` is what it says, and `{datetime:10}` the first ten characters."""

    def value(place: re.Match[str]) -> str:
        said = " ".join(dom.text_of(node).split()) if place[1] == "text" else node.attr(place[1]) or ""
        return said[: int(place[2])] if place[2] else said

    return _PLACE.sub(value, template)


def _group_siblings(_root: dom.Element, nodes: list[dom.Element], action: Action) -> str | None:
    if action.wrapper_tag not in TAGS:
        return _not_a_tag(action.wrapper_tag)
    for run in _runs(nodes):
        group = _wrapper(action.wrapper_tag, action)
        dom.add_before(run[0], group)
        dom.append(group, *run)
    return None


def _runs(nodes: list[dom.Element]) -> Iterator[list[dom.Node]]:
    """Neighbours among the nodes, with the white space and comments between them."""
    wanted = {id(node): node for node in nodes}
    for node in nodes:
        if id(node) not in wanted:
            continue  # already in a run
        run: list[dom.Node] = [node]
        waiting: list[dom.Node] = []
        beside = node.next_sibling
        while beside is not None and (id(beside) in wanted or _is_blank(beside)):
            waiting.append(beside)
            if wanted.pop(id(beside), None) is not None:
                run += waiting
                waiting = []
            beside = beside.next_sibling
        yield run


def _is_blank(node: dom.Node) -> bool:
    return isinstance(node, dom.Comment) or (isinstance(node, dom.Text) and not node.data.strip())


def _reorder(_root: dom.Element, nodes: list[dom.Element], action: Action) -> str | None:
    """To the beginning or the end of the element it stands in, several in their order."""
    (_to_top if action.method == "move_to_top" else _to_bottom)(nodes)
    return None


def _to_bottom(nodes: list[dom.Element]) -> None:
    for node in nodes:
        if isinstance(node.parent, dom.Element):
            dom.append(node.parent, node)


def _to_top(nodes: list[dom.Element]) -> None:
    beginnings: dict[dom.Node, dom.Node] = {}  # looked up once: a parent may have 100,000 children
    for node in nodes:
        parent = node.parent
        if parent is None:
            continue
        if parent not in beginnings:
            beginnings[parent] = parent.children[0]
        first = beginnings[parent]
        if node is not first:
            dom.add_before(first, node)
        elif node.next_sibling is not None:  # in its place already, and the next ones go behind it
            beginnings[parent] = node.next_sibling


_Operation = Callable[[dom.Element, list[dom.Element], Action], str | None]

_OPERATIONS: Final[dict[Op, _Operation]] = {
    "retag": _retag,
    "wrap": _wrap,
    "unwrap": _unwrap,
    "remove_container": _unwrap,
    "remove_children": _remove_children,
    "remove_parent": _remove_parent,
    "remove_outer_parent": _remove_outer_parent,
    "remove_to_parent": _remove_to_parent,
    "move": _move,
    "remove_attrs": _remove_attrs,
    "set_attr": _set_attr,
    "replace_with_text": _replace_with_text,
    "group_siblings": _group_siblings,
    "reorder": _reorder,
}
DEEPENING: Final = frozenset({"wrap", "group_siblings", "move"})
"""Operations after which a tree can be deeper than before."""
