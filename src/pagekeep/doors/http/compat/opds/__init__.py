"""`/opds`: the library as a catalogue of books for e-readers, OPDS 1.2 (Atom) and 2.0 (JSON), by `Accept`."""

from __future__ import annotations

from fastapi import APIRouter

from pagekeep.doors.http.compat.opds import books, catalogue

router = APIRouter(include_in_schema=False)
for _module in (catalogue, books):
    router.include_router(_module.router)
