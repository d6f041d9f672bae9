"""Rules of other programs, said in ours: what comes over, and what does not and why."""

from __future__ import annotations

from pagekeep.rules.importers import fivefilters, goodlinks
from pagekeep.rules.importers.imported import Imported, LeftOut

__all__ = ["Imported", "LeftOut", "fivefilters", "goodlinks"]
