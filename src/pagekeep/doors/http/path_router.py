"""Routes that are looked at only for paths under their own: there are hundreds, and each is an expression to match."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.routing import Match
from starlette.types import Scope


class PathRouter(APIRouter):
    """A router for all paths that begin with one of some."""

    def __init__(self, *paths: str, **options: Any) -> None:
        super().__init__(**options)
        self._paths = paths

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a route of this router is meant."""
        if not scope["path"].startswith(self._paths):
            return Match.NONE, {}
        return super().matches(scope)
