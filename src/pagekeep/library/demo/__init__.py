"""The demo library: pages of our own writing in seven kinds and five languages, saved as any other page is."""
