"""What several file types share: bounded ZIP archives and XML, blocks of text, and metadata."""
