"""Small apps that only a browser can read, good and bad, for the browser's tests and scripts. Served by `tests.site`."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json

from tests.site.server import Handler, Reply, Request

APPS: dict[str, Handler] = {}
SENTENCES = [
    f"On day {day} the keeper trimmed the wick, wound the clock and wrote down the wind." for day in range(1, 25)
]
LAST = SENTENCES[-1]
SHOW = "const show = (lines) => { root.innerHTML = lines.map((line) => `<p>${line}</p>`).join(''); };"


def app(name: str, script: str, markup: str = "<div id=root></div>", **headers: str) -> None:
    """A page at `/name` whose text comes from its script."""

    async def answer(request: Request, reply: Reply) -> None:
        await reply.send(f"<!doctype html><title>{name}</title>{markup}<script>{SHOW}{script}</script>", **headers)

    APPS[name] = answer


async def days(request: Request, reply: Reply) -> None:
    """The text of most apps, after `?wait=` milliseconds."""
    await asyncio.sleep(int(request.query.get("wait", "0")) / 1000)
    await reply.send(json.dumps(SENTENCES), content_type="application/json", access_control_allow_origin="*")


async def tick(request: Request, reply: Reply) -> None:
    """Answers a poll, after `?wait=` milliseconds, with nothing new."""
    await asyncio.sleep(int(request.query.get("wait", "0")) / 1000)
    await reply.send("{}", content_type="application/json")


async def bundle(request: Request, reply: Reply) -> None:
    script = SHOW + "fetch('/days?wait=20').then((r) => r.json()).then(show);"
    await reply.send(script, content_type="text/javascript")


async def small(request: Request, reply: Reply) -> None:
    """A small app as they are: a shell, a style sheet, a bundle, a request for the content."""
    await reply.send(
        "<!doctype html><title>small</title><link rel=stylesheet href=/style.css>"
        "<img id=lamp src=/lamp.png onerror='this.remove()'><div id=root></div><script src=/bundle defer></script>"
    )


async def socket(request: Request, reply: Reply) -> None:
    """A WebSocket that sends the days, one message each, and then stays open."""
    digest = hashlib.sha1((request.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode())
    accept = base64.b64encode(digest.digest()).decode()
    await reply.head(101, ["Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Accept: {accept}"])
    for sentence in SENTENCES:
        data = sentence.encode()
        await reply.raw(bytes([0x81, len(data)]) + data)
        await asyncio.sleep(0.02)
    await asyncio.sleep(60)


async def cookies(request: Request, reply: Reply) -> None:
    """Shows the cookies that came, and leaves one, with something in each storage."""
    came = request.headers.get("cookie", "none")
    script = (
        "document.title = localStorage.mark || 'unmarked'; localStorage.mark = 'marked'; document.cookie = 'script=1'"
    )
    page = f"<!doctype html><title>x</title><p id=cookies>{came}</p><script>{script}</script>"
    await reply.send(page, set_cookie="seen=yes; Path=/")


async def headers_shown(request: Request, reply: Reply) -> None:
    await reply.send(f"<!doctype html><title>headers</title><pre id=root>{json.dumps(request.headers)}</pre>")


async def moved(request: Request, reply: Reply) -> None:
    await reply.send("", 302, location=request.query["to"])


async def status(request: Request, reply: Reply) -> None:
    await reply.send("<!doctype html><title>status</title><p>A page for a status.", int(request.query["code"]))


async def attachment(request: Request, reply: Reply) -> None:
    await reply.send(
        b"\x00" * 1000, content_type="application/octet-stream", content_disposition="attachment; filename=a"
    )


async def static(request: Request, reply: Reply) -> None:
    text = "".join(f"<p>{sentence}</p>" for sentence in SENTENCES)
    await reply.send(f"<!doctype html><title>static</title><main>{text}</main>")


async def drip(request: Request, reply: Reply) -> None:
    await reply.head(200, ["Content-Type: text/html", "Connection: close"])
    for _ in range(600):
        await reply.raw(b"<p>One more line of a page that never ends.</p>")
        await asyncio.sleep(0.1)


async def hanging(request: Request, reply: Reply) -> None:
    await asyncio.sleep(60)


APPS |= {
    "days": days,
    "tick": tick,
    "bundle": bundle,
    "small": small,
    "socket": socket,
    "cookies": cookies,
    "headers": headers_shown,
    "moved": moved,
    "status": status,
    "attachment": attachment,
    "static": static,
    "drip": drip,
    "hanging": hanging,
}

# How pages come by their text.
app("late", "setTimeout(() => fetch('/days?wait=700').then((r) => r.json()).then(show), 300)")
app("slow", "root.textContent = 'Loading...'; fetch('/days?wait=2500').then((r) => r.json()).then(show)")
app(
    "polling",
    "fetch('/days').then((r) => r.json()).then(show);"
    "const poll = () => fetch('/tick?wait=90').then(() => setTimeout(poll, 10)); poll();",
)
app(
    "longpoll",
    "fetch('/days').then((r) => r.json()).then(show);"
    "const poll = () => fetch('/tick?wait=2000').then(poll, poll); poll();",
)
app(
    "websocket",
    "new WebSocket(location.origin.replace('http', 'ws') + '/socket').onmessage = (m) => {"
    "const p = document.createElement('p'); p.textContent = m.data; root.append(p); };",
)
app(
    "animated",
    "fetch('/days').then((r) => r.json()).then(show); let n = 0;"
    "const clock = document.createElement('b'); document.body.append(clock);"
    "setInterval(() => { clock.textContent = 'Frame ' + n++; clock.style.left = n + 'px'; }, 16);",
)
app(
    "scroll",
    "let n = 0; const more = () => fetch('/days?page=' + n++).then((r) => r.json()).then((lines) => {"
    "root.insertAdjacentHTML('beforeend', lines.map((l) => `<p>${l}</p>`).join('')); setTimeout(more, 30); }); more();",
)
app("empty", "void 0")
app(
    "hung-script",
    "show(JSON.parse('" + json.dumps(SENTENCES) + "'))",
    "<div id=root></div><script async src=/hanging></script>",
)
app(
    "chunk",  # as bundlers do it: the chunk is given up when its style sheet fails
    "const link = Object.assign(document.createElement('link'), {rel: 'stylesheet', href: '/chunk.css'});"
    "link.onload = () => fetch('/days').then((r) => r.json()).then(show);"
    "link.onerror = () => { root.textContent = 'This part could not be loaded.'; }; document.head.append(link);",
)
app(
    "shadow",
    "class KeeperLog extends HTMLElement { connectedCallback() {"
    "const inner = this.attachShadow({mode: 'open'});"
    "inner.innerHTML = '<style>p { color: red }</style><h2>Log of the light</h2><slot></slot><p id=end>End of the log</p>'; } }"
    "customElements.define('keeper-log', KeeperLog);",
    "<keeper-log><p>The lamp was lit at dusk.</p></keeper-log>",
)
app("next", "setTimeout(() => { location = '/static'; }, 100)")
app("closing", "show(['Going.']); setTimeout(() => window.close(), 200)")
app("hash", "show([location.hash])")
app("surrogate", "show(['before \\ud800 after', 'NUL \\u0000 too'])")
app(
    "tamper",
    "Object.defineProperty(Element.prototype, 'outerHTML', {get: () => 'forged'}); Date = Promise = null; show(['kept'])",
)
app(
    "permissions",
    "Promise.all(['geolocation', 'notifications', 'camera', 'microphone'].map((name) =>"
    "navigator.permissions.query({name}).then((s) => s.state))).then((s) => show([s.join(' ')]))",
)
app("dialogs", "alert('one'); const said = prompt('two'); show(['answered ' + confirm('three') + ' ' + said])")

# What pages do to a browser.
app("loop", "for (;;);")
app("alerts", "for (;;) alert('again');")
app("allocate", "const kept = []; for (;;) kept.push(new Array(1e6).fill(Math.random()));")
app("buffers", "const kept = []; setInterval(() => { const b = new Uint8Array(5e7); b.fill(1); kept.push(b); }, 1);")
app("popups", "setInterval(() => window.open('/static'), 5);")
app(
    "downloads",
    "setInterval(() => { const a = document.createElement('a'); a.href = '/attachment'; a.download = 'a'; a.click(); }, 20);",
)
app("reloads", "setTimeout(() => location.reload(), 1);")
app(
    "history",
    "for (let n = 0; n < 1e5; n++) history.pushState({}, '', '/history?' + n); setInterval(() => history.back(), 1);",
)
app(
    "nodes",
    "for (;;) { const d = document.createElement('div'); d.textContent = 'x'.repeat(1000); document.body.append(d); }",
)
app("workers", "for (let n = 0; n < 200; n++) new Worker(URL.createObjectURL(new Blob(['for (;;);'])));")
app(
    "frames",
    "const deeper = (d) => { const f = document.createElement('iframe'); f.src = '/frames?' + Math.random(); d.append(f); }; for (let n = 0; n < 3; n++) deeper(document.body);",
)
app("prints", "setInterval(() => window.print(), 10);")
app(
    "deep",
    "let e = root; for (let n = 0; n < 50000; n++) { const d = document.createElement('div'); e.append(d); e = d; } e.textContent = 'bottom';",
)
HOSTILE = (
    "loop",
    "alerts",
    "allocate",
    "buffers",
    "popups",
    "downloads",
    "reloads",
    "history",
    "nodes",
    "workers",
    "frames",
    "prints",
    "deep",
    "drip",
)
