"""A run on a local Ray, in a process and a network of its own: `python -m tests.bulk.ray_job SOURCE OUT`."""

from __future__ import annotations

import sys
from pathlib import Path

from pagekeep import bulk


def main() -> None:
    """Run it."""
    source, out = sys.argv[1:3]
    plan = bulk.Plan(bulk.find([source]), Path(out), workers=1)
    report = bulk.run(plan, engine="ray")
    print(f"{report.account.records} records, {report.rate:.1f} a second")


if __name__ == "__main__":
    main()
