"""`/help`: the documentation, searchable. It needs no sign-in, as it has only what is in the package."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool

from pagekeep.doors.bundled import bundled_folder
from pagekeep.doors.http.caller import Caller, identify
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.doors.http.web.layout import Frame, page
from pagekeep.errors import AccessError, NotFound
from pagekeep.text import strip_markdown

router = APIRouter()
_HERE: Final = "https://help.invalid"
"""The renderer makes links absolute; this is taken off again, so that they are paths of ours."""


async def _show(request: Request, service: Service, template: str, **values: Any) -> HTMLResponse:
    """Render a page; for a caller who may read a library, with its tools and sidebar."""
    caller: Caller | None = None
    with suppress(AccessError):
        caller = await identify(request, service)
    if caller is None or "read" not in caller.scopes:
        return page(request, template, **values)
    async with service.libraries.borrow(caller.user_id) as library:
        return await run_in_threadpool(Frame(request, service, caller, library).show, template, **values)


MAX_QUERY_CHARS: Final = 100


@router.get("/help")
async def show_help(
    request: Request, service: CurrentService, q: Annotated[str, Query(max_length=MAX_QUERY_CHARS)] = ""
) -> HTMLResponse:
    """Show the table of contents, or the sections that a search finds."""
    values = {"sections": list_sections(), "query": q.strip(), "hits": search_help(q)}
    return await _show(request, service, "help/contents.html", **values)


@router.get("/help/images/{name:path}")
async def help_image(name: str) -> Response:
    """Return a picture of the documentation."""
    found = load_images().get(name)
    if found is None:
        raise NotFound("There is no such picture.")
    content, media_type = found
    return Response(content, media_type=media_type, headers={"Cache-Control": "public, max-age=3600"})


@router.get("/help/{name:path}")
async def show_help_page(request: Request, service: CurrentService, name: str) -> HTMLResponse:
    """Show a page of the documentation."""
    found = load_pages().get(name)
    if found is None:
        raise NotFound("There is no such page in the help.", suggestions=("Look for it in the contents of the help.",))
    rendered = await service.renderer.render(found.markdown, base=f"{_HERE}/help/{name}", title=found.title)
    html, headings = rendered.html.replace(f'="{_HERE}/', '="/'), []
    for part in ("<pre", '<div class="table"'):  # wide ones are scrolled with the keyboard, also without a script
        html = html.replace(part, f'{part} tabindex="0"')
    for heading in rendered.headings:
        html = html.replace(f'id="{heading.id}"', f'id="{slug(heading.text)}"', 1)
        if heading.level == 2:
            headings.append((slug(heading.text), heading.text))
    return await _show(
        request,
        service,
        "help/page.html",
        sections=list_sections(),
        current=found,
        html=Markup(html),  # sanitised by the renderer
        headings=headings,
    )


SECTIONS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("Start here", ("guides/first-page", "reader", "extension", "importing", "cli")),
    (
        "Guides",
        (
            "archive",
            "documents",
            "several-pages",
            "tags",
            "exporting",
            "feeds",
            "crawling",
            "assistants",
            "sinks",
            "serving",
            "sign-in",
            "python",
            "bulk",
            "rules-own",
        ),
    ),
    ("Reference", ("settings", "api", "rules", "rules-actions", "steps", "glossary")),
    ("How extraction works", ("extraction", "explain", "clean-html", "markdown-cases", "performance", "scale")),
    ("Security", ("security",)),
    ("Compatibility", ("dialects", "switching")),
)
"""The pages by name, without `.md`. One that is not named here is shown after the guides."""
FOR_DEVELOPERS: Final = frozenset({"dependencies", "design", "requirements"})
_IMAGE_TYPES: Final = {".png": "image/png", ".svg": "image/svg+xml", ".webp": "image/webp"}
_HEADING: Final = re.compile(r"^(#{1,6}) +(.+?) *#*$", re.M)
_LINK: Final = re.compile(r"(\]\()([^)\s]+)(?=[)\s])")
_SNIPPET_CHARS: Final = 160


_MAX_WORDS: Final = 8
_MAX_HITS: Final = 30


class HelpPage(NamedTuple):
    """A page of the help."""

    name: str
    title: str
    markdown: str


class Hit(NamedTuple):
    """A section that a search found."""

    address: str
    title: str
    heading: str
    snippet: str
    """Plain text with the words found in double square brackets."""


class _Section(NamedTuple):
    address: str
    title: str
    heading: str
    text: str
    folded: str


@cache
def load_pages() -> dict[str, HelpPage]:
    """Return the pages by name, in order; those that are missing from this installation are left out."""
    folder = bundled_folder("docs")
    if folder is None:
        return {}
    names = [name for _, own in SECTIONS for name in own] + _other_names(folder)
    known = [name for name in names if (folder / f"{name}.md").is_file()]
    pages = (_load(folder, name, frozenset(known)) for name in known)
    return {page.name: page for page in pages}


def _other_names(folder: Path) -> list[str]:
    """Return the pages that the table does not name: a new one is shown after the guides."""
    known = {name for _, own in SECTIONS for name in own}
    paths = [*folder.glob("*.md"), *folder.glob("guides/*.md")]
    found = [path.relative_to(folder).with_suffix("").as_posix() for path in sorted(paths)]
    return [name for name in found if name not in known | FOR_DEVELOPERS]


def list_sections() -> list[tuple[str, list[HelpPage]]]:
    """Return the table of contents."""
    pages = load_pages()
    named = [(title, [pages[name] for name in names if name in pages]) for title, names in SECTIONS]
    known = {name for _, names in SECTIONS for name in names}
    guides = next(own for title, own in named if title == "Guides")
    guides += [page for page in pages.values() if page.name not in known]
    return [(title, own) for title, own in named if own]


def _load(folder: Path, name: str, known: frozenset[str]) -> HelpPage:
    markdown = (folder / f"{name}.md").read_text("utf-8")
    first = _HEADING.search(markdown)
    return HelpPage(name, strip_markdown(first.group(2)) if first else name, _rewrite_links(markdown, name, known))


def _rewrite_links(markdown: str, name: str, known: frozenset[str]) -> str:
    """Point links between pages to `/help`; links to other files become plain text, as the renderer drops `data:`."""
    top = name.rpartition("/")[0]

    def rewrite(match: re.Match[str]) -> str:
        target = match.group(2)
        if re.match(r"[a-z]+:", target):
            return match.group()
        path, hash_, anchor = target.partition("#")
        if not path:
            return f"{match.group(1)}/help/{name}#{anchor}"
        parts: list[str] = [part for part in top.split("/") if part]
        for part in path.split("/"):
            parts = parts[:-1] if part == ".." else [*parts, part]
        here = "/".join(parts)
        if here.endswith(".md") and here[:-3] in known:
            return f"{match.group(1)}/help/{here[:-3]}{hash_}{anchor}"
        return f"{match.group(1)}{f'/help/{here}' if here.startswith('images/') else 'data:,'}"

    return _LINK.sub(rewrite, markdown)


def slug(heading: str) -> str:
    """Return the id of a heading, as code hosts make it: links between pages use it."""
    kept = "".join(sign for sign in heading.lower() if sign in " -_" or unicodedata.category(sign)[0] in "LNM")
    return kept.replace(" ", "-")


@cache
def load_images() -> dict[str, tuple[bytes, str]]:
    """Return the pictures by their path below `images`, each with its type."""
    folder = bundled_folder("docs")
    found = sorted((folder / "images").rglob("*")) if folder else []
    return {
        path.relative_to(folder / "images").as_posix(): (path.read_bytes(), _IMAGE_TYPES[path.suffix])
        for path in found
        if folder and path.suffix in _IMAGE_TYPES
    }


@cache
def _sections() -> tuple[_Section, ...]:
    found = []
    for shown in load_pages().values():
        starts = [*_HEADING.finditer(shown.markdown)]
        ends = [*(match.start() for match in starts[1:]), len(shown.markdown)]
        for match, end in zip(starts, ends, strict=True):
            heading = strip_markdown(match.group(2))
            anchor = f"#{slug(heading)}" if len(match.group(1)) > 1 else ""
            text = " ".join(strip_markdown(shown.markdown[match.end() : end]).split())
            found.append(
                _Section(f"/help/{shown.name}{anchor}", shown.title, heading, text, f"{heading} {text}".casefold())
            )
    return tuple(found)


def search_help(query: str) -> list[Hit]:
    """Return the sections with all words of the query, those with the words in their heading first."""
    words = query[:MAX_QUERY_CHARS].casefold().split()[:_MAX_WORDS]
    if not words:
        return []
    found = [section for section in _sections() if all(word in section.folded for word in words)]

    def rank(section: _Section) -> tuple[int, int]:
        heading, title = section.heading.casefold(), section.title.casefold()
        named = sum(4 * (word in heading) + 2 * (word in title) for word in words)
        return -named, -sum(min(9, section.folded.count(word)) for word in words)

    return [
        Hit(section.address, section.title, section.heading, _snippet(section.text, words))
        for section in sorted(found, key=rank)[:_MAX_HITS]
    ]


def _snippet(text: str, words: list[str]) -> str:
    """Return the text around the first word, with all words marked."""
    text = text.replace("[[", "[").replace("]]", "]")
    pattern = re.compile("|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)), re.I)
    first = pattern.search(text)
    start = max(0, first.start() - _SNIPPET_CHARS // 3) if first else 0
    start = text.rfind(" ", 0, start) + 1
    part = text[start : start + _SNIPPET_CHARS]
    return (
        ("…" if start else "")
        + pattern.sub(lambda match: f"[[{match.group()}]]", part)
        + "…" * (start + _SNIPPET_CHARS < len(text))
    )
