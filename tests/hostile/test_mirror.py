"""J1 with few items. In full: `python -m tests.hostile.mirror_edits`."""

from __future__ import annotations

from tests.hostile import mirror_edits


def test_no_edit_in_a_mirrored_folder_is_lost() -> None:
    assert mirror_edits.attack(1, 40, seconds=4.0) == []
