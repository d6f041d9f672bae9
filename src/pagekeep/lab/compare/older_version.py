"""Pagekeep as it was at another commit, in a process of its own."""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import sys
import tarfile
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import IO, Any, Final

from pagekeep.errors import NotFound
from pagekeep.lab.compare.results import Reading, of_parts

_SECONDS: Final = 120
_WORKER: Final = """
import base64, json, sys, time
from pagekeep import extract
try:
    from pagekeep.rules import shipped
    how = {"rules": shipped()}
except Exception:
    how = {}
for line in sys.stdin:
    asked = json.loads(line)
    begin = time.process_time()
    try:
        page = extract(base64.b64decode(asked["html"]), asked["url"], **how)
        said = {
            "text": page.text, "html": page.html, "title": page.metadata.title or "",
            "links": [link.url for link in page.links], "media": [[one.kind, one.url] for one in page.media],
        }
    except Exception as error:
        said = {"error": type(error).__name__}
    print(json.dumps({**said, "ms": (time.process_time() - begin) * 1000}), flush=True)
"""


class Older:
    """The extractor of a commit; a context manager."""

    def __init__(self, ref: str) -> None:
        self._sha = commit(ref)
        self._folder = TemporaryDirectory(prefix="pagekeep-older-")
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Older:
        _unpack(self._sha, Path(self._folder.name))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": str(Path(self._folder.name) / "src")},
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                _close(stream)
        self._folder.cleanup()

    def read(self, html: bytes, url: str | None) -> Reading:
        """What that version makes of a page."""
        said = self._ask({"html": base64.b64encode(html).decode(), "url": url})
        if said.get("error"):
            return Reading(error=said["error"], ms=said.get("ms", 0.0))
        made = of_parts(said["text"], said["html"], said["title"], said["links"], [(k, u) for k, u in said["media"]])
        return Reading(
            made.text, made.title, made.links, made.images, made.videos, made.structure, ms=float(said["ms"])
        )

    def _ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise RuntimeError("An older version is used outside its `with`.")
        try:
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        answer: dict[str, Any] = json.loads(line) if line else {"error": "Ended"}
        return answer


def _close(stream: IO[str] | None) -> None:
    if stream is not None:
        with suppress(BrokenPipeError):
            stream.close()


def commit(ref: str) -> str:
    """The commit that a ref names; `NotFound` outside a checkout, or when there is none."""
    try:
        done = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    except (OSError, subprocess.SubprocessError):
        raise NotFound(
            f"There is no version {ref:.80} of Pagekeep to compare with.",
            suggestions=("Name a commit, tag or branch, and run from a checkout.",),
        ) from None
    return done.decode().strip()


def _unpack(sha: str, folder: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(_git("archive", "--format=tar", sha, ":(top)src"))) as archive:
        archive.extractall(folder, filter="data")


def _git(*arguments: str) -> bytes:
    here = Path(__file__).parent
    top = subprocess.run(
        ["git", "-C", str(here), "rev-parse", "--show-toplevel"], capture_output=True, timeout=_SECONDS, check=True
    )
    command = ["git", "-C", top.stdout.decode().strip(), *arguments]
    return subprocess.run(command, capture_output=True, timeout=_SECONDS, check=True).stdout
