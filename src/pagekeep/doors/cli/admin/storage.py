"""`pagekeep storage`: what the library takes on the disk."""

from __future__ import annotations

import click

from pagekeep.doors.cli.open_library import open_library
from pagekeep.doors.cli.options import examples, library_options
from pagekeep.doors.cli.output import format_bytes, format_count, show_table, write, write_json

_SITES_SHOWN = 10


@click.command(epilog=examples("storage", "storage --json | jq .storage.files", "storage --clean"))
@click.option("--clean", is_flag=True, help="Remove files that no page uses now, instead of after a week.")
@library_options
def storage(clean: bool, library: str | None, user: str | None, as_json: bool) -> None:
    """Show what pages, pictures and other kept files take on the disk, and which sites take most."""
    with open_library(library, user, as_json) as (_, store):
        from pagekeep.library.storage import measure_storage, remove_unused
        from pagekeep.present.archive_shapes import storage_shape

        removed = remove_unused(store, at_once=True) if clean else None
        shape = storage_shape(measure_storage(store))
        if as_json:
            done = {"removed": removed.count, "bytes": removed.bytes} if removed else {}
            write_json({"storage": shape, **done})
            return
        if removed:
            write(f"Removed {format_count(removed.count, 'file')} ({format_bytes(removed.bytes)}).")
        rows = [
            ["text", "", format_bytes(shape["text"])],
            ["saved HTML", f"{shape['raw_pages']['count']:,}", format_bytes(shape["raw_pages"]["bytes"])],
            ["- of earlier versions", f"{shape['snapshots']['count']:,}", format_bytes(shape["snapshots"]["bytes"])],
            *([role, f"{use['count']:,}", format_bytes(use["bytes"])] for role, use in shape["roles"].items()),
            ["all kept files", f"{shape['files']['count']:,}", format_bytes(shape["files"]["bytes"])],
            ["unused", f"{shape['unused']['count']:,}", format_bytes(shape["unused"]["bytes"])],
        ]
        show_table([["what", "count", "size"], *rows])
        sites = [[site["domain"], format_bytes(site["bytes"])] for site in shape["sites"][:_SITES_SHOWN]]
        if sites:
            write("")
            show_table([["site", "size"], *sites])
