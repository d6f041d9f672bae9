"""On Ray the same pages give the same rows.

Ray listens on every address of the machine, whatever its settings are; so it gets its own network, with nothing in it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from pagekeep import bulk
from pagekeep.bulk import ray_engine
from pagekeep.errors import UnsupportedContent
from tests.bulk.making import jsonl, page


def can_have_its_own_network() -> bool:
    return (
        shutil.which("unshare") is not None
        and subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode == 0
    )


def rows_of(out: Path) -> list[str]:
    rows: list[dict[str, Any]] = []
    for part in sorted(out.rglob("*.parquet")):
        rows += pyarrow.parquet.read_table(part).to_pylist()
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install 'pagekeep[ray]'")
@pytest.mark.skipif(not can_have_its_own_network(), reason="no network of its own can be made here")
def test_ray_gives_the_same_rows_as_one_machine(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(3):
        jsonl(folder / f"{number}.jsonl", [page(10 * number + n) for n in range(6)] + ["", "<p>Few words."])
    odd = json.dumps({"url": "https://example.com/\ud800", "html": page(99) + "\ud800"})
    (folder / "broken.jsonl").write_text("{broken\n" + odd + "\n")
    bulk.run(folder, tmp_path / "local", workers=1)
    bulk.run(folder, tmp_path / "local-limited", workers=1, limit=9)
    urls = [f"https://example.com/{number}" for number in range(4)]
    pages = [page(0), None, page(2), "<p>Few words."]
    pyarrow.parquet.write_table(pyarrow.table({"url": urls, "html": pages}), tmp_path / "pages.parquet")
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[3]), *filter(None, sys.path)]),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    job = f"ip link set lo up; exec {sys.executable} -m tests.bulk.ray_job {folder} {tmp_path / 'ray'}"
    done = subprocess.run(
        ["unshare", "-n", "sh", "-c", job], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    assert rows_of(tmp_path / "ray") == rows_of(tmp_path / "local")
    assert rows_of(tmp_path / "ray-limited") == rows_of(tmp_path / "local-limited")
    batch = [json.loads(row) for row in rows_of(tmp_path / "out")]
    assert sorted((row["url"], row["title"], row["error_type"]) for row in batch) == [
        (urls[0], "Page 0", None),
        (urls[1], None, "ParseError"),
        (urls[2], "Page 2", None),
        (urls[3], None, None),
    ]


def test_a_file_continues_in_the_parts_that_are_missing(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "pages.jsonl", [page(number) for number in range(7)])
    plan = bulk.Plan(bulk.find_files([str(source)]), tmp_path / "out", part_size=3)
    assert ray_engine.run_file(plan, 0, None, 1).counts.records == 7
    parts = {part.name: part.read_bytes() for part in plan.out.rglob("*.parquet")}
    assert len(parts) == 3
    assert ray_engine.run_file(plan, 0, None, 1).counts.records == 0  # complete: the file is not read again
    folder = plan.out / "file-000000"
    (folder / "_complete").unlink()
    (folder / "_accounts" / "000001.json").unlink()
    (folder / "part-000001.parquet").unlink()
    assert ray_engine.run_file(plan, 0, None, 1).counts.records == 3
    assert {part.name: part.read_bytes() for part in plan.out.rglob("*.parquet")} == parts


def test_a_column_that_the_first_file_lacks_ends_the_run(tmp_path: Path) -> None:
    source = tmp_path / "pages.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"html": [page(1)]}), source)
    plan = bulk.Plan(bulk.find_files([str(source)]), tmp_path / "out", html_column="nothing")
    assert isinstance(ray_engine.run_file(plan, 0, None, 1).error, UnsupportedContent)
    assert ray_engine.count_records(plan, 0, 9) == 1  # the record that says why


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install 'pagekeep[ray]'")
def test_what_ray_cannot_do_is_said_before_it_starts(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "pages.jsonl", [page(1)])
    with pytest.raises(UnsupportedContent, match="duplicates"):
        bulk.run(bulk.Plan(bulk.find_files([str(source)]), tmp_path / "out", duplicates="near"), engine="ray")
