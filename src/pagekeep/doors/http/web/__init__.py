"""The reader, the web UI: pages rendered on the server that work without JavaScript and are better with it."""

from fastapi import APIRouter

from pagekeep.doors.http.web import (
    add,
    annotations,
    changes,
    explain,
    failed,
    history,
    imports,
    inbox,
    item,
    playground,
    settings,
    sign_in,
    storage,
    waiting,
)
from pagekeep.doors.http.web.browse import facets, statistics, suggestions, tag_changes
from pagekeep.doors.http.web.feeds import feed_inbox, mail, shared, subscriptions
from pagekeep.doors.http.web.help import pages as help_pages
from pagekeep.doors.http.web.layout import static_files
from pagekeep.doors.http.web.lists import bulk, edit, lists, save_rules, suggested_tags
from pagekeep.doors.http.web.openid import pages as openid_pages
from pagekeep.doors.http.web.phone import shelf
from pagekeep.doors.http.web.reading import highlights, progress, similar
from pagekeep.doors.http.web.setup import about, exports, extension, tokens
from pagekeep.doors.http.web.sinks import page as sinks
from pagekeep.doors.http.web.sites import crawls

router = APIRouter(include_in_schema=False)
for module in (
    inbox,
    facets,
    tag_changes,
    statistics,
    suggestions,
    item,
    edit,
    bulk,
    lists,
    save_rules,
    suggested_tags,
    annotations,
    highlights,
    progress,
    similar,
    history,
    changes,
    crawls,
    explain,
    add,
    playground,
    settings,
    tokens,
    extension,
    about,
    exports,
    storage,
    mail,
    sinks,
    feed_inbox,
    subscriptions,
    shared,
    imports,
    help_pages,
    static_files,
    shelf,
    failed,
    waiting,
    sign_in,
    openid_pages,
):
    router.include_router(module.router)
