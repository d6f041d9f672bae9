"""Endpoints compatible with other services (Jina Reader, Firecrawl), for tools that already use those."""
