"""Visit one address of a crawl, and read what is there: a page, a robots.txt or a sitemap."""
