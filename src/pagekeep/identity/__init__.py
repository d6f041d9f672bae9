"""Who a caller is: accounts and tokens of a shared server, tokens that programs get, and sign-in with OpenID Connect."""

from __future__ import annotations
