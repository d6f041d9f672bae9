"""Files of rules by people who mean harm, or who slipped on the keyboard (U1 to U4)."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pagekeep
from pagekeep.rules import hosts, rulebook, selectors
from pagekeep.rules.loading import read
from pagekeep.rules.outline import MAX_BYTES
from tests.hostile.rules_selectors import attack
from tests.test_house import EFFECTS, calls, imports, reaches

ROOM = Path(pagekeep.__file__).parent / "rules"
RULE = "- id: a\n  phase: pre\n  trigger: {host: {equals: a.example}}\n  remove: .x\n"

LONG = [
    *("a" * 100_000, "." * 100_000, "-" * 100_000, ".a" * 50_000, "a." * 50_000, ":not(" * 20_000, "[" * 100_000),
    *('["' * 50_000, "a " * 50_000, "a,\n" * 30_000, "\\" * 100_000, '"' + "\\a" * 50_000, "[class" + " " * 100_000),
    *(
        "[class=" + "a" * 100_000,
        "a" + " " * 100_000 + "of",
        "(" * 100_000,
        "#-" * 50_000,
        ":" * 100_000,
        "é." * 50_000,
    ),
]


@pytest.mark.parametrize("text", LONG, ids=lambda text: ascii(text[:8]))
def test_no_text_makes_our_patterns_go_back_and_forth(text: str) -> None:
    """U1. A pattern that did would not come back."""
    assert rulebook.needs(text)
    hosts.of_url(f"https://{text}/")
    with pytest.raises(ValueError):  # noqa: PT011 - HostError and SelectorFault are both one
        hosts.normalise(text)
    with pytest.raises(selectors.SelectorFault):
        selectors.check(text)
    with contextlib.suppress(selectors.SelectorFault):
        selectors.check_cost(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- &a {id: x}\n- *a", "Anchors (&) and aliases (*) are not allowed"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", "Anchors (&) and aliases (*) are not allowed"),
        ("- !!python/object/apply:os.system ['true']", "The tag `tag:yaml.org,2002:python/object/apply:os.system`"),
        ("- !custom x", "The tag `!custom` is not allowed"),
        ("- <<: {id: x}", "[0].<<: Unknown key."),
        ("[" * 200_000, "levels deep"),
        ("{a: " * 200_000, "levels deep"),
        ("- " * 200_000, "levels deep"),
        ("- a: " + "x" * MAX_BYTES, "larger than 1,000,000 bytes"),
        ("- a\n---\n- b", "A rule file contains one list of rules."),
        ("? [a]\n: b", "A key must be a word"),
        ("\x00", "Invalid YAML"),
        ("- 'open", "Invalid YAML"),
        ("\ud800", "Invalid YAML"),
    ],
    ids=lambda text: ascii(text[:20]),
)
def test_yaml_beyond_lists_mappings_and_values_is_refused(text: str, said: str) -> None:
    """U2."""
    loaded = read(text, "evil.yaml")
    assert loaded.rules == ()
    assert any(said in str(fault) for fault in loaded.faults), loaded.faults


@given(st.binary(max_size=300) | st.text(max_size=300))
def test_any_bytes_are_rules_or_faults(data: bytes | str) -> None:
    loaded = read(data, "any.yaml")
    assert all(fault.line >= 1 and fault.message for fault in loaded.faults)


@given(st.integers(0, len(RULE)), st.integers(0, len(RULE)), st.text(max_size=8))
def test_a_damaged_file_is_rules_or_faults(start: int, end: int, put: str) -> None:
    loaded = read(RULE[:start] + put + RULE[end:], "damaged.yaml")
    assert all(fault.file == "damaged.yaml" for fault in loaded.faults)


def test_grown_selectors_are_refused_by_name_or_answer_in_time() -> None:
    """U3, in part; `make hostile` runs ten thousand."""
    tally = attack(300)
    assert tally.faults == []
    assert tally.refused > 50
    assert tally.answered > 50


FILES = sorted(ROOM.rglob("*.py"))
READERS = {"loading.py": {"pathlib", "pathlib.Path"}, "prebuilt.py": {"os", "pathlib", "pathlib.Path"}}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOM)))
def test_nothing_that_reads_a_rule_can_reach_files_environment_or_network(file: Path) -> None:
    """U4. Only the loader may, which reads the files it is given, and what keeps the shipped rules in a quicker form."""
    source = file.read_text(encoding="utf-8")
    reached = {name for name in imports(source) if reaches(name, EFFECTS)}
    assert reached <= READERS.get(file.name, set())
    assert calls(source).isdisjoint({"open", "eval", "exec", "compile", "__import__"})
