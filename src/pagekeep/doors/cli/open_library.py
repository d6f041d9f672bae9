"""What the commands on the library share: whose and which library, opening it, and showing its items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from pagekeep.doors.cli.output import errors_shown, on_terminal, printable, show_table, write, write_json
from pagekeep.errors import NotFound

if TYPE_CHECKING:
    from pagekeep.config import Settings
    from pagekeep.model import Item
    from pagekeep.store import Store

EXIT_CODES: Final = (
    "Exit codes: 0 done; 1 unexpected failure; 2 bad input, no such item, or a page that could not be fetched; "
    "130 interrupted."
)

_COLOURS: Final[dict[str, str | tuple[int, int, int]]] = {
    "article": "green",
    "simplified": "yellow",
    "bookmark": (255, 135, 0),
    "discarded": "bright_black",
}


def examples(*lines: str) -> str:
    """The end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  pagekeep {line}" for line in lines) + f"\n\n{EXIT_CODES}"


def library_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that every command on the library takes."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Answer as JSON."),
        click.option("--user", metavar="NAME", help="Whose library; the setting `user` without it."),
        click.option(
            "--library", metavar="PATH|URL", help="A library file or postgresql:// address; the setting without it."
        ),
    ):
        command = option(command)
    return command


def day_or_moment(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """A date option: a day stays a day, a moment is told in UTC, as the library writes it."""
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter("write a day such as 2025-03-19.") from None
    return value if len(value) == len("2025-03-19") else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Open(NamedTuple):
    """A library that is open, and the settings in force."""

    settings: Settings
    store: Store


def library_place(settings: Settings) -> Path | str:
    """Where the library is: its file, or its server without what signs in there."""
    from pagekeep.store import default_library

    where = settings.library
    if where is None:
        return default_library()
    if "://" not in where:
        return Path(where)
    scheme, _, rest = where.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"


def _refuse_missing(settings: Settings) -> None:
    """A library that was named and is not there is a slip of the pen; the usual one is made when it is first used."""
    where = library_place(settings)
    if settings.library is not None and isinstance(where, Path) and not where.exists():
        raise NotFound(f"There is no library at {where}.", suggestions=("`pagekeep save` makes one.",))


@contextmanager
def opened(
    library: str | None, user: str | None, as_json: bool, *, make: bool = False, **flags: object
) -> Iterator[Open]:
    """The library for one command, errors shown as the user wants them. With `make`, one that is not there is made."""
    with errors_shown(as_json=as_json):
        from pagekeep import config
        from pagekeep.library.items import open_library

        settings = config.load({"library": library, "user": user, **flags})
        if not make:
            _refuse_missing(settings)
        with closing(open_library(settings)) as store:
            yield Open(settings, store)


def answer(items: Sequence[Item], as_json: bool, line: Callable[[Item], str], next: str | None = None) -> None:
    """Show items: as JSON, or a line each."""
    if as_json:
        from pagekeep.present.json_shapes import items_shape

        write_json(items_shape(items, next))
    elif items:
        write("\n".join(line(item) for item in items))


def short(item_id: str) -> str:
    """As much of an id as people need to type."""
    return item_id[:8]


def about(done: str) -> Callable[[Item], str]:
    """A line that says what was done to an item."""
    return lambda item: f"{done}  {short(item.id)}  {printable(item.title)}"


def coloured(text: str, level: str | None) -> str:
    """The text in its level's colour, on a terminal."""
    return click.style(text, fg=_COLOURS.get(level or "")) if on_terminal() else text


def quality_line(item: Item) -> str:
    """The level's message as people read it."""
    level, words = item.metadata.quality, item.metadata.word_count or 0
    said = {
        "article": f"Article captured ({words:,} {'word' if words == 1 else 'words'})",
        "simplified": "Article captured (simplified)",
        "bookmark": "Saved as bookmark - extraction failed",
        "discarded": "Discarded by a rule",
    }
    return coloured(said.get(level or "", "Saved"), level)


def show_items(items: Iterable[Item]) -> None:
    """A table of items on a terminal, lines of tab-separated values with whole ids in a pipe."""
    if on_terminal():
        rows = [[short(item.id), item.saved_at[:10], _marks(item), item.title, item.domain] for item in items]
        show_table([["id", "saved", "", "title", "domain"], *rows])
        return
    lines = ["\t".join(map(printable, (i.id, i.saved_at, _marks(i), i.title, i.url))) for i in items]
    if lines:
        write("\n".join(lines))


def _marks(item: Item) -> str:
    marks: list[str] = [item.metadata.quality or ""]
    marks += [name for name in ("pinned", "archived") if getattr(item.metadata, name)]
    marks += ["deleted"] if item.deleted_at else []
    return ",".join(filter(None, marks))
