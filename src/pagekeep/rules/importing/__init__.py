"""Rules of other programs, said in ours: what comes over, and what does not and why."""

from __future__ import annotations

from pagekeep.rules.importing import fivefilters, goodlinks
from pagekeep.rules.importing.imported import Imported, LeftOut

__all__ = ["Imported", "LeftOut", "fivefilters", "goodlinks"]
