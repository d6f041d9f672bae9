"""The command `pagekeep` and its subcommands.

A subcommand is imported when it is called, and its module imports nothing heavy: `pagekeep --version` must be fast.
"""

from __future__ import annotations

import atexit
import gc
from typing import Final

import click

from pagekeep.doors.cli.lazy import LazyGroup
from pagekeep.version import __version__

EXIT_CODES = "Exit codes: 0 done; 1 a check failed, or an unexpected failure; 2 bad input; 130 interrupted."

COMMANDS: Final = {
    "Library": {
        "save": (
            "save:save",
            "Save pages into the library: from the web, from files and folders, or from stdin (-).",
        ),
        "list": ("browse:list_items", "List saved pages, newest first."),
        "read": (
            "browse:read",
            "Read a saved page: formatted and in the pager on a terminal, as Markdown with frontmatter in a pipe.",
        ),
        "search": ("browse:search", "Search saved pages, best match first."),
        "history": ("history:history", "List the versions of a page, oldest first."),
        "diff": (
            "history:diff",
            "Show what changed between two versions of a page, word by word: the last two, A and the current one, or A and B.",
        ),
        "watch": ("history:watch", "Watch pages for changes, or list the watched pages."),
        "unwatch": ("history:unwatch", "Watch pages no longer."),
        "changes": ("history:changes", "List changes of watched pages, newest first."),
        "check-links": (
            "history:check_links",
            "Check whether saved pages are still on the web: the ones named, or those that are due.",
        ),
        "feeds": (
            "feeds:feeds",
            "Subscribe to feeds, read their entries, keep some as pages, and publish lists of pages as feeds.",
        ),
        "annotations": (
            "annotations:list_annotations",
            "List highlights and notes of all pages, newest first, or those with all WORDS; with --format, export them.",
        ),
        "open": ("browse:open_page", "Open a saved page in the browser: on its site, or in the reader."),
        "tags": (
            "browse:tags",
            "List the tags in use, with how many pages have each; rename, merge or delete one.",
        ),
        "stats": ("browse:stats", "Show how many pages the library holds, by state and quality."),
        "pictures": (
            "copies:pictures",
            "Show the pictures that are kept with a page, and which were left out and why.",
        ),
        "pin": ("change:pin", "Pin pages."),
        "unpin": ("change:unpin", "Unpin pages."),
        "archive": ("change:archive", "Archive pages."),
        "unarchive": ("change:unarchive", "Take pages out of the archive."),
        "tag": (
            "change:tag",
            "Add tags to a page or remove them, and show its tags, and on stderr those that Pagekeep suggests for it.",
        ),
        "edit": (
            "change:edit",
            "Edit a page's title, author, date and site, in place of what the page says.",
        ),
        "change": ("change:change", "Change all pages that a search finds: tag, archive, list, delete."),
        "lists": ("lists:lists", "Show your lists and their pages, and change them."),
        "save-rules": ("lists:save_rules", "Show and change save rules: what happens to new pages."),
        "delete": (
            "change:delete",
            "Delete pages; `undo` or `restore` brings them back until they are purged.",
        ),
        "restore": ("change:restore", "Restore deleted pages, or an earlier version of a page."),
        "purge": ("change:purge", "Permanently remove deleted pages: all of them, or the ones named."),
        "undo": (
            "change:undo",
            "Undo the last change made on this command line: pin, archive, tag, edit, keep, delete and their opposites, and "
            "`save` of a folder.",
        ),
        "keep": (
            "change:keep",
            "Keep the bookmarks of pages that could not be saved: they move from the list of failed saves to the inbox.",
        ),
        "retry": ("save:retry", "Download and extract a saved page again."),
        "reparse": (
            "reparse:reparse",
            "Extract saved pages again, offline: the ones named, or all that an older version or other rules extracted.",
        ),
        "copy": (
            "copies:copy",
            "Keep copies of whole pages: a screenshot, a PDF, or one HTML file with pictures and styles and without scripts.",
        ),
        "verify": (
            "reparse:verify",
            "Prove that saved pages are intact: derive each text again from its raw page, and compare all hashes.",
        ),
        "import": (
            "import_:import_",
            "Import bookmarks and articles from other programs, with dates, tags, notes, highlights and stored pages.",
        ),
        "export": ("export:export", "Export the library, or the pages that a query finds."),
        "mirror": ("export:mirror", "Sync the library with a folder of Markdown files."),
        "mail": ("mail:mail", "Read newsletters from folders of mailboxes (IMAP) into the feed inbox."),
        "work": (
            "queue:work",
            "Save the pages in the queue, work on running crawls and deliver to sinks, until interrupted.",
        ),
        "jobs": ("queue:jobs", "List the jobs in the queue."),
        "sinks": (
            "sinks:sinks",
            "Send saved and changed items on to other programs: Anytype, Readwise Reader and webhooks.",
        ),
        "demo": (
            "import_:demo",
            "Fill a library with demo pages in seven kinds and five languages, to try Pagekeep or to show it.",
        ),
    },
    "Sites": {
        "crawl": ("crawl:crawl", "Crawl a site: its pages below the folder of URL, by sitemaps and links."),
        "pack": (
            "crawl:pack",
            "Work with packs: folders of Markdown that `pagekeep crawl URL --out folder FOLDER` writes.",
        ),
        "map": (
            "crawl:map_",
            "List the addresses of a site: those in its sitemaps, and the links of URL.",
        ),
    },
    "Pages": {
        "extract": (
            "extract:extract",
            "Print the content of pages as Markdown: files, folders, URLs, or stdin (-).",
        ),
        "explain": (
            "explain:explain",
            "Show which strategy won and why, what was removed, and where the metadata came from.",
        ),
    },
    "Rules": {
        "rules": ("rules:rules", "List, check and test the rules for sites and platforms."),
    },
    "Admin": {
        "serve": ("serve:serve", "Start the server: the reader for your browser, and an API for programs."),
        "mcp": ("serve:mcp", "Serve an AI assistant over standard input and output (Model Context Protocol)."),
        "user": ("users:user", "Manage the users of a shared server."),
        "token": ("users:token", "Create, list and revoke tokens, by which programs use the server."),
        "library": ("maintenance:library", "Set up a library on a PostgreSQL server, or restore a backup."),
        "storage": (
            "maintenance:storage",
            "Show what pages, pictures and other kept files take on the disk, and which sites take most.",
        ),
        "backup": ("maintenance:backup", "Back up the library with its kept files."),
        "repair": (
            "maintenance:repair",
            "Save everything that can be read of a damaged library file into a new library, and list what is lost.",
        ),
        "doctor": (
            "maintenance:doctor",
            "Show what is installed, what is missing and how to install it, and check the library.",
        ),
        "completion": (
            "maintenance:completion",
            "Print the script that lets a shell complete commands and options with the Tab key.",
        ),
    },
    "Lab": {
        "bulk": (
            "bulk:bulk",
            "Extract pages from WARC, Parquet, JSONL or HTML files into one row per page: Markdown, text and metadata, "
            "or an error.",
        ),
        "evaluate": (
            "evaluate:evaluate",
            "Measure extraction on the pages of a corpus, or on HTML files with the expected Markdown next to them.",
        ),
        "compare": (
            "evaluate:compare",
            "Compare two extractors on the pages of a corpus or a folder of HTML files.",
        ),
        "compared": (
            "evaluate:compared",
            'Show how Pagekeep and the remote reader differ on saved pages, from the log that `mode = "compare"` writes.',
        ),
    },
}
"""The sections of the help, and their commands in order."""

_OBJECTS_BETWEEN_COLLECTIONS: Final = 20_000
"""Python's 700 makes it look for garbage a hundred times while modules load, and find none."""


@click.group(
    cls=LazyGroup,
    sections=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)
@click.version_option(__version__, "-V", "--version", prog_name="pagekeep", message="%(prog)s %(version)s")
def cli() -> None:
    """Keep any web page as clean Markdown."""


def main() -> None:
    """Run the command line; the console entry point."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    atexit.register(gc.freeze)  # looking for garbage at the end takes 5 ms and frees nothing
    cli(prog_name="pagekeep")
