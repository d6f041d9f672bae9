"""The settings: one table, read from the defaults, a file, the environment and the caller, each overriding the one before."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, NoReturn, cast

from pagekeep.errors import NotFound, ParseError
from pagekeep.values import dataclass
from pagekeep.version import __version__

PREFIX: Final = "PAGEKEEP_"
PATH_VARIABLE: Final = "PAGEKEEP_CONFIG"
"""Path of another config.toml. This is not a setting itself."""


class Setting(NamedTuple):
    """A row of the table."""

    name: str
    kind: str
    """The values it takes, in a few words."""
    default: Any
    help: str
    variable: str


def _setting(default: Any, parser: Parser, help: str, *, secret: bool = False) -> Any:
    return field(default=default, repr=not secret, metadata={"parser": parser, "help": help})


class Parser(NamedTuple):
    """Parses a value from text (environment, command line) or from a typed value (TOML, Python)."""

    kind: str
    parse: Callable[[object], object]


def _positive_number(value: object) -> float:
    number = _number(value)
    if number == 0:
        raise ValueError
    return number


SECONDS = Parser("a number of seconds above 0", _positive_number)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError
    number = float(value)
    if not 0 <= number < float("inf"):
        raise ValueError
    return number


DELAY = Parser("a number of seconds, 0 or more", _number)


def _integer(value: object) -> int:
    number = int(value.replace("_", "")) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ValueError
    return number


COUNT = Parser("a whole number, 0 or more", _integer)


def _positive_integer(value: object) -> int:
    number = _integer(value)
    if number == 0:
        raise ValueError
    return number


AMOUNT = Parser("a whole number above 0", _positive_integer)


def _text(value: object) -> str:
    if not isinstance(value, (str, Path)) or not str(value).strip() or not str(value).isprintable():
        raise ValueError
    return str(value).strip()


TEXT = Parser("text", _text)


def _list(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, (list, tuple)):
        raise ValueError
    return tuple(_text(item) for item in value if item != "")


LIST = Parser("a list of texts", _list)


def _networks(value: object) -> tuple[str, ...]:
    import ipaddress

    return tuple(str(ipaddress.ip_network(entry.strip(), strict=False)) for entry in _list(value))


NETWORKS = Parser("a list of IP addresses or networks", _networks)


def _switch(value: object) -> bool:
    if isinstance(value, str):
        value = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(value.lower())
    if not isinstance(value, bool):
        raise ValueError
    return value


SWITCH = Parser("true or false", _switch)


def _choice(*choices: str, aliases: Mapping[str, str] | None = None) -> Parser:
    def parse(value: object) -> str:
        value = (aliases or {}).get(str(value), value)
        if value not in choices:
            raise ValueError
        return str(value)

    *first, last = choices
    return Parser(f"{', '.join(first)} or {last}", parse)


RENDER = _choice("auto", "force", "never")
LOG_LEVEL = _choice("debug", "info", "warning", "error")
PICTURES = _choice("all", "hero", "none")


def _copies(value: object) -> tuple[str, ...]:
    kinds = _list(value)
    if not set(kinds) <= {"screenshot", "pdf", "html"}:
        raise ValueError
    return kinds


COPIES = Parser("a list of: screenshot, pdf, html", _copies)
MODE = _choice("local", "remote", "compare", "fallback", aliases={"jina": "remote"})


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. Passed around as one value; made by `load`, or directly in a program."""

    allow_hosts: tuple[str, ...] = _setting(
        (),
        LIST,
        "Hosts with private addresses that may be fetched: names, `*.example.com`, IP addresses, or networks such as "
        "`10.0.0.0/8`. All other private addresses are refused.",
    )
    user_agent: str = _setting(
        f"Pagekeep/{__version__} (saves a page for one reader)", TEXT, "User-Agent header sent to servers."
    )
    timeout: float = _setting(15.0, SECONDS, "Time limit for fetching a page, including redirects and retries.")
    max_bytes: int = _setting(
        10_000_000,
        AMOUNT,
        "Largest allowed page, in bytes after decompression; documents such as PDF may be five times as large.",
    )
    max_redirects: int = _setting(10, COUNT, "Maximum number of redirects.")
    per_host_connections: int = _setting(4, AMOUNT, "Pages fetched from one host at the same time.")
    per_host_delay: float = _setting(0.25, DELAY, "Minimum time between the starts of two requests to one host.")
    crawl_delay: float = _setting(
        0.5,
        DELAY,
        "Minimum time between a response and the next request to one host in a crawl. `Crawl-delay` of robots.txt counts "
        "where it is longer, and busy hosts are asked less often; 0 sets no pause, for sites of your own.",
    )
    retries: int = _setting(2, COUNT, "Retries when a server is busy (429, 502, 503, 504) or closes the connection.")
    render: Literal["auto", "force", "never"] = _setting(
        "auto", RENDER, "When to open a page in a browser: if it needs one, always, or never."
    )
    render_timeout: float = _setting(30.0, SECONDS, "Time limit for a page in the browser.")
    chromium: str | None = _setting(None, TEXT, "Path of the Chromium binary. Default: searched in the usual places.")
    browser_sandbox: bool = _setting(
        True,
        SWITCH,
        "Run Chromium in its sandbox only. Where the system does not allow that, as for root, pages are not rendered; "
        "`false` renders them without the sandbox.",
    )
    browser_pages: int = _setting(100, AMOUNT, "Pages after which the browser is restarted.")
    library: str | None = _setting(
        None,
        TEXT,
        "Where saved pages are stored: a file, or the `postgresql://` URL of a server. Default: `library.db` in the "
        "platform's data folder.",
    )
    user: str = _setting("local", TEXT, "Owner of the library, if a file or server holds several.")
    join_pages: bool = _setting(
        True, SWITCH, "Fetch the other pages of an article over several pages too, and join them."
    )
    keep_raw: bool = _setting(
        True, SWITCH, "Store the downloaded HTML too, so that pages can be extracted again by a newer version."
    )
    keep_pictures: Literal["all", "hero", "none"] = _setting(
        "all", PICTURES, "Which pictures of a saved page are kept with it: all, the main one, or none."
    )
    keep: tuple[str, ...] = _setting(
        (),
        COPIES,
        "Copies of the whole page that are made after each save, in the background: `screenshot`, `pdf`, `html`.",
    )
    picture_bytes: int = _setting(
        5_000_000, AMOUNT, "Largest picture that is kept as it is, in bytes. Larger ones are downscaled."
    )
    page_pictures: int = _setting(200, AMOUNT, "Pictures kept of one page.")
    page_picture_bytes: int = _setting(100_000_000, AMOUNT, "Pictures kept of one page, in bytes.")
    archive_bytes: int = _setting(
        50_000_000_000,
        COUNT,
        "Disk space for the pictures and other files kept with the pages of one library, in bytes; 0 sets no limit.",
    )
    keep_versions: int = _setting(
        50, COUNT, "Versions kept of each page that changes, the newest and pinned ones; 0 keeps all."
    )
    keep_versions_days: int = _setting(0, COUNT, "Days that versions are kept, unless pinned; 0 keeps them for ever.")
    check_links_days: int = _setting(
        30, COUNT, "Days between two checks whether a saved page is still on the web; 0 never checks."
    )
    archive_lookup: bool = _setting(
        False, SWITCH, "Ask `archive_service` for a copy of pages that have gone. It then gets their URLs."
    )
    archive_service: str = _setting(
        "https://archive.org/wayback/available",
        TEXT,
        "Where copies are looked up: the URL of a Wayback availability service, or of a Memento TimeGate, which ends in `/`.",
    )
    archive_submit: bool = _setting(
        False, SWITCH, "Send the URL of each newly saved page to `archive_submit_service`, to be archived there."
    )
    archive_submit_service: str = _setting(
        "https://web.archive.org/save/",
        TEXT,
        "Where URLs are sent to be archived; the page's URL is added to it.",
    )
    webhook_url: str | None = _setting(None, TEXT, "URL to which changes of watched pages are sent.")
    webhook_secret: str | None = _setting(
        None, TEXT, "Key that signs them (Standard Webhooks): `whsec_` and Base64.", secret=True
    )
    mail_account: str | None = _setting(
        None,
        TEXT,
        "The mailbox that `mail_password` is for: user name, `@` and host, such as `ann@imap.example.com`.",
    )
    mail_password: str | None = _setting(None, TEXT, "Password of that mailbox.", secret=True)
    mail_password_command: str | None = _setting(
        None,
        TEXT,
        "Command that prints the password of a mailbox. It gets user name, `@` and host as its last argument.",
    )
    secrets_key: str | None = _setting(
        None,
        TEXT,
        "Key of the secrets of sinks: Base64 of 32 bytes. Default: `secrets.key` beside the library.",
        secret=True,
    )
    sign_receipts: bool = _setting(
        False,
        SWITCH,
        "Sign the receipt of every text that is stored, with the key `receipts.key` beside the library.",
    )
    timestamp_service: str | None = _setting(
        None,
        TEXT,
        "URL of a time stamp service (RFC 3161) that stamps the signed receipts of saved pages; it gets their hashes only.",
    )
    auto_tags: bool = _setting(
        False, SWITCH, "Add the tags that Pagekeep suggests for a page to its tags when it is first saved."
    )
    rules: str | None = _setting(
        None,
        TEXT,
        "Folder of your own rules (`*.yaml`). Default: `rules` in the platform's configuration folder.",
    )
    mode: Literal["local", "remote", "compare", "fallback"] = _setting(
        "local",
        MODE,
        "Who extracts saved pages: Pagekeep (`local`), the remote reader, both to compare them, or the remote reader when "
        "Pagekeep fails. In all modes except `local`, the URLs of pages are sent to `remote_url`.",
    )
    remote_url: str | None = _setting(
        None, TEXT, "URL of a remote reader with Jina's interface, such as `http://127.0.0.1:8470/r/`."
    )
    remote_key: str | None = _setting(None, TEXT, "API key of the remote reader.", secret=True)
    remote_timeout: float = _setting(60.0, SECONDS, "Time limit for a page from the remote reader.")
    listen: str = _setting("127.0.0.1:8470", TEXT, "Address and port on which `pagekeep serve` listens.")
    server_names: tuple[str, ...] = _setting(
        (),
        LIST,
        "Host names of the server, such as `pages.example.org`. Requests for other names are refused.",
    )
    trusted_proxies: tuple[str, ...] = _setting(
        (),
        NETWORKS,
        "Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` headers are trusted: IP addresses or networks. Default: "
        "this machine.",
    )
    shared: bool = _setting(
        False, SWITCH, "The server has several users, who sign in. Otherwise only this machine can connect."
    )
    openid_issuer: str | None = _setting(
        None,
        TEXT,
        "Address of an OpenID Connect provider, such as `https://id.example.org`, whose users can sign in.",
    )
    openid_client_id: str | None = _setting(None, TEXT, "Name of this server at that provider.")
    openid_client_secret: str | None = _setting(None, TEXT, "Secret of this server at that provider.", secret=True)
    openid_name: str = _setting("OpenID Connect", TEXT, "Name of the provider, for the button on the sign-in page.")
    openid_create_users: bool = _setting(
        False, SWITCH, "A user of the provider without an account here gets a new one."
    )
    openid_link_email: bool = _setting(
        False,
        SWITCH,
        "A user of the provider gets the account whose name is their e-mail address, if the provider has verified it.",
    )
    token_requests: int = _setting(
        1_200, COUNT, "Requests that one token may send in a minute, app passwords too; 0 sets no limit."
    )
    metrics_token: str | None = _setting(
        None, TEXT, "Bearer token with which `/metrics` of a shared server is read.", secret=True
    )
    log_level: Literal["debug", "info", "warning", "error"] = _setting(
        "info", LOG_LEVEL, "Lowest level that the server logs."
    )
    import_bytes: int = _setting(500_000_000, AMOUNT, "Largest file that can be imported through the server, in bytes.")
    image_cache: int = _setting(500_000_000, COUNT, "Disk space for images of saved pages, in bytes; 0 stores none.")


_PARSERS: Final[dict[str, Parser]] = {entry.name: entry.metadata["parser"] for entry in fields(Settings)}


def table() -> tuple[Setting, ...]:
    """Return all settings, for the generated reference."""
    return tuple(
        Setting(
            entry.name,
            entry.metadata["parser"].kind,
            entry.default,
            entry.metadata["help"],
            PREFIX + entry.name.upper(),
        )
        for entry in fields(Settings)
    )


def load(
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] = os.environ,
    path: Path | None = None,
) -> Settings:
    """Load the settings: a flag overrides the environment, the environment the file, the file the default.

    A flag that is `None` is not set. Without `path` the file is that of `PAGEKEEP_CONFIG`, or `config.toml` in the
    platform's configuration folder if it exists. Raises `ParseError` for a fault, `NotFound` for a missing file.
    """
    set_flags = {name: value for name, value in (flags or {}).items() if value is not None}
    values = {
        **_parse_all(_read_file(environ, path), "config.toml"),
        **_parse_all(_variables(environ), "the environment", PREFIX),
        **_parse_all(set_flags, "the call"),
    }
    return Settings(**cast("dict[str, Any]", values))


_PLAIN_KINDS: Final = (
    SECONDS,
    DELAY,
    AMOUNT,
    COUNT,
    RENDER,
    PICTURES,
    COPIES,
    LOG_LEVEL,
)
"""Numbers and choices: no value of them runs a command, opens a path or an address, or lets anyone in."""
_PLAIN_SWITCHES: Final = frozenset({"join_pages", "keep_raw", "auto_tags"})


def split_foreign(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Return a settings file of unknown origin, such as from a backup, in a form that is safe to write, and what waits in it.

    Settings that could run a command, open a path or the address guard, or let others in are comments until the owner
    confirms them by removing the `#`; a new setting is among them unless its kind is plain. `ParseError` when it is not a
    settings file.
    """
    import json  # only a restore needs them
    import tomllib

    try:
        values = tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParseError(f"config.toml is not valid TOML: {error}.", suggestions=()) from None
    kinds_of = {entry.name: entry.metadata["parser"] for entry in fields(Settings)}
    active: list[tuple[str, str]] = []
    waiting: list[tuple[str, str]] = []
    for name, value in values.items():
        is_plain = name in _PLAIN_SWITCHES or kinds_of.get(name) in _PLAIN_KINDS
        line = f"{json.dumps(name)} = {json.dumps(value, default=str)}"
        (active if is_plain and not isinstance(value, dict) else waiting).append((name, line))
    lines = [line for _, line in active]
    if waiting:
        lines += ["", "# From a backup. Remove the # of those that you trust:"]
        lines += [f"# {line}" for _, line in waiting]
    return "\n".join(lines).strip() + "\n", tuple(name for name, _ in waiting)


def default_path(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Return the default path of `config.toml`."""
    if platform == "win32":
        base = Path(environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    elif platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return base / "pagekeep" / "config.toml"


def settings_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the settings file, which may not exist."""
    return Path(environ[PATH_VARIABLE]) if environ.get(PATH_VARIABLE) else default_path(environ)


def rules_folder(settings: Settings, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of the owner's own rules, which may not exist."""
    return Path(settings.rules) if settings.rules else default_path(environ).with_name("rules")


def _read_file(environ: Mapping[str, str], path: Path | None) -> Mapping[str, object]:
    required = path or (Path(environ[PATH_VARIABLE]) if environ.get(PATH_VARIABLE) else None)
    try:
        data = (required or default_path(environ)).read_bytes()
    except OSError as error:
        if required is None and isinstance(error, (FileNotFoundError, NotADirectoryError)):
            return {}
        if required is not None and isinstance(error, FileNotFoundError):
            raise NotFound(f"Settings file not found: {required}", suggestions=("Check the path.",)) from None
        raise ParseError("Cannot read the settings file.", suggestions=("Check the file's permissions.",)) from None
    import tomllib  # most users have no such file

    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParseError(f"config.toml is not valid TOML: {error}.", suggestions=("Fix the file.",)) from None


def _variables(environ: Mapping[str, str]) -> Mapping[str, object]:
    """Return Pagekeep's variables. An empty one counts as not set, as that is how variables are cleared in most places."""
    return {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environ.items()
        if name.startswith(PREFIX) and name != PATH_VARIABLE and value != ""
    }


def _parse_all(values: Mapping[str, object], source: str, prefix: str = "") -> dict[str, object]:
    return {name: _parse(name, value, source, prefix) for name, value in values.items()}


def _parse(name: str, value: object, source: str, prefix: str) -> object:
    label = prefix + name.upper() if prefix else name
    parser = _PARSERS.get(name)
    if parser is None:
        _refuse_unknown(name, label, source, prefix)
    try:
        return parser.parse(value)
    except (ValueError, TypeError, OverflowError):
        raise ParseError(
            f"The setting `{label}` in {source} cannot be {value!r:.60}.", suggestions=(f"Use {parser.kind}.",)
        ) from None


def _refuse_unknown(name: str, label: str, source: str, prefix: str) -> NoReturn:
    from difflib import get_close_matches

    near = get_close_matches(name, _PARSERS, n=1)
    known = [prefix + key.upper() if prefix else key for key in near or _PARSERS]
    suggestion = f"Did you mean `{known[0]}`?" if near else f"Known settings: {', '.join(known)}."
    raise ParseError(f"Unknown setting `{label}` in {source}.", suggestions=(suggestion,))
