"""The gate: a TOML file with floors that no run may fall below."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pagekeep.errors import NotFound, ParseError
from pagekeep.lab.scores import EvaluationReport
from pagekeep.model import KINDS

NUMBERS = (
    "f1",
    "precision",
    "recall",
    "similarity",
    "title_accuracy",
    "author_accuracy",
    "date_accuracy",
    "kind_accuracy",
    "with_share",
    "without_share",
    "snippet_precision",
    "snippet_f1",
)
"""The numbers that can have a floor, for `all` and for every kind. A name without a kind means `all`."""


def find_broken_floors(report: EvaluationReport, gate_file: Path) -> list[str]:
    """Return one sentence for each broken floor.

    A floor whose number was not measured is broken. Raises `NotFound` without the file, and `ParseError` with every
    unknown key.
    """
    broken = (_check_floor(report, group, number, floor) for group, number, floor in read_floors(gate_file))
    return [fault for fault in broken if fault]


def _check_floor(report: EvaluationReport, group: str, number: str, floor: float) -> str:
    summary = report.summary.get(group)
    if summary is None:
        return f"{group}.{number}: no {group} page was measured (floor {floor:.3f})"
    value = getattr(summary, number)
    if value is None:
        return f"{group}.{number}: no page has a reference for it (floor {floor:.3f})"
    return f"{group}.{number}: {value:.4f} is below the floor {floor:.4f}" if value < floor else ""


def read_floors(gate_file: Path) -> list[tuple[str, str, float]]:
    """Return every floor as group, number and value, in the file's order."""
    floors, faults = [], []
    for key, value in _flatten(_read_toml(gate_file)):
        group, _, number = key.rpartition(".")
        group = group or "all"
        if number not in NUMBERS or (group != "all" and group not in KINDS):
            faults.append(f"{key} is not a number that can have a floor")
        elif isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            faults.append(f"{key} must be a number from 0 to 1")
        else:
            floors.append((group, number, float(value)))
    if faults or not floors:
        raise _gate_error(gate_file, "; ".join(faults) or "it has no floors")
    return floors


def _gate_error(gate_file: Path, fault: str) -> ParseError:
    hint = f"A floor is a line such as `article.f1 = 0.85`; the numbers are {', '.join(NUMBERS)}."
    return ParseError(f"Gate file {gate_file.name}: {fault}.", suggestions=(hint,))


def _read_toml(gate_file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(gate_file.read_text("utf-8"))
    except OSError as error:
        raise NotFound(f"The gate file {gate_file} cannot be read.") from error
    except ValueError as error:
        raise _gate_error(gate_file, str(error)) from error


def _flatten(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
