"""The steps of all phases: what `--skip-step` takes and docs/steps.md lists."""

from __future__ import annotations

from typing import Any, NamedTuple

from pagekeep.extraction import clean, locate, prune
from pagekeep.extraction.steps import Step


class Phase(NamedTuple):
    """One list of steps."""

    name: str
    summary: str
    steps: list[Step[Any]]


PHASES = (
    Phase("locate", "Before a strategy looks for the content, what is surely not content is left out.", locate.STEPS),
    Phase("prune", "What a strategy found is narrowed down.", prune.STEPS),
    Phase("clean", "The content is turned into clean HTML, the form that Markdown is written from.", clean.STEPS),
)
"""The phases in the order a page passes them."""


def all_steps() -> list[Step[Any]]:
    """Return the steps of all phases, in the order they run."""
    return [step for phase in PHASES for step in phase.steps]
