"""The prebuilt copy of the shipped rules: equal to the files, and used only while it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pagekeep import dom
from pagekeep.errors import RuleError
from pagekeep.rules import Rulebook, loading, prebuilt
from tests.rules.test_loading import WHOLE

YAML = WHOLE + "- {id: other, phase: pre, trigger: {host: {equals: a.example}}, remove: .y}\n"
PAGE = "<article class=a><p id=c class=b>Kelp ⚡ AMP</p></article>"


def read_yaml(folder: Path) -> Rulebook:
    """Read the rules without the copy."""
    return Rulebook(loading.read_files(sorted(folder.glob("*.yaml")), shipped=True).rules)


def modules_after(script: str) -> set[str]:
    ran = subprocess.run(
        [sys.executable, "-c", f"{script}; import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(ran.stdout.split())


@pytest.fixture
def sites(tmp_path: Path) -> Path:
    """A folder with a rule file and its prebuilt copy."""
    (tmp_path / "sites.yaml").write_text(YAML, encoding="utf-8")
    prebuilt.load_shipped(tmp_path)
    assert (tmp_path / prebuilt.PREBUILT).exists()
    return tmp_path


def test_copy_of_the_shipped_rules_equals_their_files(tmp_path: Path) -> None:
    for file in prebuilt.SITES.glob("*.yaml"):
        shutil.copy(file, tmp_path)
    prebuilt.load_shipped(tmp_path)
    copied, read = prebuilt.load_shipped(tmp_path), read_yaml(prebuilt.SITES)
    assert copied.tables() == read.tables()
    assert copied.rules == read.rules


def test_copy_is_read_without_the_files_being_parsed(sites: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = read_yaml(sites)
    monkeypatch.setattr(loading, "read_files", None)
    assert prebuilt.load_shipped(sites).rules == read.rules


def test_rules_from_a_copy_match_the_same_pages(sites: Path) -> None:
    copied, read = prebuilt.load_shipped(sites), read_yaml(sites)
    root = dom.parse(PAGE)
    for url in (None, "https://a.example/", "https://x.bbc.co.uk/", "https://b.example/"):
        assert copied.match("pre", url, root) == read.match("pre", url, root)
        assert copied.match("post", url, root) == read.match("post", url, root)
        assert copied.rendering(url or "") == read.rendering(url or "")


def test_editing_a_file_takes_effect(sites: Path) -> None:
    (sites / "sites.yaml").write_text(YAML.replace("id: other", "id: edited"), encoding="utf-8")
    for _ in range(2):
        assert [rule.id for rule in prebuilt.load_shipped(sites).rules] == ["everything", "edited"]


def test_adding_renaming_and_removing_a_file_takes_effect(sites: Path) -> None:
    before = (sites / prebuilt.PREBUILT).read_bytes()
    (sites / "more.yaml").write_text(YAML.replace("id: ", "id: more-"), encoding="utf-8")
    assert len(prebuilt.load_shipped(sites).rules) == 4
    (sites / "more.yaml").rename(sites / "most.yaml")
    assert {rule.source.name for rule in prebuilt.load_shipped(sites).rules if rule.source} == {
        "most.yaml",
        "sites.yaml",
    }
    (sites / "most.yaml").unlink()
    assert len(prebuilt.load_shipped(sites).rules) == 2
    assert (sites / prebuilt.PREBUILT).read_bytes() == before


def test_copy_of_another_version_is_ignored(sites: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (sites / prebuilt.PREBUILT).read_bytes()
    monkeypatch.setattr(prebuilt, "__version__", "0.0.0")
    assert len(prebuilt.load_shipped(sites).rules) == 2
    assert (sites / prebuilt.PREBUILT).read_bytes() != before


@pytest.mark.parametrize("keep", [0, 3, 8, 100, -1])
def test_truncated_copy_is_ignored_and_replaced(sites: Path, keep: int) -> None:
    copy = sites / prebuilt.PREBUILT
    whole = copy.read_bytes()
    copy.write_bytes(whole[:keep])
    assert prebuilt.load_shipped(sites).rules == read_yaml(sites).rules
    assert copy.read_bytes() == whole


def test_damaged_copy_is_ignored_and_replaced(sites: Path) -> None:
    copy = sites / prebuilt.PREBUILT
    whole = copy.read_bytes()
    for place in range(0, len(whole), len(whole) // 50):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        copy.write_bytes(damaged)
        assert len(prebuilt.load_shipped(sites).rules) == 2
        assert copy.read_bytes() == whole


def test_rules_are_loaded_where_no_copy_can_be_written(sites: Path) -> None:
    copy = sites / prebuilt.PREBUILT
    copy.unlink()
    copy.mkdir()  # even root cannot replace a folder by a file
    assert len(prebuilt.load_shipped(sites).rules) == 2
    assert sorted(os.listdir(sites)) == [prebuilt.PREBUILT, "sites.yaml"]


def test_faulty_rules_leave_no_copy(tmp_path: Path) -> None:
    (tmp_path / "sites.yaml").write_text("- id: a\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(RuleError):
            prebuilt.load_shipped(tmp_path)
    assert os.listdir(tmp_path) == ["sites.yaml"]


def test_page_is_extracted_without_the_yaml_library() -> None:
    prebuilt.shipped()  # makes the copy where there is none
    loaded = modules_after("import pagekeep; pagekeep.extract('<title>Kelp: a story</title><p>Kelp grows.').document")
    assert "pagekeep.rules.prebuilt" in loaded
    assert not loaded & {"yaml", "pagekeep.rules.loading", "pagekeep.rules.schema", "asyncio", "hashlib", "logging"}
