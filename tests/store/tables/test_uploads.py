"""Files that wait for a job."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from pagekeep.store import Store
from tests.store.making import NOW, moment

Opener = Callable[..., Store]


def test_a_file_is_read_part_by_part_by_its_owner_only(opened: Opener) -> None:
    library, other, key = opened(), opened("another"), str(uuid.uuid4())
    for number, body in enumerate((b"one", b"two\x00")):
        library.uploads.put_part(key, number, body, NOW)
    assert [library.uploads.get_part(key, number) for number in range(3)] == [b"one", b"two\x00", None]
    assert other.uploads.get_part(key, 0) is None
    other.uploads.remove(key)
    assert library.uploads.get_part(key, 0) == b"one"
    library.uploads.remove(key)
    assert library.uploads.get_part(key, 0) is None


def test_old_files_that_no_job_needs_are_deleted(library: Store) -> None:
    old, needed, new = (str(uuid.uuid4()) for _ in range(3))
    for key, time in ((old, moment(1)), (needed, moment(1)), (new, moment(20))):
        library.uploads.put_part(key, 0, b"x", time)
    library.uploads.remove_old(moment(10), {needed})
    assert [library.uploads.get_part(key, 0) for key in (old, needed, new)] == [None, b"x", b"x"]
