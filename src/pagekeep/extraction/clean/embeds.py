"""Embeds: videos, players, posts and maps become titled links; frames of trackers and adverts are removed."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from pagekeep import dom
from pagekeep.extraction.clean.state import CleanState, Removals, first_elements
from pagekeep.extraction.input.urls import Resolve
from pagekeep.model import Removal
from pagekeep.text import compile_lazily

_EMBEDS: Final = (
    "iframe,frame,video,audio,object,embed,lite-youtube,lite-vimeo,youtube-video,amp-youtube,amp-vimeo,amp-iframe,amp-video,"
    "amp-twitter,amp-instagram,blockquote.twitter-tweet,blockquote.twitter-video,blockquote.instagram-media,blockquote.tiktok-embed,"
    "blockquote.bluesky-embed,blockquote.mastodon-embed,blockquote.reddit-embed-bq,blockquote.text-post-media,"
    'script[src*="gist.github.com"],[data-youtube-id],[data-youtube-video-id],div[data-oembed-url],oembed[url]'
)
_TAGS: Final = (
    "iframe frame video audio object embed script lite-youtube lite-vimeo youtube-video amp-youtube amp-vimeo "
    "amp-iframe amp-video amp-twitter amp-instagram oembed"
).split()
_CLASS_PARTS: Final = ("twitter-", "instagram-media", "-embed", "text-post-media", "youtube", "oembed")
_SERVICES: Final = {
    "youtube.com": "YouTube",
    "youtube-nocookie.com": "YouTube",
    "youtu.be": "YouTube",
    "vimeo.com": "Vimeo",
    "dailymotion.com": "Dailymotion",
    "geo.dailymotion.com": "Dailymotion",
    "twitch.tv": "Twitch",
    "loom.com": "Loom",
    "wistia.com": "Wistia",
    "wistia.net": "Wistia",
    "ted.com": "TED",
    "bilibili.com": "Bilibili",
    "rumble.com": "Rumble",
    "tiktok.com": "TikTok",
    "instagram.com": "Instagram",
    "facebook.com": "Facebook",
    "twitter.com": "X",
    "x.com": "X",
    "bsky.app": "Bluesky",
    "reddit.com": "Reddit",
    "open.spotify.com": "Spotify",
    "spotify.com": "Spotify",
    "soundcloud.com": "SoundCloud",
    "bandcamp.com": "Bandcamp",
    "podcasts.apple.com": "Apple Podcasts",
    "music.apple.com": "Apple Music",
    "codepen.io": "CodePen",
    "codesandbox.io": "CodeSandbox",
    "jsfiddle.net": "JSFiddle",
    "stackblitz.com": "StackBlitz",
    "replit.com": "Replit",
    "gist.github.com": "GitHub Gist",
    "google.com": "Google",
    "maps.google.com": "Google Maps",
    "docs.google.com": "Google Docs",
    "openstreetmap.org": "OpenStreetMap",
    "datawrapper.de": "Datawrapper",
    "datawrapper.dwcdn.net": "Datawrapper",
    "flo.uri.sh": "Flourish",
    "public.flourish.studio": "Flourish",
    "slideshare.net": "SlideShare",
    "speakerdeck.com": "Speaker Deck",
    "scribd.com": "Scribd",
    "archive.org": "Internet Archive",
    "figma.com": "Figma",
    "giphy.com": "GIPHY",
    "imgur.com": "Imgur",
    "threads.net": "Threads",
}
_UNWANTED: Final = compile_lazily(
    r"doubleclick|googlesyndication|googletagmanager|google\.com/recaptcha|adservice|amazon-adsystem|facebook\.com/(?:plugins/"
    r"(?:like|share|page|comments)|tr\b)|platform\.twitter\.com/widgets/(?:follow|tweet)_button|taboola|outbrain|disqus|"
    r"/ads?[/.?]|adform|criteo|cookiebot|cookielaw|consentmanager|onetrust|captcha|mailchimp|list-manage|substack\.com/embed|convertkit|"
    r"hubspot|typeform|jotform|addthis|sharethis|hcaptcha|challenges\.cloudflare|stripe\.com|accounts\.google|about:|newsletter",
    re.I,
)
_TOOT: Final = compile_lazily(r"^https://[^/]{3,100}/@[\w.@-]{1,100}/\d{3,30}(?:/embed)?$")
"""A Mastodon post: its servers have any host, but its addresses one form."""
_MAX_POST_ELEMENTS: Final = 300
"""Elements of a post that are searched for its own address."""
_MAX_PLAYER_ELEMENTS: Final = 30
"""Elements of a player that are searched for its file."""
_MAX_TITLE_CHARS: Final = 300
"""A longer title is a description."""
_MAX_DATE_CHARS: Final = 80
"""Of the text of a post's link to itself, which is its date."""
_YOUTUBE_ID: Final = compile_lazily(r"[\w-]{6,20}", re.A)
_GENERIC_TITLE: Final = compile_lazily(
    r"(?i)(?:youtube|vimeo|dailymotion|spotify|soundcloud|embedded|embed|video|iframe|content|player|tweet|twitter|post|x|"
    r"instagram|google maps?|map|frame|media|widget|from|the|an?|\s|[-:.|])*"
)


def link_embeds(state: CleanState) -> list[Removal]:
    """Turn videos, players, posts and maps into titled links; remove frames of adverts and trackers."""
    removals, resolve = Removals(state.changes), state.resolve
    if not (state.index.has_tag(*_TAGS) or state.index.has_class(*_CLASS_PARTS)):
        return removals
    for node in dom.select(state.root, _EMBEDS):
        tag = node.tag
        if tag == "blockquote":
            _link_post(node, resolve)
        elif tag in ("video", "audio", "amp-video"):
            _link_player(node, resolve, removals)
        elif tag == "script":
            _link(node, (node.attr("src") or "").removesuffix(".js"), resolve, "", removals)
        elif node.parent is not None:  # an embed inside another one left the tree with it
            address = _address(node)
            if address and not _UNWANTED.search(address):
                _link(node, address, resolve, _title(node), removals)
            elif tag in ("iframe", "frame", "embed"):
                removals.drop(node, "frame of an advert or tracker" if address else "frame without an address")
    return removals


def _address(node: dom.Element) -> str:
    """Return the address of the embedded content as written."""
    video = (
        node.attr("videoid")
        or node.attr("data-videoid")
        or node.attr("data-youtube-id")
        or node.attr("data-youtube-video-id")
    )
    if video:
        host = "https://vimeo.com/" if "vimeo" in node.tag else "https://www.youtube.com/watch?v="
        return host + video
    if node.attr("data-tweetid"):
        return f"https://x.com/i/status/{node.attr('data-tweetid')}"
    if node.attr("data-shortcode"):
        return f"https://www.instagram.com/p/{node.attr('data-shortcode')}/"
    for name in (
        "data-oembed-url",
        "url",
        "data-src",
        "data-lazy-src",
        "data-litespeed-src",
        "data-cookieblock-src",
        "src",
        "data",
    ):
        value = (node.attr(name) or "").strip()
        if value and not value.startswith(("about:", "javascript:", "data:")):
            return value
    for inner in first_elements(node, _MAX_PLAYER_ELEMENTS):
        if inner.tag == "embed" or inner.attr("name") in ("movie", "src"):
            return (inner.attr("value") or inner.attr("src") or "").strip()
    return ""


def _title(node: dom.Element) -> str:
    for name in ("title", "playlabel", "aria-label", "data-title"):
        title = " ".join((node.attr(name) or "").split()).removeprefix("Play: ")
        if title and not _GENERIC_TITLE.fullmatch(title) and len(title) < _MAX_TITLE_CHARS:
            return title
    return ""


def _link(node: dom.Element, address: str, resolve: Resolve, title: str, removals: Removals) -> None:
    """Replace the node by a titled link to the content's own page."""
    target = resolve(address)
    if target is None:
        removals.drop(node, "embed whose address leads nowhere")
        return
    removals.record_words([node], "fallback text of an embed")
    target = _page_of(target)
    service = _service(target)
    text = f"{service}: {title}" if title and title != service else service
    dom.replace(node, dom.element("p", None, dom.element("a", {"class": "embed", "href": target}, text)))


def _service(url: str) -> str:
    host = _host(url)
    if _TOOT.search(url):
        return "Mastodon"
    if host == "google.com" and "/maps" in url:
        return "Google Maps"
    labels = host.split(".")
    for start in range(len(labels) - 1):
        name = _SERVICES.get(".".join(labels[start:]))
        if name:
            return name
    return host


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _page_of(url: str) -> str:
    """Return the address of the page that shows what an embedded player plays."""
    try:
        parts = urlsplit(url)
        query = parse_qs(parts.query)
    except ValueError:
        return url
    host = (parts.hostname or "").removeprefix("www.").removeprefix("m.")
    steps = [step for step in parts.path.split("/") if step]
    last = steps[-1] if steps else ""
    if host in ("youtube.com", "youtube-nocookie.com", "youtu.be"):
        return _youtube_page(url, steps, query)
    if host == "player.vimeo.com" and last:
        secret = query.get("h", [""])[0]
        return f"https://vimeo.com/{last}" + (f"/{secret}" if secret else "")
    if host.endswith("dailymotion.com"):
        video = query.get("video", [last])[0]
        return f"https://www.dailymotion.com/video/{video}" if video else url
    if host == "open.spotify.com" and steps[:1] == ["embed"]:
        return "https://open.spotify.com/" + "/".join(steps[1:])
    if host == "w.soundcloud.com" and query.get("url"):
        return unquote(query["url"][0])
    if host == "platform.twitter.com" and query.get("id"):
        return f"https://x.com/i/status/{query['id'][0]}"
    if host == "codepen.io":
        return url.partition("?")[0].replace("/embed/preview/", "/pen/").replace("/embed/", "/pen/")
    if host == "codesandbox.io":
        return url.partition("?")[0].replace("/embed/", "/s/")
    if host == "facebook.com" and query.get("href"):
        return unquote(query["href"][0])
    if _TOOT.search(url):
        return url.removesuffix("/embed")
    if host == "gist.github.com":
        return url.partition("?")[0].removesuffix(".pibb").removesuffix(".js")
    return url


def _youtube_page(url: str, steps: list[str], query: dict[str, list[str]]) -> str:
    video = query.get("v", [""])[0]
    if not video and steps:
        video = steps[-1] if steps[0] in ("embed", "v", "shorts", "live", "vi") or len(steps) == 1 else ""
    if video == "videoseries" or (not video and query.get("list")):
        return f"https://www.youtube.com/playlist?list={query.get('list', [''])[0]}"
    if not _YOUTUBE_ID.fullmatch(video) or video in ("watch", "embed", "playlist"):
        return url
    start = query.get("start", query.get("t", [""]))[0].removesuffix("s")
    return f"https://www.youtube.com/watch?v={video}" + (f"&t={start}" if start.isdecimal() and start != "0" else "")


def _link_player(player: dom.Element, resolve: Resolve, removals: Removals) -> None:
    """Replace a player by its poster and a link to its file."""
    address = player.attr("src") or player.attr("data-src") or ""
    if not address:
        sources = [part for part in first_elements(player, _MAX_PLAYER_ELEMENTS) if part.tag in ("source", "a")]
        address = next(filter(None, (part.attr("src") or part.attr("data-src") for part in sources)), "")
    target = resolve(address) if address.strip() and not address.startswith(("blob:", "data:")) else None
    parts: list[dom.Node | str] = []
    poster = resolve(player.attr("poster")) if player.attr("poster") else None
    if poster:
        parts.append(dom.element("p", None, dom.element("img", {"src": poster, "alt": _title(player)})))
    if target:
        kind = "Audio" if player.tag == "audio" else "Video"
        name = _title(player) or unquote(target.partition("?")[0].rpartition("/")[2]) or _host(target)
        parts.append(dom.element("p", None, dom.element("a", {"class": "embed", "href": target}, f"{kind}: {name}")))
    if parts:
        removals.record_words([player], "fallback text of a player")
    else:
        removals.record(player, "player without a file")
    dom.replace(player, *(parts or [" "]))


def _link_post(quote: dom.Element, resolve: Resolve) -> None:
    """Keep the words of a post as a quote that ends with a link to the post."""
    address = quote.attr("cite") or quote.attr("data-instgrm-permalink") or quote.attr("data-bluesky-uri") or ""
    links = [part for part in first_elements(quote, _MAX_POST_ELEMENTS) if part.tag == "a"]
    if not address.startswith("http"):
        status = [link.attr("href") or "" for link in links if _is_post_address(link.attr("href") or "")]
        address = status[-1] if status else (links[-1].attr("href") or "" if links else "")
    target = resolve(address.partition("?")[0]) if address else None
    if target is None:
        return
    for link in links:
        if (link.attr("href") or "").partition("?")[0] == target and link.parent is quote:
            dom.drop(link)
    if quote.attr("class") and not dom.text_of(quote).strip():
        dom.replace(quote, dom.element("p", None, _post_link(target, _last_line_date(links, target))))
    else:
        dom.append(quote, dom.element("p", None, _post_link(target, _last_line_date(links, target))))


def _is_post_address(address: str) -> bool:
    return any(step in address for step in ("/status/", "/p/", "/reel/", "/video/", "/post/", "/comments/"))


def _last_line_date(links: list[dom.Element], target: str) -> str:
    for link in reversed(links):
        if (link.attr("href") or "").partition("?")[0] == target:
            return " ".join(dom.text_of(link).split())[:_MAX_DATE_CHARS]
    return ""


def _post_link(target: str, text: str) -> dom.Element:
    service = _service(target)
    return dom.element("a", {"class": "embed", "href": target}, f"{service}: {text}" if text else service)
