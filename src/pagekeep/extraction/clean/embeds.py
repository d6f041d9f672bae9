"""Videos, players, posts and maps from elsewhere: one titled link each; frames of trackers and adverts: nothing."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from pagekeep import dom
from pagekeep.extraction.clean.census import Census
from pagekeep.extraction.clean.links import Resolve
from pagekeep.extraction.clean.vocabulary import head_of

_EMBEDS: Final = (
    "iframe,frame,video,audio,object,embed,lite-youtube,lite-vimeo,youtube-video,amp-youtube,amp-vimeo,amp-iframe,amp-video,"
    "amp-twitter,amp-instagram,blockquote.twitter-tweet,blockquote.twitter-video,blockquote.instagram-media,blockquote.tiktok-embed,"
    "blockquote.bluesky-embed,blockquote.mastodon-embed,blockquote.reddit-embed-bq,blockquote.text-post-media,"
    'script[src*="gist.github.com"],[data-youtube-id],[data-youtube-video-id],div[data-oembed-url],oembed[url]'
)
_TAGS: Final = frozenset(
    (
        "iframe frame video audio object embed script lite-youtube lite-vimeo youtube-video amp-youtube amp-vimeo "
        "amp-iframe amp-video amp-twitter amp-instagram oembed"
    ).split()
)
_NAMES: Final = ("twitter-", "instagram-media", "-embed", "text-post-media", "youtube", "oembed")
_HOSTS: Final = {
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
_UNWANTED: Final = re.compile(
    r"doubleclick|googlesyndication|googletagmanager|google\.com/recaptcha|adservice|amazon-adsystem|facebook\.com/(?:plugins/"
    r"(?:like|share|page|comments)|tr\b)|platform\.twitter\.com/widgets/(?:follow|tweet)_button|taboola|outbrain|disqus|"
    r"/ads?[/.?]|adform|criteo|cookiebot|cookielaw|consentmanager|onetrust|captcha|mailchimp|list-manage|substack\.com/embed|convertkit|"
    r"hubspot|typeform|jotform|addthis|sharethis|hcaptcha|challenges\.cloudflare|stripe\.com|accounts\.google|about:|newsletter",
    re.I,
)
_TOOT: Final = re.compile(r"^https://[^/]{3,100}/@[\w.@-]{1,100}/\d{3,30}(?:/embed)?$")
"""Servers of this network stand anywhere; their posts have one form."""
_POST: Final = 300
"""How far into a post to look for its own address."""
_YOUTUBE_ID: Final = re.compile(r"[\w-]{6,20}", re.A)
_TITLES_OF_NOBODY: Final = re.compile(
    r"(?i)(?:youtube|vimeo|dailymotion|spotify|soundcloud|embedded|embed|video|iframe|content|player|tweet|twitter|post|x|"
    r"instagram|google maps?|map|frame|media|widget|from|the|an?|\s|[-:.|])*"
)


def settle_embeds(root: dom.Element, resolve: Resolve, census: Census) -> None:
    """Turn embedded content into links that say what it is."""
    if not census.shows(_TAGS, *_NAMES):
        return
    for node in dom.select(root, _EMBEDS):
        tag = node.tag
        if tag == "blockquote":
            _settle_post(node, resolve)
        elif tag in ("video", "audio", "amp-video"):
            _settle_player(node, resolve)
        elif tag == "script":
            _link(node, (node.attr("src") or "").removesuffix(".js"), resolve, "")
        elif not _is_taken(node):
            address = _address(node)
            if address and not _UNWANTED.search(address):
                _link(node, address, resolve, _title(node))
            elif tag in ("iframe", "frame", "embed"):
                dom.drop(node)


def _is_taken(node: dom.Element) -> bool:
    """Whether the node stood in an embed that is a link by now."""
    return node.parent is None


def _address(node: dom.Element) -> str:
    """Where the embedded content comes from, as written."""
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
    for inner in head_of(node, 30):
        if inner.tag == "embed" or inner.attr("name") in ("movie", "src"):
            return (inner.attr("value") or inner.attr("src") or "").strip()
    return ""


def _title(node: dom.Element) -> str:
    for name in ("title", "playlabel", "aria-label", "data-title"):
        title = " ".join((node.attr(name) or "").split()).removeprefix("Play: ")
        if title and not _TITLES_OF_NOBODY.fullmatch(title) and len(title) < 300:
            return title
    return ""


def _link(node: dom.Element, address: str, resolve: Resolve, title: str) -> None:
    """Put a titled link to the content's own page where the node is."""
    target = resolve(address)
    if target is None:
        dom.drop(node)
        return
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
        name = _HOSTS.get(".".join(labels[start:]))
        if name:
            return name
    return host


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _page_of(url: str) -> str:
    """The page a person would open for an embedded player's address."""
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


def _settle_player(player: dom.Element, resolve: Resolve) -> None:
    """A player in the page links to its file; its poster stays as a picture."""
    address = player.attr("src") or player.attr("data-src") or ""
    if not address:
        sources = [part for part in head_of(player, 30) if part.tag in ("source", "a")]
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
    dom.replace(player, *(parts or [" "]))


def _settle_post(quote: dom.Element, resolve: Resolve) -> None:
    """A post keeps its words as a quote and ends with a link to itself."""
    address = quote.attr("cite") or quote.attr("data-instgrm-permalink") or quote.attr("data-bluesky-uri") or ""
    links = [part for part in head_of(quote, _POST) if part.tag == "a"]
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
            return " ".join(dom.text_of(link).split())[:80]
    return ""


def _post_link(target: str, text: str) -> dom.Element:
    service = _service(target)
    return dom.element("a", {"class": "embed", "href": target}, f"{service}: {text}" if text else service)
