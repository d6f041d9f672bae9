"""The tables of a library file that the repair of a damaged one saves."""

from __future__ import annotations

from typing import Final

SALVAGED_TABLES: Final[dict[str, tuple[str, str]]] = {
    "users": ("id name password disabled created_at", "TTt#D"),
    "tokens": ("id digest user_id name scopes created_at last_used_at expires_at", "TTTTTDdd"),
    "identities": ("issuer subject user_id created_at", "TTTD"),
    "items": (
        "seq user_id id url_hash domain_key title_key saved_at published_at created_at updated_at last_opened_at deleted_at "
        "metadata source domain url url_full title author content tags",
        "-TTTTTDtDDddTTTTTTtTt",
    ),
    "item_numbers": ("user_id item_id number", "TT#"),
    "raw_bodies": ("user_id hash size packed body", "TT##B"),
    "raw_pages": (
        "user_id item_id hash encoding content_type final_url status rendered fetched_at etag last_modified headers",
        "TTTtTT##Dttt",
    ),
    "snapshots": (
        "user_id item_id number hash encoding content_type final_url status rendered fetched_at etag last_modified headers "
        "source pinned",
        "TT#TtTT##DtttT#",
    ),
    "annotations": ("user_id id item_id quote before after note colour created_at updated_at", "TTTTTTTtDD"),
    "reading_states": (
        "user_id item_id state chosen progress block block_offset updated_at read_at",
        "TTT####Dd",
    ),
    "jobs": (
        "seq user_id id url_hash url url_full options state attempts error run_after due_at leased_by leased_until created_at",
        "-TTTTTJT#tDdtdD",
    ),
    "blobs": ("user_id hash size stored encoding unused_at", "TT##td"),
    "item_blobs": (
        "seq user_id item_id role source_hash variant position state reason hash size width height created_at media_type "
        "source",
        "-TTTTT#Ttt%%%DTT",
    ),
    "domain_memory": ("user_id domain memory updated_at", "TTJD"),
    "schedules": (
        "user_id id task subject address every attempts next_at last_run_at created_at state",
        "TTTTT##DdDJ",
    ),
    "changes": ("user_id id item_id before after added removed excerpt found_at seen_at", "TTT####TDd"),
    "feeds": (
        "user_id id kind address_hash status attempts next_at polled_at created_at updated_at folder settings state address "
        "site title",
        "TTTTT#DdDDTJJTtT",
    ),
    "feed_entries": (
        "user_id id feed_id guid_hash url_hash fingerprint sorted_at found_at updated_at published_at read_at kept_at "
        "dropped_at item_id extra guid url title author words content",
        "TTTTtTDDDddddtJTtTtTT",
    ),
    "entry_pages": (
        "user_id entry_id encoding content_type final_url status rendered fetched_at page",
        "TTtTT##DT",
    ),
    "published_feeds": ("user_id id title query created_at", "TTTTD"),
    "lists": ("user_id id name_key kind created_at updated_at name query", "TTTTDDTT"),
    "list_items": ("user_id list_id item_id position added_at", "TTT#D"),
    "save_rules": ("user_id id position enabled created_at updated_at name query actions", "TT##DDTTJ"),
    "crawls": (
        "user_id id name_hash url state reason run admitted settled kept size created_at started_at finished_at options "
        "counts",
        "TTTTTt#####DDdJJ",
    ),
    "crawl_pages": (
        "user_id crawl_id run position url_hash page_hash content_hash kind via depth parent hops chain state outcome "
        "attempts due_at leased_by leased_until host url lastmod",
        "TT##TttTT#%##Tt#DtdTTt",
    ),
    "crawl_results": (
        "user_id crawl_id run position body_hash status size rendered fetched_at encoding content_type etag last_modified "
        "made_by headers facts links page",
        "TT##t###DtTttTtJTJ",
    ),
    "sinks": (
        "user_id id kind name address options secret state takes_items hidden error sent sent_at created_at due_at leased_by "
        "leased_until",
        "TTTTTJtT##t#dDdtd",
    ),
    "outbox": ("position user_id sink_id item_id event body state attempts error created_at tried_at", "-TTtttT#tDd"),
    "sent_items": ("user_id sink_id item_id version remote_id sent_at", "TTTTtD"),
}
"""Columns as they are in the file, and the type of each: T text, D time, J JSON object, B bytes, # number, - the row's number;
t, d and % (a number) may be missing. Rows refer to earlier tables only. Sessions, idempotency keys, times of checks and the
pace of crawls are not worth saving."""
ADDED_COLUMNS: Final = {"raw_pages": 1, "items": 1}
"""Table to how many of its last columns a newer version added: rows that are older lack them."""
