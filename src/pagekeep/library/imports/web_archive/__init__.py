"""Import web archives: WARC and WACZ files of this program and of others."""
