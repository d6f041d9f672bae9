"""`./pagekeep` and `scripts/setup`: the way from a fresh checkout to a running command. Nothing is downloaded here."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

REPOSITORY = Path(__file__).parents[1]
TOOLS = ("sh", "cksum", "readlink")
FAKE_PYTHON = '#!/bin/sh\nprintf "%s\\n" ran "$@"\ncat\n'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the launcher alone, in a folder whose name has spaces."""
    root = tmp_path / "a check out"
    (root / "scripts").mkdir(parents=True)
    for name in ("pagekeep", "scripts/setup", "scripts/setup_venv.py"):
        shutil.copy(REPOSITORY / name, root / name)
    (root / "pyproject.toml").write_text('[project]\nname = "pagekeep"\n')
    return root


def executable(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def key_of(root: Path) -> str:
    with (root / "pyproject.toml").open() as file:
        checksum = subprocess.run(["cksum"], stdin=file, capture_output=True, text=True, check=True).stdout
    return f"{root.resolve()} {checksum}"


def pretend_installed(root: Path) -> None:
    executable(root / ".venv/bin/python", FAKE_PYTHON)
    (root / ".venv/.pagekeep-run").write_text(key_of(root))


def launch(
    command: Path | str, *args: str, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(command), *args], cwd=cwd, env={**os.environ, **environment}, input="piped", capture_output=True, text=True
    )


def test_runs_the_module_with_the_arguments_and_input_untouched(checkout: Path) -> None:
    pretend_installed(checkout)
    done = launch(checkout / "pagekeep", "extract", "my page.html", "--url", "a*b", "")
    assert done.stdout.splitlines() == [
        "ran",
        "-P",
        "-m",
        "pagekeep",
        "extract",
        "my page.html",
        "--url",
        "a*b",
        "",
        "piped",
    ]
    assert done.stderr == ""


def test_works_from_any_folder_and_keeps_it(checkout: Path, tmp_path: Path) -> None:
    pretend_installed(checkout)
    executable(checkout / ".venv/bin/python", "#!/bin/sh\npwd -P\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert launch(checkout / "pagekeep", cwd=elsewhere).stdout.strip() == str(elsewhere.resolve())


def test_works_by_a_bare_relative_name(checkout: Path) -> None:
    pretend_installed(checkout)
    done = subprocess.run(
        ["sh", "pagekeep", "x"], cwd=checkout, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.stdout.splitlines()[-1] == "x"


def test_works_through_a_chain_of_symlinks(checkout: Path, tmp_path: Path) -> None:
    pretend_installed(checkout)
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "relative").symlink_to(Path("..") / checkout.name / "pagekeep")
    (folder / "pk").symlink_to(folder / "relative")
    assert launch(folder / "pk", "x").stdout.startswith("ran\n")


def test_passes_on_the_exit_code(checkout: Path) -> None:
    pretend_installed(checkout)
    executable(checkout / ".venv/bin/python", "#!/bin/sh\nexit 2\n")
    assert launch(checkout / "pagekeep").returncode == 2


@pytest.mark.parametrize(
    "spoil",
    [
        lambda root: shutil.rmtree(root / ".venv"),
        lambda root: (root / ".venv/.pagekeep-run").unlink(),
        lambda root: (root / ".venv/.pagekeep-run").write_text(""),
        lambda root: (root / "pyproject.toml").write_text("[project]\n"),
        lambda root: (root / ".venv/bin/python").unlink(),
    ],
    ids=["nothing installed", "never finished", "empty stamp", "pyproject changed", "python gone"],
)
def test_installs_first_when_it_must(checkout: Path, spoil: Callable[[Path], object]) -> None:
    pretend_installed(checkout)
    executable(checkout / "scripts/setup", "#!/bin/sh\necho setup $1 >&2\nexit 7\n")
    spoil(checkout)
    done = launch(checkout / "pagekeep", "--version")
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "setup run\n")


def test_installs_again_after_the_folder_was_moved(checkout: Path) -> None:
    pretend_installed(checkout)
    moved = checkout.rename(checkout.with_name("moved"))
    executable(moved / "scripts/setup", "#!/bin/sh\necho setup >&2\nexit 7\n")
    assert launch(moved / "pagekeep").stderr == "setup\n"


def test_says_so_when_there_is_no_python_new_enough(checkout: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    executable(tools / "python3", "#!/bin/sh\nexit 1\n")
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found
        (tools / tool).symlink_to(found)
    done = launch(checkout / "pagekeep", "--version", PATH=str(tools))
    assert done.returncode == 1
    assert done.stdout == ""
    assert "needs Python 3.11 or newer" in done.stderr


def test_takes_the_first_python_that_really_runs(checkout: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    executable(tools / "python3", "#!/bin/sh\nexit 127\n")
    executable(tools / "python3.12", '#!/bin/sh\n[ "$1" = -c ] || printf "%s\\n" "$@"\n')
    done = launch(checkout / "scripts/setup", "dev", PATH=f"{tools}:/usr/bin:/bin")
    script, part, key = done.stdout.splitlines()
    assert (script, part, key + "\n") == (str(checkout / "scripts/setup_venv.py"), "dev", key_of(checkout))


class Installer:
    """`setup_venv.py` of a checkout, with the steps that would take minutes replaced and recorded."""

    def __init__(self, checkout: Path) -> None:
        self.module = self._load(checkout / "scripts/setup_venv.py")
        self.venv = checkout / ".venv"
        self.steps: list[str] = []
        self.commands: list[list[str]] = []
        self.fail: BaseException | None = None
        self.module.__dict__.update(run=self._run, works=lambda *command: (self.venv / "bin/python").exists())

    @staticmethod
    def _load(script: Path) -> ModuleType:
        spec = importlib.util.spec_from_file_location("setup_venv", script)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def _run(self, *command: str | Path) -> None:
        step = str(command[2])
        self.commands.append([str(part) for part in command])
        self.steps.append(f"{step} {Path(command[-1]).name}")
        if step == "venv":
            executable(self.venv / "bin/python", FAKE_PYTHON)
        elif self.fail is not None:
            raise self.fail

    def __call__(self, part: str, key: str = "", *extras: str) -> int:
        self.steps = []
        return int(self.module.main(part, key or f"{self.venv.parent} 1 2", *extras))

    def stamps(self) -> set[str]:
        return {file.name for file in self.venv.glob(".pagekeep-*")}


@pytest.fixture
def installer(checkout: Path) -> Installer:
    return Installer(checkout)


def test_first_use_makes_a_venv_installs_and_says_so_on_stderr(
    installer: Installer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert installer("run") == 0
    assert installer.steps == ["venv .venv", "pip a check out"]
    assert installer.stamps() == {".pagekeep-run", ".pagekeep-extras"}
    reported = capsys.readouterr()
    assert reported.out == ""
    assert "first use: installing" in reported.err


def test_second_use_does_nothing_and_says_nothing(installer: Installer, capsys: pytest.CaptureFixture[str]) -> None:
    installer("run")
    capsys.readouterr()
    assert installer("run") == 0
    assert installer.steps == []
    assert capsys.readouterr().err == ""


def test_installed_venv_satisfies_the_launcher(installer: Installer, checkout: Path) -> None:
    installer("run", key_of(checkout).strip())
    assert launch(checkout / "pagekeep").stdout.startswith("ran\n")


def test_developer_tools_are_added_to_the_same_venv(installer: Installer) -> None:
    installer("run")
    assert installer("dev") == 0
    assert installer.steps == ["pip a check out[dev]"]
    assert installer.stamps() == {".pagekeep-run", ".pagekeep-dev", ".pagekeep-extras"}


def test_changed_pyproject_installs_into_the_same_venv(installer: Installer) -> None:
    installer("run")
    assert installer("run", f"{installer.venv.parent} 3 4") == 0
    assert installer.steps == ["pip a check out"]


PYPROJECT = """[project]
name = "pagekeep"
[project.optional-dependencies]
bulk = ["pyarrow>=21"]
ray = ["pagekeep[bulk]", "ray>=2"]
"""


def test_an_optional_part_is_added_to_the_complete_venv_and_remembered(
    installer: Installer, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "pyproject.toml").write_text(PYPROJECT)
    installer("run")
    capsys.readouterr()
    assert installer("run", "", "ray") == 0
    assert installer.commands[-1][-2:] == ["pyarrow>=21", "ray>=2"]
    assert "first use of ray: installing" in capsys.readouterr().err
    assert installer("run", "", "ray") == 0
    assert installer.steps == []
    assert installer("run", f"{installer.venv.parent} 3 4") == 0
    assert installer.steps == ["pip a check out[ray]"]


def test_an_optional_part_that_fails_to_install_leaves_the_venv_complete(installer: Installer, checkout: Path) -> None:
    (checkout / "pyproject.toml").write_text(PYPROJECT)
    installer("run")
    installer.fail = subprocess.CalledProcessError(1, ["pip"])
    assert installer("run", "", "bulk") == 1
    assert installer("run") == 0
    assert installer.steps == []


def test_an_unknown_part_is_refused(installer: Installer, capsys: pytest.CaptureFixture[str]) -> None:
    assert installer("run", "", "sever") == 2
    assert "no extra named sever" in capsys.readouterr().err


def test_reinstalling_for_use_makes_the_developer_tools_stale(installer: Installer) -> None:
    installer("dev")
    installer("run", f"{installer.venv.parent} 3 4")
    assert installer.stamps() == {".pagekeep-run", ".pagekeep-extras"}


def test_venv_of_a_moved_folder_is_made_again(installer: Installer) -> None:
    installer("run", "/where/it/was 1 2")
    assert installer("run") == 0
    assert installer.steps == ["venv .venv", "pip a check out"]


@pytest.mark.parametrize(
    ("fault", "code"),
    [(KeyboardInterrupt(), 130), (subprocess.CalledProcessError(1, ["pip"]), 1), (OSError("disk full"), 1)],
    ids=["interrupt", "pip fails", "disk full"],
)
def test_unfinished_installation_is_never_believed_and_made_again(
    installer: Installer, fault: BaseException, code: int
) -> None:
    installer.fail = fault
    assert installer("run") == code
    assert installer.stamps() == {".pagekeep-incomplete"}
    installer.fail = None
    assert installer("run") == 0
    assert installer.steps == ["venv .venv", "pip a check out"]
    assert installer.stamps() == {".pagekeep-run", ".pagekeep-extras"}


def test_venv_the_user_made_is_kept(installer: Installer) -> None:
    executable(installer.venv / "bin/python", FAKE_PYTHON)
    (installer.venv / "mine").touch()
    assert installer("run") == 0
    assert (installer.venv / "mine").exists()


def test_run_beside_another_waits_and_uses_what_that_one_installed(
    installer: Installer, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (checkout / ".venv.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = threading.Thread(target=installer, args=("run",))
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
        executable(installer.venv / "bin/python", FAKE_PYTHON)
        (installer.venv / ".pagekeep-run").write_text(f"{checkout} 1 2\n")
    waiting.join()
    assert installer.steps == []
    assert "waiting" in capsys.readouterr().err
