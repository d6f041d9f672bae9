"""Steps: each phase is a list of named functions over one state, run in order.

The list is data. From it come the trace (what each step removed, how long it took), `--skip-step NAME`, and docs/steps.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import field
from typing import Any, Final, Generic, NamedTuple, TypeVar

from pagekeep import dom
from pagekeep.errors import NotFound, NotOffered
from pagekeep.model import PageWarning, Removal
from pagekeep.values import dataclass

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Step(Generic[State]):
    """One entry of a phase's list."""

    name: str
    """Unique among all phases, in words people can type: `share-bars`."""
    run: Callable[[State], Iterable[Removal] | None]
    """Changes the state; returns what it removed. The first line of its docstring is the step's description."""
    required: bool = False
    """Whether later steps cannot do without it, so that it cannot be skipped."""
    may_fail: bool = False
    """Whether an error in it becomes a warning: the content is complete without what it adds."""

    @property
    def description(self) -> str:
        """Return what the step does, in one line."""
        return (self.run.__doc__ or "").strip().partition("\n")[0]


class Phase(NamedTuple):
    """One list of steps."""

    name: str
    summary: str
    """What the phase does, in one sentence."""
    steps: list[Step[Any]]


def run_steps(
    steps: Sequence[Step[State]],
    state: State,
    *,
    skip: Collection[str] = (),
    record: Callable[[str], None] | None = None,
    until: Callable[[State], bool] | None = None,
    warn: Callable[[PageWarning], None] | None = None,
) -> list[Removal]:
    """Run the steps in order but the skipped ones; return their removals, each with the name of the step that made it.

    `record` is called with each step's name after it ran, for timing. The steps after the first one that makes `until`
    true do not run. `warn` is called with a warning when a step fails that may fail.
    """
    removals: list[Removal] = []
    for step in steps:
        if step.name in skip:
            continue
        try:
            for removal in step.run(state) or ():
                if not removal.step:
                    removal = Removal(removal.element, removal.reason, removal.words, step.name)
                removals.append(removal)
        except Exception as error:
            if not step.may_fail or warn is None:
                raise
            warn(describe_failure(step.name, error))
        if record is not None:
            record(step.name)
        if until is not None and until(state):
            break
    return removals


def describe_failure(step: str, error: Exception) -> PageWarning:
    """Return the warning that a step failed. The error's text may quote the page, so only its type is named."""
    return PageWarning("step_failed", f"the step {step} failed ({type(error).__name__}), so what it adds is missing")


@dataclass(slots=True)
class Stopwatch:
    """Measure seconds per step with the caller's timer."""

    timer: Callable[[], float]
    seconds: dict[str, float] = field(default_factory=dict)
    last: float = field(init=False)

    def __post_init__(self) -> None:
        self.last = self.timer()

    def record(self, step: str) -> None:
        """Note the time since the step before."""
        now = self.timer()
        self.seconds[step], self.last = now - self.last, now


def check_skippable(names: Collection[str], phases: Iterable[Phase]) -> None:
    """Raise `NotFound` for a name that no step has, `NotOffered` for that of a step that is required."""
    required = {step.name: step.required for phase in phases for step in phase.steps}
    skippable = [name for name in required if not required[name]]
    for name in sorted(names):
        if name not in required:
            raise NotFound(
                f"Unknown step: {name!r}.", suggestions=(f"Steps that can be skipped: {', '.join(skippable)}.",)
            )
        if required[name]:
            raise NotOffered(
                f"The step {name!r} cannot be skipped: the steps after it need its result.",
                suggestions=(f"Steps that can be skipped: {', '.join(skippable)}.",),
            )


_MAX_NAME_CHARS: Final = 40
"""Of an id or class in a removal's name: generated ones are hundreds of characters long."""
_MAX_CLASSES: Final = 2
"""In a removal's name: enough to recognise the element; utility classes come by the dozen."""


def element_name(node: dom.Node) -> str:
    """Return a short CSS name of the node with its id or first classes: `div.share-bar`."""
    if not isinstance(node, dom.Element):
        return "text"
    identifier = (node.attr("id") or "").split()
    if identifier:
        return f"{node.tag}#{identifier[0][:_MAX_NAME_CHARS]}"
    names = [name[:_MAX_NAME_CHARS] for name in (node.attr("class") or "").split()[:_MAX_CLASSES]]
    return ".".join([node.tag, *names])
