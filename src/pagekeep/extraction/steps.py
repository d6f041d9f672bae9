"""Steps: each phase is a list of named functions over one state, run in order.

The list is data. From it come the trace (what each step removed, how long it took), `--skip-step NAME`, and docs/steps.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from pagekeep.model import Removal

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Step(Generic[State]):
    """One entry of a phase's list."""

    name: str
    """Unique among all phases, in words people can type: `share-bars`."""
    run: Callable[[State], Iterable[Removal] | None]
    """Changes the state; returns what it removed. The first line of its docstring is the step's description."""

    @property
    def description(self) -> str:
        """Return what the step does, in one line."""
        return (self.run.__doc__ or "").strip().partition("\n")[0]


def run_steps(
    steps: Sequence[Step[State]],
    state: State,
    *,
    skip: Collection[str] = (),
    record: Callable[[str], None] | None = None,
) -> list[Removal]:
    """Run the steps in order but the skipped ones; return their removals, each with its step's name.

    `record` is called with each step's name after it ran, for timing.
    """
    removals: list[Removal] = []
    for step in steps:
        if step.name in skip:
            continue
        for removal in step.run(state) or ():
            removals.append(replace(removal, step=step.name))
        if record is not None:
            record(step.name)
    return removals
