"""J1 and Q3 with few items. In full: `python -m tests.hostile.mirror_edits` and `mirror_saves`."""

from __future__ import annotations

from tests.hostile import mirror_edits, mirror_saves


def test_no_edit_in_a_mirrored_folder_is_lost() -> None:
    assert mirror_edits.attack(1, 40, seconds=4.0) == []


def test_no_save_in_the_moment_of_a_replacement_is_lost() -> None:
    assert [fault for _, faults in mirror_saves.attack(6) for fault in faults] == []
