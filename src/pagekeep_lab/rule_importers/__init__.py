"""Import rules of other programs, with a report of what was left out and why."""

from __future__ import annotations

from pagekeep_lab.rule_importers import fivefilters, goodlinks
from pagekeep_lab.rule_importers.imported import Imported, LeftOut

__all__ = [
    "Imported",
    "LeftOut",
    "fivefilters",
    "goodlinks",
]
