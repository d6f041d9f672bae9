"""Write docs/steps.md from the lists of steps; with `--check`, write nothing and fail when it is out of date."""

from __future__ import annotations

import sys
from pathlib import Path

from pagekeep.capture.documents.phases import DOCUMENT_PHASES
from pagekeep.extraction.steps import Phase
from pagekeep.pipeline import PHASES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "steps.md"
HEAD = """# Steps

Generated from the lists of steps in the code by `scripts/update_steps.py`. A page passes the phases in this order, and the
steps of a phase run in the order of its table. `pagekeep extract PAGE --explain` shows what each step removed, and
`--skip-step NAME` runs without one, unless it is required, to see what it does:

```sh
diff <(pagekeep extract page.html) <(pagekeep extract page.html --skip-step footnotes)
```
"""


def write_phase(phase: Phase) -> str:
    """Return the table of one phase."""
    rows = "\n".join(
        f"| `{step.name}`{' (required)' if step.required else ''} | {step.description} |" for step in phase.steps
    )
    return f"\n## {phase.name[0].upper()}{phase.name[1:]}\n\n{phase.summary}\n\n| step | |\n|---|---|\n{rows}\n"


def write_page() -> str:
    """Return the whole page."""
    return HEAD + "".join(map(write_phase, (*PHASES, *DOCUMENT_PHASES)))


def main() -> int:
    """Write or check the page; return the exit code."""
    if "--check" in sys.argv[1:]:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != write_page())
    PAGE.write_text(write_page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
