"""Export pages as web archives: WARC, the standard's file of responses, and WACZ, a ZIP of it with an index and a page list."""
