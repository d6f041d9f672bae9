"""`/api/v1/storage`: what the library takes on the disk."""

from __future__ import annotations

from fastapi import APIRouter
from typing_extensions import TypedDict

from pagekeep.doors.http.caller import ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.library.storage import measure_storage, remove_unused
from pagekeep.present.archive_shapes import StorageUse, storage_shape

router = APIRouter(prefix="/api/v1", tags=["archive"])


class OneStorage(TypedDict):
    storage: StorageUse


class Removed(TypedDict):
    removed: int
    """Files."""
    bytes: int


@router.get("/storage", responses=error_responses())
def read_storage(library: ReadLibrary) -> OneStorage:
    """Return what pages, pictures and other kept files take, and which sites take most."""
    return {"storage": storage_shape(measure_storage(library))}


@router.post("/storage/clean", responses=error_responses())
def clean_storage(library: WriteLibrary) -> Removed:
    """Remove the kept files that no item uses now, instead of after a week."""
    done = remove_unused(library, at_once=True)
    return {"removed": done.count, "bytes": done.bytes}
