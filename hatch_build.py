"""Compile the pure core with mypyc when `PAGEKEEP_FAST=1` is set: the wheel then holds each module twice, and Python
imports the compiled one. Without the variable nothing happens, and no compiler is needed (ADR 0014)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
SWITCH = "PAGEKEEP_FAST"
COMPILED = ("extraction", "markdown", "model/clean_tree.py", "dom.py", "pipeline.py", "text.py")
"""What is compiled, in src/pagekeep: the modules that a page passes through."""
LEFT_OUT = frozenset({"forest_data.py"})
"""Data: compiling it takes long and gains nothing."""

_SETUP = """
import sys
from mypyc.build import mypycify
from setuptools import setup
setup(
    name="pagekeep-compiled",
    packages=[],
    ext_modules=mypycify(["--config-file", "mypy.ini", *sys.argv[3:]], opt_level="2", debug_level="0", multi_file=True),
    script_args=["build_ext", "--parallel", sys.argv[1], "--build-lib", sys.argv[2]],
)
"""


class CompileHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds compiled modules to a wheel."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return what the build needs besides hatchling."""
        return ["mypy[mypyc]>=1.13,<3", "setuptools>=78", *_runtime_types()] if _is_on() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the wheel is put together."""
        if _is_on() and self.target_name == "wheel" and version != "editable":
            self._folder = Path(tempfile.mkdtemp(prefix="pagekeep-wheel-"))
            build_data["pure_python"], build_data["infer_tag"] = False, True
            for path in compile_modules(self._folder):
                build_data["force_include"][str(path)] = str(path.relative_to(self._folder / "lib"))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary files."""
        if hasattr(self, "_folder"):
            shutil.rmtree(self._folder)


def compile_modules(folder: Path) -> list[Path]:
    """Compile the pure core in the folder; return the paths of the extension modules, below `lib`."""
    source = folder / "src"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    (source / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\n", encoding="utf-8")
    core = source / "pagekeep"
    found = [
        path for name in COMPILED for path in ([core / name] if name.endswith(".py") else (core / name).rglob("*.py"))
    ]
    modules = sorted(str(path.relative_to(source)) for path in found if path.name not in LEFT_OUT)
    command = [sys.executable, "-c", _SETUP, str(os.cpu_count() or 1), str(folder / "lib"), *modules]
    result = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"mypyc or the C compiler failed:\n{result.stdout[-4000:]}\n{result.stderr[-4000:]}")
    return sorted(path for path in (folder / "lib").rglob("*") if path.suffix in {".so", ".pyd"})


def _runtime_types() -> list[str]:
    """Return the libraries whose types the core uses: without them mypyc would treat their objects as `Any`."""
    return ["turbohtml>=1.15,<2", "nh3>=0.3.6,<0.4", "types-PyYAML>=6.0,<7"]


def _is_on() -> bool:
    return os.environ.get(SWITCH) == "1"
