"""Work on a local Ray, in its own process and network: `python -m tests.bulk.ray_job SOURCE OUT`.

Beside the run itself, one that is limited, and the example of the docs, on `pages.parquet` in the working folder.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pagekeep import bulk

DOCUMENT = Path(__file__).parents[2] / "docs" / "bulk.md"


def example(heading: str) -> str:
    """The code that the docs show under a name."""
    found = re.search(rf"\*\*{heading}\*\*.*?```python\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    assert found
    return found[1]


def main() -> None:
    """Do all of it on one Ray."""
    import ray

    source, out = sys.argv[1:3]
    ray.init(log_to_driver=False, include_dashboard=False, configure_logging=False)
    report = bulk.run(source, out, engine="ray", workers=1)
    print(f"{report.counts.records} records, {report.rate:.1f} a second")
    bulk.run(source, f"{out}-limited", engine="ray", workers=1, limit=9)
    exec(compile(example("Ray Data"), str(DOCUMENT), "exec"), {})


if __name__ == "__main__":
    main()
