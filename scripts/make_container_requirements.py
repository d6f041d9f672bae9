"""Write contrib/requirements.txt and contrib/build-requirements.txt: what the Dockerfile installs, with versions and hashes.

Usage: python scripts/make_container_requirements.py, with `uv` on PATH (`pip install uv`). All hashes of a version are listed,
so that the same file serves x86-64 and ARM. Nothing is written about where the packages came from: hashes are enough.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import tomllib
from pathlib import Path

from packaging.markers import Marker

ROOT = Path(__file__).resolve().parent.parent
PYTHON = "3.13"
"""The version in the Dockerfile's image."""
EXTRAS = ("browser", "documents", "feeds", "mcp", "postgres", "server")
"""The optional parts that the image has."""
MACHINES = ("x86_64", "aarch64")
HEAD = "# Written by scripts/make_container_requirements.py for the Dockerfile: {what}.\n"
ENTRY = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)(?: ; (?P<marker>[^\\]+))?")
HASH = re.compile(r"--hash=(sha256:[0-9a-f]{64})")


def compile_requirements(source: Path, *options: str) -> str:
    """Return the versions and hashes of what a file requires, and of what that requires."""
    command = ["uv", "pip", "compile", str(source), "--universal", "--python-version", PYTHON, "--generate-hashes"]
    command += ["--no-header", "--no-annotate", "--quiet", "--no-config", *options]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ).stdout


def tidy(compiled: str, what: str) -> str:
    """Return only names, versions and hashes: no addresses, paths or comments, and nothing for other systems."""
    lines = [HEAD.format(what=what)]
    wanted = False
    for line in compiled.splitlines():
        if entry := ENTRY.match(line):
            wanted = not entry["marker"] or any(map(Marker(entry["marker"].strip()).evaluate, environments()))
            if wanted:
                lines.append(f"{entry['name']}=={entry['version']}")
        elif wanted and (digest := HASH.search(line)):
            lines[-1] += f" \\\n    --hash={digest[1]}"
    return "\n".join(lines).replace("\n\n", "\n") + "\n"


def environments() -> list[dict[str, str]]:
    """Return the markers of the systems that the image is built for."""
    system = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "implementation_name": "cpython"}
    python = {
        "python_version": PYTHON,
        "python_full_version": f"{PYTHON}.7",
        "platform_python_implementation": "CPython",
    }
    return [{**system, **python, "platform_machine": machine} for machine in MACHINES]


def main() -> None:
    project = ROOT / "pyproject.toml"
    options = [part for name in EXTRAS for part in ("--extra", name)]
    run = tidy(compile_requirements(project, *options), "to run the program with its extras")
    (ROOT / "contrib" / "requirements.txt").write_text(run)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "build.in"
        source.write_text("\n".join(tomllib.loads(project.read_text())["build-system"]["requires"]))
        build = tidy(compile_requirements(source), "to build the package")
    (ROOT / "contrib" / "build-requirements.txt").write_text(build)


if __name__ == "__main__":
    main()
