"""Create `.venv` and install Pagekeep into it: `setup_venv.py run|dev KEY [EXTRA...]`. Called by `scripts/setup`.

The base is small; an optional part (an extra of pyproject.toml) is added when the program first needs it, and is
remembered, so that it comes back when `.venv` is created again.

It is safe to run twice at the same time (a kernel lock, which ends with the process) and to interrupt (a marker file is in
the venv while it is changed; a venv with a marker is created again). Messages go to stderr: stdout belongs to the command.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
INCOMPLETE = VENV / ".pagekeep-incomplete"
RUN_STAMP, DEV_STAMP = VENV / ".pagekeep-run", VENV / ".pagekeep-dev"
STAMPS = {"run": [RUN_STAMP], "dev": [RUN_STAMP, DEV_STAMP]}
EXTRAS = VENV / ".pagekeep-extras"
"""The extras that were installed on top of the base, one per line."""
PIP = (PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--quiet")


def say(text: str) -> None:
    print(f"pagekeep: {text}", file=sys.stderr, flush=True)


def works(*command: str | Path) -> bool:
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
    except OSError:
        return False


def run(*command: str | Path) -> None:
    """Run a step; its output is shown only when it fails."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    if done.returncode:
        sys.stderr.write(done.stdout)
        raise subprocess.CalledProcessError(done.returncode, [str(part) for part in command])


def is_done(part: str, key: str, extras: set[str]) -> bool:
    stamps = STAMPS[part]
    stamped = PYTHON.exists() and all(stamp.is_file() and stamp.read_text() == f"{key}\n" for stamp in stamps)
    return stamped and extras <= installed_extras()


def installed_extras() -> set[str]:
    return set(EXTRAS.read_text().split()) if EXTRAS.is_file() else set()


def requirements(extra: str) -> list[str]:
    """Return what pyproject.toml requires for an extra, with the extras that it includes."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    included = f"{project['name']}["
    found: list[str] = []
    for line in project["optional-dependencies"][extra]:
        if line.startswith(included):
            found += [part for name in line[len(included) : line.index("]")].split(",") for part in requirements(name)]
        else:
            found.append(line)
    return found


def unknown_extras(extras: set[str]) -> list[str]:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"].get("optional-dependencies", {})
    return sorted(extras - set(known))


def moved() -> bool:
    """Return whether the venv was created at another path: its scripts contain the path of their interpreter."""
    return RUN_STAMP.is_file() and not RUN_STAMP.read_text().startswith(f"{ROOT} ")


def why(part: str) -> str:
    if INCOMPLETE.exists():
        return "the last installation did not finish"
    if not RUN_STAMP.is_file():
        return "first use"
    if moved():
        return "this folder was moved"
    return "the developer tools are missing" if not STAMPS[part][-1].is_file() else "pyproject.toml changed"


def make_venv() -> None:
    """Create the venv when it is missing, broken, moved or incomplete."""
    if not INCOMPLETE.exists() and not moved() and works(PYTHON, "-m", "pip", "--version"):
        return
    if VENV.exists():
        shutil.rmtree(VENV)
    VENV.mkdir()
    INCOMPLETE.touch()
    run(sys.executable, "-m", "venv", VENV)


def install(part: str, key: str, extras: set[str]) -> None:
    """Install the program, with the extras named and those that were installed before."""
    extras = extras | installed_extras()
    make_venv()
    INCOMPLETE.touch()
    for stamp in STAMPS["dev"]:
        stamp.unlink(missing_ok=True)
    target = ",".join(["dev", *sorted(extras)] if part == "dev" else sorted(extras))
    run(*PIP, "--editable", f"{ROOT}[{target}]" if target else ROOT)
    remember(extras)
    INCOMPLETE.unlink()
    for stamp in STAMPS[part]:
        stamp.write_text(f"{key}\n")


def add_extras(extras: set[str]) -> None:
    """Add extras to a complete venv, which keeps working when this is interrupted."""
    run(*PIP, *(line for extra in sorted(extras) for line in requirements(extra)))
    remember(installed_extras() | extras)


def remember(extras: set[str]) -> None:
    EXTRAS.write_text("".join(f"{extra}\n" for extra in sorted(extras)))


def with_lock(part: str, key: str, extras: set[str]) -> None:
    with (ROOT / ".venv.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another run is installing; waiting for it.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        if is_done(part, key, extras):
            return
        if is_done(part, key, set()):
            say(f"first use of {' and '.join(sorted(extras))}: installing into {VENV} (once, needs the network) ...")
            add_extras(extras)
        else:
            say(f"{why(part)}: installing into {VENV} (a minute or less, needs the network) ...")
            install(part, key, extras)
        say("installed.")


def main(part: str, key: str, *names: str) -> int:
    extras = set(names)
    unknown = unknown_extras(extras)
    if unknown:
        say(f"pyproject.toml has no extra named {', '.join(unknown)}.")
        return 2
    if is_done(part, key, extras):
        return 0
    try:
        with_lock(part, key, extras)
    except subprocess.CalledProcessError as error:
        say(f"installing failed at: {' '.join(error.cmd)}")
        if "venv" in error.cmd:
            say("if your system packages venv apart from Python (Debian: python3-venv), install it and run this again.")
        return 1
    except OSError as error:
        say(f"installing failed: {error}")
        return 1
    except KeyboardInterrupt:
        say("interrupted; the next run starts the installation again.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
