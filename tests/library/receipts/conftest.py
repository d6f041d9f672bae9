"""Tests that take `library` run on both engines; those that extract share their worker processes."""

from __future__ import annotations

from tests.library.reparse.conftest import _shared_pools  # noqa: F401
from tests.store.conftest import library, opened, server, where  # noqa: F401
