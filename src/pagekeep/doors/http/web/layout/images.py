"""Where a reader's browser gets pictures: from our own server, which fetches them."""

from __future__ import annotations

from dataclasses import dataclass

from pagekeep.doors.http.caller import Caller
from pagekeep.doors.http.image_proxy.signing import signed_path
from pagekeep.doors.http.service import Service


@dataclass(frozen=True, slots=True)
class Signer:
    """Makes addresses of pictures that are good for one reader. Equal for the same reader, so pages can be kept."""

    secret: bytes
    user_id: str

    def __call__(self, url: str) -> str:
        """The path for a picture's address on the web."""
        return signed_path(self.secret, self.user_id, url)


def signer(service: Service, caller: Caller) -> Signer:
    """The caller's."""
    return Signer(service.secret, caller.user_id)
