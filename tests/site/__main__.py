"""`python -m tests.site`: the site in its own process. Prints its port, ends with its standard input."""

from __future__ import annotations

import sys

from tests.site.pages import PAGES
from tests.site.server import Site

with Site(PAGES) as site:
    print(site.port, flush=True)
    sys.stdin.read()
