"""What kinds of elements a page holds, counted once, so that most steps can see that they are not needed."""

from __future__ import annotations

from dataclasses import dataclass

from pagekeep import dom


@dataclass(frozen=True, slots=True)
class Census:
    """The tags below a root, and all class names in one string."""

    tags: frozenset[str]
    names: str

    def shows(self, tags: frozenset[str], *parts_of_names: str) -> bool:
        """Whether one of the tags is there, or a class that holds one of the parts."""
        return not self.tags.isdisjoint(tags) or any(part in self.names for part in parts_of_names)


def take_census(root: dom.Element) -> Census:
    """Look at every element once."""
    tags: set[str] = set()
    names: set[str] = set()
    for node in dom.elements(root):
        tags.add(node.tag)
        name = node.attr("class")
        if name:
            names.add(name)
    return Census(frozenset(tags), " ".join(sorted(names)))
