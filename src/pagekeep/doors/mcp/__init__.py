"""The MCP server: tools for AI assistants to read web pages and the library, with page text marked as data."""
