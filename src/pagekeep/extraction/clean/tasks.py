"""Task lists: a checkbox at the head of a list item says whether the task is done."""

from __future__ import annotations

from pagekeep import dom
from pagekeep.extraction.clean.census import Census
from pagekeep.extraction.clean.vocabulary import parent_it_heads


def mark_tasks(root: dom.Element, census: Census) -> None:
    """Turn items that begin with a checkbox into tasks."""
    if "input" not in census.tags:
        return
    for box in dom.select(root, "li input[type=checkbox]"):
        item = _item_it_heads(box)
        if item is not None:
            dom.set_attr(item, "class", "task")
            dom.set_attr(item, "data-done", "true" if box.attr("checked") is not None else "false")
        dom.drop(box)


def _item_it_heads(box: dom.Element) -> dom.Element | None:
    """The list item whose first visible thing is this checkbox."""
    node: dom.Element = box
    for _ in range(6):
        parent = parent_it_heads(node)
        if parent is None:
            return None
        if parent.tag == "li":
            return parent
        node = parent
    return None
