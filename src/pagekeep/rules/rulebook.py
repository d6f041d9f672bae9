"""All rules that are in force, indexed so that a page which none of them is for costs next to nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pagekeep import dom
from pagekeep.rules.rule import Rendering, Rule


@dataclass(frozen=True, slots=True)
class Matched:
    """A rule that is for the page, and what set it off."""

    rule: Rule
    trigger: str
    """In plain words: `host ends with wsj.com`, `found .swiper-slide`."""


class Rulebook:
    """Rules in the order they run. Immutable; made once, asked for every page."""

    def __init__(self, rules: tuple[Rule, ...] = ()) -> None:
        self.rules = rules

    def match(self, phase: Literal["pre", "post"], url: str | None, root: dom.Node) -> tuple[Matched, ...]:
        """Rules of the phase that are for this page, in the order they run. `root` is the raw or the extracted tree."""
        return ()

    def rendering(self, url: str) -> Rendering | None:
        """What rules that match by host alone say about fetching: `force` wins over `never` over `auto`."""
        return None
