"""What rules report: which matched a page, what each changed, and what is wrong in a rule file."""

from __future__ import annotations

from typing import Literal

from pagekeep.values import dataclass


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """One effect of a rule on the page."""

    what: str
    """`remove`, `include`, `scope`, `metadata`, `next_page`, `single_page`, `rendering`, `quality`, `discard`, or the
    `op` of an action."""
    selector: str
    count: int
    """Elements found; 0 when the selector found nothing."""
    words: int
    """Words in those elements."""
    note: str = ""
    """Details, such as "matched nothing, ignored"."""


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """A rule that applied to the page."""

    id: str
    phase: Literal["pre", "post"]
    trigger: str
    """Why it applied, in plain words: `host ends with wsj.com`, `found .swiper-slide`."""
    effects: tuple[RuleEffect, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleFault:
    """An error in a rule file, and its place."""

    file: str
    """Its name, without the folder."""
    line: int
    path: str
    """The key, such as `[3].trigger.host.equal`; empty for the file as a whole."""
    message: str
    suggestion: str = ""
    rule: str = ""
    """The rule's id, where it has one."""

    def __str__(self) -> str:
        """Return one line for people: where it is, what is wrong, and what to do."""
        where = f"{self.file}:{self.line}: " + (f"{self.path}: " if self.path else "")
        return where + self.message + (f" {self.suggestion}" if self.suggestion else "")
