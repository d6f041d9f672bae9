"""`/wallabag/api/tags` and the tags of entries."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from pagekeep.doors.http.caller import ReadCaller, ReadLibrary, WriteLibrary
from pagekeep.doors.http.compat.parameters import SentParameters
from pagekeep.doors.http.compat.wallabag import mapping
from pagekeep.doors.http.compat.wallabag.entries import Number, _one
from pagekeep.doors.http.responses import Json
from pagekeep.doors.http.service import CurrentService
from pagekeep.errors import NotFound
from pagekeep.library import items
from pagekeep.library.actions import change_item
from pagekeep.library.browse.tags import delete_tag as delete_everywhere
from pagekeep.library.open import Store
from pagekeep.model.lists.values import ItemChange

router = APIRouter(prefix="/api")
TagNumber = Annotated[int, Path(ge=0, le=2**62)]


@router.get("/tags")
def list_tags(library: ReadLibrary) -> Response:
    """List the tags in use; in lower case and without accents, as they are compared."""
    return Json([{**mapping.tag(label), "nbEntries": count} for label, count in items.count_tags(library)])


@router.delete("/tag/label")
@router.delete("/tags/label")
def delete_tags_by_label(library: WriteLibrary, sent: SentParameters) -> Response:
    """Remove a tag (`tag`) or several (`tags`) from all entries."""
    labels = [*(sent.list("tag") or ()), *(sent.list("tags") or ())]
    removed = [label for label in labels[:100] if _delete(library, label)]
    if not removed:
        raise NotFound("There is no such tag.")
    return Json(mapping.tag(removed[0]) if "tag" in sent else [mapping.tag(label) for label in removed])


@router.delete("/tags/{tag}")
def delete_tag(tag: TagNumber, library: WriteLibrary) -> Response:
    """Remove a tag from all entries."""
    label = _label(library, tag)
    _delete(library, label)
    return Json(mapping.tag(label))


@router.get("/entries/{number}/tags")
def list_entry_tags(number: Number, library: ReadLibrary) -> Response:
    """List the tags of an entry."""
    return Json([mapping.tag(label) for label in items.get_numbered(library, number).metadata.tags])


@router.post("/entries/{number}/tags")
async def add_entry_tags(
    number: Number, library: WriteLibrary, caller: ReadCaller, service: CurrentService, sent: SentParameters
) -> Response:
    """Add tags to an entry."""
    item = await run_in_threadpool(items.get_numbered, library, number)
    change = ItemChange(add_tags=tuple((sent.list("tags") or [])[:100]))
    item = await run_in_threadpool(change_item, library, item.id, change)
    return await _one(library, service, item, caller.name)


@router.delete("/entries/{number}/tags/{tag}")
async def delete_entry_tag(
    number: Number, tag: TagNumber, library: WriteLibrary, caller: ReadCaller, service: CurrentService
) -> Response:
    """Remove a tag from an entry."""
    item = await run_in_threadpool(items.get_numbered, library, number)
    labels = tuple(label for label in item.metadata.tags if items.tag_number(label) == tag)
    if not labels:
        raise NotFound("The entry has no such tag.")
    item = await run_in_threadpool(change_item, library, item.id, ItemChange(remove_tags=labels))
    return await _one(library, service, item, caller.name)


def _delete(library: Store, label: str) -> bool:
    """Remove a tag from all entries; return whether any had it."""
    try:
        delete_everywhere(library, label)
    except NotFound:
        return False
    return True


def _label(library: Store, number: int) -> str:
    labels = [label for label, _ in items.count_tags(library) if items.tag_number(label) == number]
    if len(labels) != 1:
        raise NotFound("There is no such tag.")
    return labels[0]
