"""`pagekeep rules`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pagekeep.doors.cli.main import cli
from pagekeep.doors.cli.rules import COMMANDS
from pagekeep.rules import shipped
from pagekeep.rules.loading import read

OWN = """\
- id: my-site
  phase: pre
  priority: 77
  trigger: {host: {ends_with: my.example}, dom: {any: .post, any_text_contains: Hello}}
  remove: .ad
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own.yaml").write_text(OWN)
    return tmp_path


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner(env={"PAGEKEEP_RULES": str(folder)}).invoke(cli, ["rules", *arguments], catch_exceptions=False)


def json_of(folder: Path, *arguments: str) -> Any:
    return json.loads(run(folder, *arguments, "--json").stdout)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(folder: Path, command: str) -> None:
    shown = run(folder, command, "--help")
    assert shown.exit_code == 0
    assert f"pagekeep rules {command}" in shown.stdout.partition("Examples:")[2]


def test_list_shows_own_and_shipped_rules(folder: Path) -> None:
    lines = run(folder, "list").stdout.splitlines()
    assert 'my-site\tpre\t77\t*.my.example and pages with .post and "Hello"\town.yaml:1' in lines
    assert len(lines) == 1 + 1 + len(shipped().rules)


def test_list_own_leaves_shipped_rules_out(folder: Path) -> None:
    (only,) = json_of(folder, "list", "--own")["rules"]
    assert only["id"] == "my-site"
    assert only["source"] == {"file": "own.yaml", "line": 1, "shipped": False}


def test_show_prints_yaml_that_can_be_kept_as_ones_own(folder: Path) -> None:
    shown = run(folder, "show", "my-site").stdout
    assert shown.startswith("# own.yaml:1\n- id: my-site\n")
    assert read(shown, "x").rules[0].remove == (".ad",)


def test_show_of_an_unknown_rule_names_the_nearest(folder: Path) -> None:
    shown = run(folder, "show", "my-sit")
    assert shown.exit_code == 2
    assert "Did you mean `my-site`?" in shown.stderr


def test_check_of_good_rules_is_done(folder: Path) -> None:
    checked = run(folder, "check")
    assert (checked.exit_code, checked.stdout) == (0, "1 valid rule in 1 file, 0 faults.\n")


def test_check_shows_every_fault(folder: Path) -> None:
    bad = folder / "bad.yaml"
    bad.write_text(OWN.replace("phase: pre", "phase: before").replace("remove", "remov"))
    checked = run(folder, "check", str(bad))
    assert checked.exit_code == 2
    assert "bad.yaml:2: [0].phase: Expected one of pre, post, both" in checked.stderr
    assert "bad.yaml:5: [0].remov: Unknown key. Did you mean `remove`?" in checked.stderr
    answer = json_of(folder, "check", str(bad))
    assert (answer["success"], answer["files"], answer["rules"], len(answer["faults"])) == (False, 1, 0, 2)
    assert list(answer["faults"][0]) == ["file", "line", "path", "rule", "message", "suggestion"]


def test_check_of_a_missing_file_is_bad_input(folder: Path) -> None:
    checked = run(folder, "check", str(folder / "none.yaml"))
    assert checked.exit_code == 2
    assert "File or folder not found" in checked.stderr


def test_check_without_own_rules_is_not_a_fault(tmp_path: Path) -> None:
    assert run(tmp_path / "nowhere", "check").exit_code == 0


def test_broken_own_rules_are_reported_and_the_others_listed(folder: Path) -> None:
    (folder / "bad.yaml").write_text("- id: x")
    listed = run(folder, "list")
    assert listed.exit_code == 0
    assert "Skipped a faulty rule: bad.yaml:1: [0]: The key `phase` is missing." in listed.stderr
    assert "my-site" in listed.stdout


def test_schema_is_json_schema(folder: Path) -> None:
    made = json.loads(run(folder, "schema").stdout)
    assert made["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert "trigger" in made["items"]["properties"]


def test_import_writes_rules_and_shows_what_it_left_out(folder: Path) -> None:
    config = folder / "site-config"
    config.mkdir()
    (config / "a.example.txt").write_text("body: //main\ntidy: no\n")
    (config / "b.example.txt").write_text("strip: //aside\n")
    done = run(folder, "import", "fivefilters", str(config))
    assert done.exit_code == 0
    assert [rule.id for rule in read(done.stdout, "x").rules] == ["fivefilters-a.example", "fivefilters-b.example"]
    assert "Not converted: a.example.txt:2: tidy: no: there is one parser" in done.stderr
    answer = json_of(folder, "import", "fivefilters", str(config / "a.example.txt"))
    assert [rule["id"] for rule in answer["rules"]] == ["fivefilters-a.example"]
    assert answer["left_out"] == [
        {"file": "a.example.txt", "line": 2, "what": "tidy: no", "why": "there is one parser"}
    ]


def test_import_of_goodlinks_takes_a_list_of_hosts(folder: Path) -> None:
    from hashlib import md5

    (folder / "hosts.txt").write_text("rare.example\n")
    key = md5(b"rare.example", usedforsecurity=False).hexdigest()
    (folder / "rules.json").write_text(json.dumps({key: {"e": ".ad"}}))
    done = run(folder, "import", "goodlinks", str(folder / "rules.json"), "--hosts", str(folder / "hosts.txt"))
    assert read(done.stdout, "x").rules[0].id == "goodlinks-rare.example"


def test_import_of_a_missing_file_is_bad_input(folder: Path) -> None:
    assert run(folder, "import", "goodlinks", str(folder / "none.json")).exit_code == 2


def test_test_runs_the_cases_beside_ones_own_rules(folder: Path) -> None:
    from tests.lab.rules.test_cases import PAGE

    case = folder / "tests" / "my-site--plug"
    case.mkdir(parents=True)
    (folder / "own.yaml").write_text(
        "- {id: my-site, phase: pre, trigger: {host: {equals: my.example}}, remove: .plug}"
    )
    (case / "page.html").write_text(PAGE)
    (case / "expect.yaml").write_text("url: https://my.example/\nlacks: Subscribe")
    done = run(folder, "test")
    assert (done.exit_code, done.stdout) == (0, "1 of 1 cases passed.\n")

    (case / "expect.yaml").write_text("url: https://my.example/\ncontains: Subscribe")
    done = run(folder, "test", str(folder / "tests"))
    assert (done.exit_code, done.stdout) == (1, "0 of 1 cases passed.\n")
    assert "Failed: my-site--plug\n  Missing: Subscribe" in done.stderr
    answer = json_of(folder, "test")
    assert answer == {
        "success": False,
        "cases": [{"case": "my-site--plug", "passed": False, "wrong": ["Missing: Subscribe"]}],
    }


def test_test_without_cases_is_bad_input(folder: Path) -> None:
    assert run(folder, "test").exit_code == 2


def test_stats_tell_what_each_rule_is_worth(folder: Path) -> None:
    from tests.lab.rules.test_cases import PAGE

    corpus = folder / "corpus"
    corpus.mkdir()
    (folder / "own.yaml").write_text(
        "- {id: my-site, phase: pre, trigger: {host: {equals: my.example}}, remove: .plug}"
    )
    (corpus / "a.html").write_text(PAGE)
    gold = {"url": "https://my.example/", "kind": "article", "text": "On day 1 the harbour master wrote"}
    (corpus / "a.json").write_text(json.dumps(gold))
    first, *_ = json_of(folder, "stats", str(corpus))["rules"]
    assert (first["rule"], first["pages"], first["worst_page"]) == ("my-site", 1, "a")
    assert first["gain"] == pytest.approx(first["f1"] - first["f1_without"], abs=1e-6)
    assert (first["basis"], first["written_with"]["pages"]) == (None, 0)
    assert first["new"] == {"pages": 1, "changed": 1, "gain": first["gain"], "worst_page": "a"}
    header, row, *_ = run(folder, "stats", str(corpus)).stdout.splitlines()
    assert header == "rule\tbasis\twritten with\tchanged\tgain\tnew\tchanged\tgain\tworst page"
    assert row.split("\t")[:3] == ["my-site", "", "0"]
