"""Run Pagekeep at another commit, in a separate process."""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import sys
import tarfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import IO, Any, Final

from pagekeep.errors import NotFound
from pagekeep.lab.compare.results import ExtractorResult, result_from_parts

_TIMEOUT_SECONDS: Final = 120
_WORKER: Final = """
import base64, json, sys, time
from pagekeep import extract
try:
    from pagekeep.rules import shipped
    options = {"rules": shipped()}
except Exception:
    options = {}
for line in sys.stdin:
    request = json.loads(line)
    start = time.process_time()
    try:
        page = extract(base64.b64decode(request["html"]), request["url"], **options)
        answer = {
            "text": page.text, "html": page.html, "title": page.metadata.title or "",
            "links": [link.url for link in page.links], "media": [[media.kind, media.url] for media in page.media],
        }
    except Exception as error:
        answer = {"error": type(error).__name__}
    print(json.dumps({**answer, "ms": (time.process_time() - start) * 1000}), flush=True)
"""


class OlderVersion:
    """The extractor at a commit; a context manager."""

    def __init__(self, ref: str) -> None:
        self._sha = resolve_commit(ref)
        self._folder = TemporaryDirectory(prefix="pagekeep-older-")
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> OlderVersion:
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

    def extract(self, html: bytes, url: str | None) -> ExtractorResult:
        """Return what that version extracts from a page."""
        answer = self._send({"html": base64.b64encode(html).decode(), "url": url})
        if answer.get("error"):
            return ExtractorResult(error=answer["error"], ms=answer.get("ms", 0.0))
        media = [(kind, media_url) for kind, media_url in answer["media"]]
        result = result_from_parts(answer["text"], answer["html"], answer["title"], answer["links"], media)
        return replace(result, ms=float(answer["ms"]))

    def _send(self, request: dict[str, Any]) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise RuntimeError("Use an older version inside its `with` block.")
        try:
            process.stdin.write(json.dumps(request) + "\n")
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


def resolve_commit(ref: str) -> str:
    """Return the commit of a ref; raise `NotFound` outside a checkout, or when the ref does not exist."""
    try:
        done = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    except (OSError, subprocess.SubprocessError):
        raise NotFound(
            f"Version {ref:.80} of Pagekeep was not found.",
            suggestions=("Name a commit, tag or branch, and run from a checkout.",),
        ) from None
    return done.decode().strip()


def _unpack(sha: str, folder: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(_git("archive", "--format=tar", sha, ":(top)src"))) as archive:
        archive.extractall(folder, filter="data")


def _git(*arguments: str) -> bytes:
    here = Path(__file__).parent
    top = subprocess.run(
        ["git", "-C", str(here), "rev-parse", "--show-toplevel"],
        capture_output=True,
        timeout=_TIMEOUT_SECONDS,
        check=True,
    )
    command = ["git", "-C", top.stdout.decode().strip(), *arguments]
    return subprocess.run(command, capture_output=True, timeout=_TIMEOUT_SECONDS, check=True).stdout
