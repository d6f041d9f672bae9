"""The class and id names of a tree, read once: selectors that ask for others find nothing and need not be run."""

from __future__ import annotations

from functools import cached_property

from pagekeep import dom
from pagekeep.rules.needs import Need, needs


class Names:
    """What a tree and the elements around it are called, in lower case. Each thing is read when first asked for."""

    def __init__(self, root: dom.Node) -> None:
        self._root = root

    @cached_property
    def classes(self) -> frozenset[str]:
        """Every class."""
        return frozenset("\n".join(self._values("class")).lower().split())

    @cached_property
    def ids(self) -> frozenset[str]:
        """Every id; one that holds a line break, which no selector here asks for, in pieces."""
        return frozenset("\n".join(self._values("id")).lower().split("\n"))

    @cached_property
    def lines(self) -> str:
        """Every class on a line of its own, so that parts of them are quickly looked for."""
        return "\n".join(self.classes)

    def may_find(self, selector: str) -> bool:
        """Whether the tree has a name that the selector cannot do without; when in doubt, it has."""
        return any(map(self._meets, needs(selector)))

    def _meets(self, need: Need) -> bool:
        if need.place == "class":
            return need.token in self.classes
        if need.place == "id":
            return need.token in self.ids
        return need.place != "class_part" or need.token in self.lines

    def _values(self, name: str) -> set[str]:
        values = {node.attr(name) or "" for node in dom.select(self._root, f"[{name}]")}
        above: dom.Node | None = self._root  # selectors see the elements around the root too
        while above is not None:
            if isinstance(above, dom.Element):
                values.add(above.attr(name) or "")
            above = above.parent
        return values
