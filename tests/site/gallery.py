"""A site with pages full of pictures, which can be switched off."""

from __future__ import annotations

import asyncio
import colorsys
from io import BytesIO

from PIL import Image, ImageDraw

from tests.site.fixtures import SENTENCE
from tests.site.server import Reply, Request, Site

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40" onload="parent.ran = 1"><script>parent.ran = 1</script>'
    '<rect width="60" height="40" fill="#205080"/></svg>'
)


def draw(number: int, form: str = "PNG", size: tuple[int, int] = (240, 160)) -> bytes:
    """A picture that no other number has, with its own colour and a line."""
    colour = tuple(int(255 * part) for part in colorsys.hsv_to_rgb(number * 0.381966 % 1, 0.7, 0.8))
    picture = Image.new("RGB", size, colour)
    ImageDraw.Draw(picture).line((0, number % size[1], size[0], size[1] // 2), fill="white", width=3)
    out = BytesIO()
    picture.save(out, form, **({"quality": 90} if form != "PNG" else {}))
    return out.getvalue()


class Gallery:
    """Pages `/page/NAME` with the pictures that were put on them; `/picture/NAME` is what was set there."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.pictures: dict[str, bytes | int] = {}
        """Name to the bytes of a picture, or the status of an error."""
        self.seconds: dict[str, float] = {}
        """Name to how long its answer takes."""
        self.site = Site({"page": self._page, "picture": self._picture})

    def __enter__(self) -> Gallery:
        self.site.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self.site.__exit__(*exception)

    def put_page(self, name: str, *pictures: str, hero: str | None = None, title: str = "The keeper") -> str:
        """Add a page that shows these pictures between its paragraphs; return its address."""
        shown = "".join(
            f'<p>{SENTENCE * 3}</p><figure><img src="/picture/{picture}" alt="Picture {picture}"></figure>'
            for picture in pictures
        )
        head = f'<meta property="og:image" content="{self.site.url(f"/picture/{hero}")}">' if hero else ""
        article = f"<article><h1>{title}</h1><p>{SENTENCE * 4}</p>{shown}<p>{SENTENCE * 4}</p></article>"
        self.pages[name] = f"<!doctype html><title>{title}</title>{head}{article}"
        return self.site.url(f"/page/{name}")

    def put_pictures(self, *names: str) -> None:
        """Add pictures under these names, each different."""
        for number, name in enumerate(names, start=len(self.pictures)):
            self.pictures[name] = draw(number, {"jpg": "JPEG", "webp": "WEBP"}.get(name.rpartition(".")[2], "PNG"))

    def source(self, name: str) -> str:
        return self.site.url(f"/picture/{name}")

    async def _page(self, request: Request, reply: Reply) -> None:
        name = request.path.rpartition("/")[2]
        await reply.send(self.pages.get(name, ""), status=200 if name in self.pages else 404)

    async def _picture(self, request: Request, reply: Reply) -> None:
        name = request.path.rpartition("/")[2]
        await asyncio.sleep(self.seconds.get(name, 0))
        data = self.pictures.get(name, 404)
        if isinstance(data, int):
            await reply.send("Nothing here", status=data)
        else:
            await reply.send(data, content_type="application/octet-stream")
