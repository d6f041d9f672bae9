"""What `pagekeep doctor` reports of the installation."""

from __future__ import annotations

import pytest

from pagekeep.config import Settings
from pagekeep.doors.cli import doctor


def test_every_extra_that_is_missing_is_listed_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise doctor.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(doctor.metadata, "version", absent)
    monkeypatch.setattr(doctor.extras, "checkout", lambda: None)
    found = {finding.name: finding for finding in doctor.run(Settings())}
    for extra in ("server", "mcp", "bulk", "browser", "postgres", "evaluate"):
        assert (found[extra].state, found[extra].hints) == ("missing", (f"pip install 'pagekeep[{extra}]'",))
