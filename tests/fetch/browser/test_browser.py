"""The browser, with a real Chromium and real servers. The same at full count: `tests/hostile/render_*.py --full`."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pagekeep import extras
from pagekeep.config import Settings
from pagekeep.errors import (
    BlockedAddress,
    FetchHttpError,
    FetchNetworkError,
    FetchTimeout,
    InvalidProtocol,
    PagekeepError,
    RenderError,
    TooLarge,
    UnsupportedContent,
)
from pagekeep.fetch.browser import Browser, chromium, engine
from pagekeep.fetch.browser import chromium as flags
from pagekeep.fetch.guard import Guard
from pagekeep.model import Fetched
from tests.hostile import render_canary, render_kill, render_storm
from tests.hostile.render_apps import APPS, LAST, SENTENCES
from tests.site.sandbox import SANDBOX
from tests.site.secure import Authority
from tests.site.server import Site

ROOT = Path(__file__).parents[3]


def missing() -> str | None:
    try:
        import playwright  # noqa: F401

        chromium.find_chromium()
    except ImportError:
        return "Playwright is not installed"
    except RenderError:
        return "no Chromium on this machine; scripts/install-chromium gets one"
    return None


WHY_NOT = missing()
needs_chromium = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))

Render = Callable[..., Fetched]


@pytest.fixture(scope="module")
def running() -> Iterator[Site]:
    with Site(APPS) as site:
        yield site


@pytest.fixture
def site(running: Site) -> Site:
    running.requests.clear()
    return running


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as made:
        yield made


@pytest.fixture(scope="module")
def browser(runner: asyncio.Runner) -> Iterator[Browser]:
    """One browser for the whole module: that it serves many pages is what it is for."""
    made = Browser(Settings(browser_sandbox=SANDBOX), Guard(["127.0.0.1", "127.0.0.3"]))
    runner.run(made.__aenter__())
    yield made
    runner.run(made.close())


@pytest.fixture
def render(runner: asyncio.Runner, browser: Browser, site: Site) -> Render:
    def call(path: str, **options: Any) -> Fetched:
        url = site.url(path) if path.startswith("/") else path
        return runner.run(asyncio.wait_for(browser.render(url, **{"timeout": 10, **options}), 40))

    return call


def text(page: Fetched) -> str:
    return page.body.decode("utf-8")


# What comes back


@needs_chromium
def test_an_app_is_read_with_the_text_that_its_scripts_brought(render: Render, site: Site) -> None:
    page = render("/small")
    assert all(f"<p>{sentence}</p>" in text(page) for sentence in SENTENCES)
    assert (page.url, page.final_url, page.status) == (site.url("/small"), site.url("/small"), 200)
    assert (page.rendered, page.encoding, page.content_type) == (True, "utf-8", "text/html")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert set(page.seconds) == {"render", "total"}
    assert text(page).startswith("<!DOCTYPE html>")


@needs_chromium
@pytest.mark.parametrize(
    "way", ["static", "late", "slow", "polling", "longpoll", "websocket", "animated", "scroll", "hung-script"]
)
def test_text_is_waited_for_however_it_comes(render: Render, way: str) -> None:
    assert LAST in text(render(f"/{way}", timeout=20))


@needs_chromium
def test_images_and_styles_are_not_loaded_and_their_addresses_are_kept(render: Render, site: Site) -> None:
    page = render("/small")
    assert site.asked("/bundle") == 1
    assert site.asked("/lamp.png") == site.asked("/style.css") == 0
    assert 'src="/lamp.png"' in text(page)  # its `onerror` would have removed it


@needs_chromium
def test_an_app_whose_part_hangs_on_its_style_sheet_is_read(render: Render) -> None:
    assert LAST in text(render("/chunk"))


@needs_chromium
def test_open_shadow_roots_are_flattened_in_reading_order(render: Render) -> None:
    html = text(render("/shadow")).partition("<script")[0]
    shadow, slotted, end = (html.index(words) for words in ("Log of the light", "The lamp was lit", "End of the log"))
    assert shadow < slotted < end
    assert "<slot" not in html
    assert "color: red" not in html


@needs_chromium
def test_a_page_that_goes_on_by_itself_is_read_where_it_ends(render: Render, site: Site) -> None:
    page = render("/next")
    assert page.final_url == site.url("/static")
    assert LAST in text(page)


@needs_chromium
def test_a_route_behind_the_hash_reaches_the_app(render: Render) -> None:
    assert "<p>#/route</p>" in text(render("/hash#/route"))


@needs_chromium
def test_broken_characters_come_out_as_valid_utf_8(render: Render) -> None:
    assert "before \ufffd after" in text(render("/surrogate"))


@needs_chromium
def test_a_page_cannot_forge_what_is_read(render: Render) -> None:
    html = text(render("/tamper"))
    assert "<p>kept</p>" in html
    assert not html.endswith("forged")


@needs_chromium
def test_given_html_replaces_the_server_and_its_scripts_run(render: Render, site: Site) -> None:
    page = render(
        "/small?given", html=b"<!doctype html><title>given</title><div id=root></div><script src=/bundle></script>"
    )
    assert "<title>given</title>" in text(page)
    assert LAST in text(page)
    assert site.asked("/small") == 0
    assert (page.final_url, page.status) == (site.url("/small?given"), 200)


# What is asked of it


@needs_chromium
def test_a_named_selector_is_waited_for(render: Render) -> None:
    assert LAST in text(render("/slow", wait_for="#root p:nth-child(24)"))


@needs_chromium
def test_a_selector_that_never_shows_is_a_timeout_that_names_it(render: Render) -> None:
    with pytest.raises(FetchTimeout, match=r"#nowhere"):
        render("/small", wait_for="#nowhere", timeout=1.5)


@needs_chromium
def test_a_selector_that_is_none_is_named_at_once(render: Render) -> None:
    with pytest.raises(RenderError, match=r"p\[\["):
        render("/small", wait_for="p[[")


@needs_chromium
def test_headers_and_cookies_go_to_the_page_and_to_no_other_server(render: Render, site: Site) -> None:
    with Site(APPS, host="127.0.0.3") as other:
        page = render(f"/moved?to={other.url('/headers')}", headers={"X-Token": "secret"}, cookies={"who": "me"})
        assert page.final_url == other.url("/headers")
        assert "secret" not in str(other.requests)
        assert "who=me" not in str(other.requests)
    first = next(request for request in site.requests if request.path == "/moved")
    assert first.headers["x-token"] == "secret"
    assert first.headers["cookie"] == "who=me"


@needs_chromium
def test_it_says_who_it_is(render: Render, site: Site) -> None:
    render("/headers")
    ours = site.requests[0].headers["user-agent"]
    assert "Chrome/" in ours
    assert ours.endswith(Settings().user_agent)
    render("/headers", user_agent="Someone/1")
    assert site.requests[-1].headers["user-agent"] == "Someone/1"


@needs_chromium
def test_no_server_sees_the_proxy(render: Render, site: Site) -> None:
    render("/headers")
    assert not [name for name in site.requests[0].headers if name.startswith("proxy")]


@needs_chromium
def test_nothing_is_shared_between_two_pages(render: Render) -> None:
    first, second = render("/cookies"), render("/cookies")
    assert text(first).count("none") == text(second).count("none") == 1
    assert "<title>unmarked</title>" in text(second)


# What goes wrong


@needs_chromium
@pytest.mark.parametrize("code", [404, 500])
def test_an_error_status_is_an_error_that_carries_its_page(render: Render, code: int) -> None:
    with pytest.raises(FetchHttpError) as caught:
        render(f"/status?code={code}")
    assert caught.value.status == code
    assert b"A page for a status." in vars(caught.value)["page"].body


@needs_chromium
@pytest.mark.parametrize(
    "path", ["http://127.0.0.2:{port}/", "/moved?to=http://127.0.0.2:{port}/", "/moved?to=http://localhost:{port}/"]
)
def test_a_refused_address_is_named_as_such_and_not_shown(render: Render, path: str) -> None:
    with Site({}, host="127.0.0.2") as canary:
        with pytest.raises(BlockedAddress) as caught:
            render(path.format(port=canary.port))
        assert canary.connections == 0
    assert ("127." in caught.value.message) is not path.startswith("/")  # only when the caller typed it


@needs_chromium
def test_a_page_that_leads_itself_to_a_refused_address_is_refused(runner: asyncio.Runner, browser: Browser) -> None:
    with render_canary.trap() as trap, pytest.raises(BlockedAddress):
        runner.run(browser.render(trap.page(["location"]), timeout=10))


@needs_chromium
@pytest.mark.parametrize("url", ["file:///etc/passwd", "chrome://version", "javascript:1", "data:text/html,x"])
def test_other_protocols_are_refused(render: Render, url: str) -> None:
    with pytest.raises(PagekeepError) as caught:
        render(url if "://" in url else url.replace(":", "://", 1))
    assert isinstance(caught.value, InvalidProtocol)


@needs_chromium
def test_a_redirect_to_a_file_is_refused(render: Render) -> None:
    with pytest.raises((BlockedAddress, FetchNetworkError)):
        render("/moved?to=file:///etc/passwd")


@needs_chromium
def test_a_page_cannot_read_files(render: Render, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret of the light")
    markup = (
        f"<iframe src='file://{secret}'></iframe><object data='file://{secret}'></object><div id=root>x</div>"
        f"<script>fetch('file://{secret}').then((r) => r.text()).then((t) => {{ root.textContent = t }});"
        f"try {{ location = 'file://{secret}' }} catch (e) {{}}</script>"
    )
    assert "the secret of the light" not in text(render("/static", html=markup.encode()))


@needs_chromium
def test_a_server_that_does_not_listen_is_a_network_error(render: Render) -> None:
    with pytest.raises(FetchNetworkError):
        render("http://127.0.0.1:9/" if os.geteuid() else "http://127.0.0.1:1024/")


class OwnNames:
    """A DNS that knows one name."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def addresses(self, name: str) -> list[str]:
        self.asked.append(name)
        if name != "light.example":
            raise OSError
        return ["127.0.0.1"]


@needs_chromium
def test_names_are_looked_up_by_the_guard_alone(site: Site) -> None:
    names = OwnNames()

    async def main() -> Fetched:
        async with Browser(Settings(browser_sandbox=SANDBOX), Guard(["light.example"], resolver=names)) as browser:
            with pytest.raises(FetchNetworkError, match="nowhere"):
                await browser.render("http://nowhere.example/")
            with pytest.raises(FetchNetworkError, match="nowhere"):
                await browser.render("https://nowhere.example/")
            return await browser.render(f"http://light.example:{site.port}/small")

    page = asyncio.run(main())
    assert LAST in text(page)
    assert page.final_url == f"http://light.example:{site.port}/small"
    assert {"light.example", "nowhere.example"} == set(names.asked)


@needs_chromium
def test_https_is_rendered_and_a_certificate_no_system_knows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main(url: str) -> Fetched:
        async with Browser(Settings(browser_sandbox=SANDBOX), Guard(["127.0.0.1"])) as browser:
            return await browser.render(url)

    with Site(APPS, tls=Authority().server("127.0.0.1")) as secure:
        with pytest.raises(FetchNetworkError, match="certificate"):
            asyncio.run(main(secure.url("/small")))
        monkeypatch.setattr(flags, "FLAGS", (*flags.FLAGS, "--ignore-certificate-errors"))
        assert LAST in text(asyncio.run(main(secure.url("/small"))))
        assert LAST in text(asyncio.run(main(secure.url("/websocket"))))


@needs_chromium
def test_a_chromium_that_does_not_start_is_an_error_with_a_hint(tmp_path: Path) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)

    async def main() -> None:
        async with Browser(Settings(browser_sandbox=SANDBOX, chromium=str(broken)), Guard()) as browser:
            await browser.render("http://example.com/")

    with pytest.raises(RenderError, match="did not start") as caught:
        asyncio.run(main())
    assert "doctor" in caught.value.suggestions[0]


@needs_chromium
def test_a_download_is_not_a_page(render: Render) -> None:
    with pytest.raises(UnsupportedContent):
        render("/attachment")


@needs_chromium
def test_a_page_that_never_ends_is_a_timeout(render: Render) -> None:
    with pytest.raises(FetchTimeout):
        render("/drip", timeout=2)


@needs_chromium
def test_a_page_cannot_close_itself_under_us(render: Render) -> None:
    assert "<p>Going.</p>" in text(render("/closing"))


@needs_chromium
def test_dialogs_are_dismissed(render: Render) -> None:
    assert "answered false null" in text(render("/dialogs"))


@needs_chromium
def test_nothing_is_permitted(render: Render) -> None:
    assert "granted" not in text(render("/permissions"))


@needs_chromium
def test_a_page_over_the_limit_is_too_large() -> None:
    async def main(url: str) -> None:
        async with Browser(Settings(browser_sandbox=SANDBOX, max_bytes=1000), Guard(["127.0.0.1"])) as small:
            await small.render(url)

    with Site(APPS) as site, pytest.raises(TooLarge):
        asyncio.run(main(site.url("/static")))


# What it survives


@needs_chromium
def test_bad_pages_end_in_time_and_good_pages_beside_them_are_read() -> None:
    assert asyncio.run(render_storm.run(["loop", "alerts", "allocate", "popups"])) == []


@needs_chromium
def test_a_page_whose_browser_is_killed_is_tried_again_and_the_next_works() -> None:
    outcomes, _ = asyncio.run(render_kill.run(4, seed=3))
    assert outcomes == {"retried": 4}


@needs_chromium
def test_a_page_that_crashes_twice_is_an_error(render: Render) -> None:
    with pytest.raises(RenderError, match="crashed"):
        render("/allocate", timeout=30)


@needs_chromium
@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
@pytest.mark.parametrize("whom", ["chromium", "driver"])
def test_a_browser_that_hangs_is_killed_and_replaced(whom: str) -> None:
    others = set(render_kill.descendants(os.getpid()))

    async def main(url: str) -> Fetched:
        async with Browser(Settings(browser_sandbox=SANDBOX), Guard(["127.0.0.1"])) as browser:
            await browser.render(url)
            [main_process] = render_kill.chromium_processes(others)
            driver = int(Path(f"/proc/{main_process}/stat").read_text().rpartition(")")[2].split()[1])
            os.kill(main_process if whom == "chromium" else driver, signal.SIGSTOP)
            with pytest.raises(FetchTimeout):
                await browser.render(url, timeout=1)
            return await browser.render(url, timeout=10)

    with Site(APPS) as site:
        assert LAST in text(asyncio.run(main(site.url("/small"))))
    assert _gone(render_kill.descendants(os.getpid()).keys() - others), "processes are left"


@needs_chromium
@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
def test_the_browser_is_replaced_after_its_pages() -> None:
    others = set(render_kill.descendants(os.getpid()))

    async def main(url: str) -> list[list[int]]:
        async with Browser(Settings(browser_sandbox=SANDBOX, browser_pages=2), Guard(["127.0.0.1"])) as browser:
            await browser.render(url)
            before = render_kill.chromium_processes(others)
            await browser.render(url)
            while render_kill.chromium_processes(others):
                await asyncio.sleep(0.02)
            await browser.render(url)
            return [before, render_kill.chromium_processes(others)]

    with Site(APPS) as site:
        [first], [second] = asyncio.run(asyncio.wait_for(main(site.url("/small")), 30))
    assert first != second


SCRIPT = """
import asyncio, sys
from pagekeep.config import Settings
from pagekeep.fetch.browser import Browser, chromium
from pagekeep.fetch.guard import Guard

async def main():
    async with Browser(Settings(browser_sandbox=chromium.may_sandbox()), Guard(["127.0.0.1"])) as browser:
        await browser.render(sys.argv[1])
        print("rendered", flush=True)
        if sys.argv[2] != "end":
            await browser.render(sys.argv[3], timeout=60)

asyncio.run(main())
"""


@needs_chromium
@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
@pytest.mark.parametrize("how", ["end", "SIGINT", "SIGTERM", "SIGKILL", "Ctrl-C"])
def test_nothing_is_left_behind_however_the_program_ends(site: Site, how: str) -> None:
    command = [sys.executable, "-c", SCRIPT, site.url("/small"), how, site.url("/loop")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "rendered\n"
        below = set(render_kill.descendants(process.pid))
        if how == "Ctrl-C":  # the terminal signals all of the foreground's processes
            os.killpg(process.pid, signal.SIGINT)
        elif how != "end":
            assert len(below) > 3
            process.send_signal(signal.Signals[how])
        process.wait(20)
    assert _gone(below), "processes are left"


def _gone(pids: set[int]) -> bool:
    for _ in range(100):
        if not any(Path(f"/proc/{pid}").exists() and _state(pid) != "Z" for pid in pids):
            return True
        time.sleep(0.1)
    return False


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


@needs_chromium
def test_after_closing_nothing_is_rendered() -> None:
    async def main(url: str) -> None:
        async with Browser(Settings(browser_sandbox=SANDBOX), Guard(["127.0.0.1"])) as browser:
            pass
        await browser.render(url)

    with Site(APPS) as site, pytest.raises(RenderError, match="closed"):
        asyncio.run(main(site.url("/small")))


# What gets out


@needs_chromium
def test_no_way_out_of_the_page_reaches_a_refused_address() -> None:
    with render_canary.trap() as trap:
        assert asyncio.run(render_canary.guarded(trap, each=False)) == set()


@needs_chromium
def test_without_the_guard_the_same_pages_do_reach_it() -> None:
    with render_canary.trap() as trap:
        reached = asyncio.run(render_canary.unguarded(trap, each=False))
    assert len(reached) >= 26
    assert {"websocket", "redirect", "speculation rules", "shared worker", "datagrams"} <= reached


# Without a browser


def test_without_chromium_rendering_says_how_to_get_one() -> None:
    async def main() -> None:
        async with Browser(Settings(browser_sandbox=SANDBOX, chromium="/no/such/chromium"), Guard()) as browser:
            await browser.render("http://example.com/")

    pytest.importorskip("playwright", reason="Playwright is not installed")
    with pytest.raises(RenderError) as caught:
        asyncio.run(main())
    assert any("install" in hint for hint in caught.value.suggestions)


def test_without_playwright_rendering_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with Browser(Settings(browser_sandbox=SANDBOX), Guard()) as browser:
            await browser.render("http://example.com/")

    for name in ("playwright", "playwright.async_api"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(extras, "find_missing", lambda _name: ["playwright"])
    monkeypatch.setattr(extras, "checkout", lambda: None)
    with pytest.raises(RenderError) as caught:
        asyncio.run(main())
    assert any("pagekeep[browser]" in hint for hint in caught.value.suggestions)


@needs_chromium
@pytest.mark.skipif(chromium.may_sandbox(), reason="only root has no sandbox")
def test_root_does_not_render_without_the_setting_for_that() -> None:
    async def main() -> None:
        async with Browser(Settings(), Guard(["127.0.0.1"])) as browser:
            await browser.render("http://127.0.0.1:9/")

    with pytest.raises(RenderError, match="as root") as caught:
        asyncio.run(main())
    assert any("PAGEKEEP_BROWSER_SANDBOX=false" in hint for hint in caught.value.suggestions)


FAILURES = (
    "[1:FATAL:zygote_host_impl_linux.cc(128)] No usable sandbox!",
    'Check failed: sys_chroot("/proc/self/fdinfo/") == 0',
)


@pytest.mark.parametrize("message", FAILURES)
def test_a_system_without_sandboxes_renders_nothing_and_never_falls_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: str
) -> None:
    starts = tmp_path / "starts"
    broken = tmp_path / "chromium-headless-shell"
    broken.write_text(f"#!/bin/sh\necho \"$@\" >> {starts}\necho '{message}' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(engine, "may_sandbox", lambda: True)

    async def main() -> None:
        async with Browser(Settings(chromium=str(broken)), Guard(["127.0.0.1"])) as browser:
            await browser.render("http://127.0.0.1:9/")

    with pytest.raises(RenderError, match="does not allow Chromium's sandbox"):
        asyncio.run(main())
    assert "--no-sandbox" not in starts.read_text()
