"""`/opds`: the library as a catalogue of books for e-readers, OPDS 1.2 (Atom) and 2.0 (JSON), by `Accept`."""

from __future__ import annotations

from pagekeep.doors.http.compat.opds import books, catalogue
from pagekeep.doors.http.path_router import PathRouter

router = PathRouter("/opds", include_in_schema=False)
for _module in (catalogue, books):
    router.include_router(_module.router)
