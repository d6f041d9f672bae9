"""URLs for images in the reader: our own server fetches them, so the sites do not see the user."""

from __future__ import annotations

from dataclasses import dataclass

from pagekeep.doors.http.caller import Caller
from pagekeep.doors.http.image_proxy.signing import signed_path
from pagekeep.doors.http.service import Service


@dataclass(frozen=True, slots=True)
class ImageSigner:
    """Returns proxy URLs of images for one user. Equal for the same user, so rendered pages can be cached."""

    secret: bytes
    user_id: str

    def __call__(self, url: str) -> str:
        """Return the proxy path for an image URL."""
        return signed_path(self.secret, self.user_id, url)


def image_signer(service: Service, caller: Caller) -> ImageSigner:
    """Return the signer for the caller."""
    return ImageSigner(service.secret, caller.user_id)
