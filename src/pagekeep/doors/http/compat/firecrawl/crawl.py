"""`/v2/map`, `/v2/crawl` and `/v2/batch/scrape`: many pages at once, as crawls of the library's owner."""

from __future__ import annotations

import re
from asyncio import to_thread
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.doors.http.caller import Caller, ReadCaller, ReadLibrary, WriteLibrary, refuse_token
from pagekeep.doors.http.compat.firecrawl.scrape import ScrapeOptions, Url, Wanted, failure_responses
from pagekeep.doors.http.observability import log_host
from pagekeep.doors.http.requests import while_connected
from pagekeep.doors.http.service import CurrentService
from pagekeep.errors import Conflict, InvalidQuery, NotFound, NotOffered, PagekeepError
from pagekeep.library.crawl.addresses import MAX_BATCH, CrawlOptions, check_options
from pagekeep.library.crawl.crawls import cancel_crawl, list_pages, list_problems, start_crawl
from pagekeep.library.crawl.map_site import map_site
from pagekeep.library.open import Store
from pagekeep.library.sinks.kinds import firecrawl
from pagekeep.library.sinks.kinds.firecrawl import EVENTS, FORMAT_LETTERS, job_id, make_document
from pagekeep.model.crawl import Crawl

router = APIRouter(prefix="/v2", tags=["reader"])
_MAX_LIMIT: Final = 100_000
_DEFAULT_LIMIT: Final = 10_000
_ALL: Final = ("/*",)
Sitemap = Literal["include", "skip", "only"]
Pattern = Annotated[str, Field(min_length=1, max_length=500)]
Skip = Annotated[int, Query(ge=0)]
JobId = Annotated[str, Field(max_length=100)]


class _Body(BaseModel):
    """A request body. Unknown keys are ignored."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel)


class MapRequest(_Body):
    url: Url
    search: Annotated[str, Field(max_length=500)] = Field("", description="Addresses with these words come first.")
    sitemap: Sitemap = "include"
    ignore_query_parameters: bool = True
    limit: Annotated[int, Field(ge=1, le=_MAX_LIMIT)] = 5_000


class WebhookConfig(_Body):
    """Where the events of a crawl are sent."""

    url: Url
    headers: Annotated[dict[str, str], Field(max_length=20)] | None = None
    metadata: Annotated[dict[str, Any], Field(max_length=100)] | None = None
    events: Annotated[list[Literal["started", "page", "completed", "failed"]], Field(max_length=20)] | None = None


Webhook = Url | WebhookConfig | None


class CrawlRequest(_Body):
    url: Url
    limit: Annotated[int, Field(ge=1, le=_MAX_LIMIT)] = _DEFAULT_LIMIT
    include_paths: Annotated[list[Pattern], Field(max_length=50)] = []
    exclude_paths: Annotated[list[Pattern], Field(max_length=50)] = []
    max_discovery_depth: Annotated[int, Field(ge=0, le=100)] | None = None
    sitemap: Sitemap = "include"
    crawl_entire_domain: bool = False
    scrape_options: ScrapeOptions | None = None
    webhook: Webhook = None


class BatchRequest(ScrapeOptions):
    """Pages to read, with the options of a scrape beside them."""

    urls: Annotated[list[Url], Field(min_length=1, max_length=MAX_BATCH)]
    ignore_invalid_urls: bool = Field(True, alias="ignoreInvalidURLs")
    webhook: Webhook = None


@router.post("/map", name="map_site_v2", responses=failure_responses())
async def map_addresses(
    body: MapRequest, request: Request, library: ReadLibrary, service: CurrentService
) -> dict[str, Any]:
    """Return the addresses of a site, from its sitemaps and the links of the page."""
    log_host(body.url)
    options = CrawlOptions((body.url,), include=_ALL, sitemap=body.sitemap)
    found = await while_connected(request, map_site(options, service.retrieval))
    urls = [entry.url for entry in found.entries]
    if body.ignore_query_parameters:
        urls = list(dict.fromkeys(url.partition("?")[0] for url in urls))
    if words := body.search.lower().split():
        urls.sort(key=lambda url: -sum(word in url.lower() for word in words))
    return {"success": True, "links": [{"url": url} for url in urls[: body.limit]]}


@router.post("/crawl", name="start_crawl_v2", responses=failure_responses())
async def start(
    body: CrawlRequest, request: Request, library: WriteLibrary, caller: ReadCaller, service: CurrentService
) -> dict[str, Any]:
    """Start a crawl; the same request again continues or updates it."""
    log_host(body.url)
    formats = check_formats(body.scrape_options)
    options = CrawlOptions(
        (body.url,),
        include=tuple(map(to_glob, body.include_paths)) or (_ALL if body.crawl_entire_domain else ()),
        exclude=tuple(map(to_glob, body.exclude_paths)),
        pages=body.limit,
        sitemap=body.sitemap,
    )
    if body.max_discovery_depth is not None:
        options = replace(options, depth=body.max_discovery_depth)
    hook = _read_webhook(body.webhook, "crawl", formats, caller)
    job = Job(await to_thread(_start, library, service.retrieval.settings, options, hook), formats)
    return {"success": True, "id": job.id, "url": _address(request, "crawl", job.id)}


@router.get("/crawl/active", name="list_active_crawls", responses=failure_responses())
@router.get("/crawl/ongoing", name="list_ongoing_crawls", responses=failure_responses())
async def list_active(library: ReadLibrary) -> dict[str, Any]:
    """Return the crawls that are running."""
    crawls = await to_thread(library.crawls.list)
    active = [
        {"id": Job(one, ("markdown",)).id, "teamId": "pagekeep", "url": one.url, "options": dict(one.options)}
        for one in crawls
        if one.state == "running"
    ]
    return {"success": True, "crawls": active}


@router.post("/batch/scrape", name="start_batch_v2", responses=failure_responses())
async def start_batch(
    body: BatchRequest, request: Request, library: WriteLibrary, caller: ReadCaller, service: CurrentService
) -> dict[str, Any]:
    """Read several pages, in the background."""
    formats = check_formats(body)
    valid, invalid = [], []
    for url in body.urls:
        try:
            valid.append(check_options(CrawlOptions((url,))).seeds[0])
        except PagekeepError:
            invalid.append(url)
    if not valid or (invalid and not body.ignore_invalid_urls):
        raise InvalidQuery(f"Invalid address: {invalid[0]:.200}.", suggestions=("Correct it, or leave it out.",))
    options = CrawlOptions(tuple(dict.fromkeys(valid)), depth=0, pages=len(valid), sitemap="skip")
    hook = _read_webhook(body.webhook, "batch_scrape", formats, caller)
    job = Job(await to_thread(_start, library, service.retrieval.settings, options, hook), formats)
    address = _address(request, "batch/scrape", job.id)
    return {"success": True, "id": job.id, "url": address, "invalidURLs": invalid}


@router.get("/crawl/{job_id}", name="show_crawl_v2", responses=failure_responses())
async def show(
    job_id: JobId, request: Request, library: ReadLibrary, service: CurrentService, skip: Skip = 0
) -> dict[str, Any]:
    """Return the state of a crawl and some of its pages."""
    job = await find_job(library, job_id)
    return await show_job(job, library, service.retrieval, skip - 1, _address(request, "crawl", job_id))


@router.get("/batch/scrape/{job_id}", name="show_batch_v2", responses=failure_responses())
async def show_batch(
    job_id: JobId, request: Request, library: ReadLibrary, service: CurrentService, skip: Skip = 0
) -> dict[str, Any]:
    """Return the state of a batch and some of its pages."""
    job = await find_job(library, job_id)
    return await show_job(job, library, service.retrieval, skip - 1, _address(request, "batch/scrape", job_id))


@router.get("/crawl/{job_id}/errors", name="list_crawl_errors_v2", responses=failure_responses())
@router.get("/batch/scrape/{job_id}/errors", name="list_batch_errors_v2", responses=failure_responses())
async def list_errors(job_id: JobId, library: ReadLibrary) -> dict[str, Any]:
    """Return the addresses that gave no page."""
    job = await find_job(library, job_id)
    problems = await to_thread(list_problems, library, job.crawl.id, limit=1_000)
    errors = [
        {
            "id": f"{job.crawl.id}-{one.position}",
            "timestamp": one.fetched_at or job.crawl.started_at,
            "url": one.requested,
            "code": one.outcome,
            "error": str(one.facts.get("reason") or one.outcome.replace("_", " ")),
        }
        for one in problems
        if one.outcome != "robots"
    ]
    return {
        "success": True,
        "errors": errors,
        "robotsBlocked": [one.requested for one in problems if one.outcome == "robots"],
    }


@router.delete("/crawl/{job_id}", name="cancel_crawl_v2", responses=failure_responses())
@router.delete("/batch/scrape/{job_id}", name="cancel_batch_v2", responses=failure_responses())
async def cancel(job_id: JobId, library: WriteLibrary) -> dict[str, Any]:
    """End a running crawl; its pages stay."""
    job = await find_job(library, job_id)
    if job.crawl.state != "running":
        raise Conflict("The crawl is not running.", suggestions=("Read its pages.",))
    await to_thread(cancel_crawl, library, job.crawl.id)
    return {"success": True, "status": "cancelled"}


def _read_webhook(
    given: str | WebhookConfig | None, kind: str, formats: tuple[str, ...], caller: Caller
) -> firecrawl.Webhook | None:
    """Return the webhook of a request. It is a sink, so adding one takes the right to add sinks: it outlasts a token."""
    if given is None:
        return None
    refuse_token(caller, "A webhook cannot be added with a token, as it outlasts it.")
    config = WebhookConfig(url=given) if isinstance(given, str) else given
    events = tuple(config.events or EVENTS)
    return firecrawl.Webhook(config.url, kind, formats, config.headers or {}, config.metadata or {}, events)


def _start(library: Store, settings: Settings, options: CrawlOptions, webhook: firecrawl.Webhook | None) -> Crawl:
    """Start a crawl, with its webhook if it has one."""
    if webhook is None:
        return start_crawl(library, options)
    check_options(options)
    sink = firecrawl.add_webhook(library, settings, webhook)
    crawl = start_crawl(library, replace(options, webhook=sink))
    firecrawl.report_start(library, crawl)
    return crawl


def _address(request: Request, kind: str, job_id: str) -> str:
    return f"{request.url.scheme}://{request.url.netloc}/v2/{kind}/{job_id}"


_PAGES: Final = 50
"""Documents of one response."""
_MAX_CHARS: Final = 10_000_000
"""Characters of Markdown in one response, after which the rest is left to the next one."""
_DAYS: Final = 30
"""Days until a job expires, as the response says; crawls stay until they are removed."""
_STATES: Final = {"running": "scraping", "done": "completed", "cancelled": "cancelled"}


@dataclass(frozen=True, slots=True)
class Job:
    """A crawl, with the formats that its documents have."""

    crawl: Crawl
    formats: tuple[str, ...]

    @property
    def id(self) -> str:
        """The id of the job: that of the crawl, with a letter for each format."""
        return job_id(self.crawl.id, self.formats)

    @property
    def state(self) -> str:
        """The state, in Firecrawl's words."""
        return "failed" if self.crawl.reason == "no_page" else _STATES[self.crawl.state]


def check_formats(options: ScrapeOptions | None) -> tuple[str, ...]:
    """Return the formats of the documents; raise `NotOffered` for one that only a single page can have."""
    names = Wanted(options).names if options is not None else ["markdown"]
    for name in names:
        if name not in FORMAT_LETTERS:
            raise NotOffered(
                f"The format `{name}` is not offered for many pages.",
                suggestions=(f"Use {', '.join(FORMAT_LETTERS)}, or scrape the pages one by one.",),
            )
    return tuple(name for name in FORMAT_LETTERS if name in names)


async def find_job(library: Store, key: str) -> Job:
    """Return a job by its id; `NotFound` when there is none."""
    crawl_id, _, letters = key.rpartition("-")
    formats = tuple(name for name, letter in FORMAT_LETTERS.items() if letter in letters)
    if not crawl_id or set(letters) - set(FORMAT_LETTERS.values()):
        raise NotFound(f"There is no job {key[:100]!r}.")
    return Job(await to_thread(library.crawls.get, crawl_id), formats)


async def show_job(job: Job, library: Store, retrieval: Retrieval, after: int, base: str) -> dict[str, Any]:
    """Return the state of a job and some of its documents, from after a position."""
    crawl = job.crawl
    documents: list[dict[str, Any]] = []
    chars, last = 0, None
    pages = await to_thread(list_pages, library, crawl.id, after=after, limit=_PAGES + 1)
    for page in pages[:_PAGES]:
        if chars > _MAX_CHARS:
            break
        documents.append(await make_document(page, crawl.id, job.formats, library, retrieval))
        chars += len(str(page.content.get("markdown", "")))
        last = page.position
    shown: dict[str, Any] = {
        "success": True,
        "status": job.state,
        "completed": crawl.kept,
        "total": max(crawl.kept, crawl.admitted if crawl.state == "running" else crawl.kept),
        "creditsUsed": 0,
        "expiresAt": clock.add_seconds(crawl.started_at, _DAYS * 86_400),
        "data": documents,
    }
    if last is not None and len(documents) < len(pages):
        shown["next"] = f"{base}?skip={last + 1}"
    return shown


_TOKEN: Final = re.compile(r"\.[*+]\??|\[\^/\][*+]\??|\\(?P<escaped>[^a-zA-Z0-9])|(?P<plain>[^\\^$.|?*+()\[\]{}])|\.")
_GLOB_SIGNS: Final = frozenset("*?[")


def to_glob(pattern: str) -> str:
    """Return a glob for the same addresses, of the path if it starts with `/`; `NotOffered` for a pattern that has none."""
    inner = pattern.removeprefix("^")
    starts = "" if inner != pattern else "*://*" if inner.startswith("/") else "*://*/*"
    ends = "" if inner.endswith("$") and not inner.endswith(r"\$") else "*"
    inner = inner if ends else inner.removesuffix("$")
    parts, position = [starts], 0
    while position < len(inner):
        token = _TOKEN.match(inner, position)
        if token is None:
            raise NotOffered(
                f"The pattern `{pattern[:100]}` is not offered.",
                suggestions=("Use plain paths with `.*`, such as `^/docs/.*`.",),
            )
        parts.append(_translate(token))
        position = token.end()
    return re.sub(r"\*+", "*", "".join([*parts, ends]))


def _translate(token: re.Match[str]) -> str:
    literal = token["escaped"] or token["plain"]
    if literal:
        return f"[{literal}]" if literal in _GLOB_SIGNS else literal
    return "?" if token[0] == "." else "*"
