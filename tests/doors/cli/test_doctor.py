"""What `pagekeep doctor` tells of the installation."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from pagekeep.config import Settings
from pagekeep.doors.cli.admin import doctor


def test_every_extra_that_is_missing_is_listed_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise doctor.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(doctor.metadata, "version", absent)
    found = {finding.name: finding for finding in doctor.run(Settings())}
    for extra in ("server", "mcp", "bulk", "browser", "postgres"):
        assert (found[extra].state, found[extra].hints) == ("missing", (f"pip install 'pagekeep[{extra}]'",))


@pytest.mark.parametrize("extra", doctor.EXTRAS)
def test_extras_are_those_of_the_package(extra: str) -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))["project"]
    named = [re.split(r"[^\w-]", needed)[0] for needed in project["optional-dependencies"][extra]]
    assert sorted(named) == sorted(doctor.EXTRAS[extra][1])
