from __future__ import annotations

import pytest

from pagekeep.store import Store
from tests.hostile import stored_counts
from tests.store.conftest import Opener


@pytest.mark.parametrize("seed", range(3))
def test_what_is_stored_is_counted_right_after_any_history(library: Store, seed: int) -> None:
    assert stored_counts.run_history(library, seed, 40) == []


def test_what_is_stored_is_counted_right_after_changes_at_the_same_time(opened: Opener) -> None:
    user = opened().user_id
    assert stored_counts.run_at_once(lambda: opened(user), 1, 12) == []


def test_a_wrong_number_of_bytes_is_found_and_mended(library: Store) -> None:
    stored_counts.run_history(library, 4, 12)
    library._engine.write(
        lambda tx: tx.run(
            "UPDATE item_counts SET count = count + 1 WHERE user_id = :user AND kind = 'bytes'", user=tx.user_id
        )
    )
    assert len(library.counts.faults()) == library.counts.recount() > 2
    assert stored_counts.faults(library) == []
