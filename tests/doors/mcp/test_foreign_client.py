"""Another maker's client lists and calls the tools: what the official one forgives, this one may not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pagekeep.doors.mcp.tool_calls import unquote
from pagekeep.store import open_store
from tests.store.making import make_item

INSPECTOR = Path(__file__).parents[3] / ".node" / "node_modules" / ".bin" / "mcp-inspector"

pytestmark = pytest.mark.skipif(not INSPECTOR.exists(), reason="no other MCP client: run scripts/install-node-tools")


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "library.db"
    with closing(open_store(path)) as store:
        store.items.save(
            make_item(1, title="Lamps", content="---\ntitle: Lamps\n---\n\nLamps of brass and glass.\n"), None
        )
    return path


def inspect(library: Path, *arguments: str) -> dict[str, Any]:
    server = [sys.executable, "-m", "pagekeep", "mcp", "--library", str(library), "--allow-write"]
    done = subprocess.run(
        [INSPECTOR, "--cli", *server, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def call(library: Path, tool: str, **arguments: str) -> dict[str, Any]:
    pairs = [part for name, value in arguments.items() for part in ("--tool-arg", f"{name}={value}")]
    return inspect(library, "--method", "tools/call", "--tool-name", tool, *pairs)


def test_it_lists_every_tool(library: Path) -> None:
    tools = inspect(library, "--method", "tools/list")["tools"]
    assert {"fetch", "search", "read", "list_items", "get_metadata", "save"} <= {tool["name"] for tool in tools}


def test_it_searches_and_reads(library: Path) -> None:
    found = call(library, "search", query="brass")["structuredContent"]["results"]
    assert [unquote(one["title"]) for one in found] == ["Lamps"]
    read = call(library, "read", key=found[0]["id"])
    assert "Lamps of brass" in read["content"][0]["text"]


def test_it_calls_every_other_tool(library: Path) -> None:
    key = call(library, "list_items")["structuredContent"]["results"][0]["id"]
    assert unquote(call(library, "get_metadata", key=key)["structuredContent"]["title"]) == "Lamps"
    assert "Lamps of brass" in call(library, "fetch", id=key)["structuredContent"]["text"]
    tags = call(library, "tag_item", key=key, add='["sea"]')["structuredContent"]["tags"]
    assert [unquote(tag) for tag in tags] == ["sea"]
    assert call(library, "archive_item", key=key)["structuredContent"]["archived"] is True
    refused = call(library, "save", url="http://169.254.169.254/")
    assert refused["isError"]
    assert "BlockedAddress" in refused["content"][0]["text"]
