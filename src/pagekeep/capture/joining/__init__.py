"""Articles over several pages: fetch the rest of an article, keep every page as it came, and join them to one."""
