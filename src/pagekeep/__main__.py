"""`python -m pagekeep`."""

from __future__ import annotations

from pagekeep.doors.cli.main import main

if __name__ == "__main__":
    main()
