"""Documents other than HTML: recognised by content, parsed in worker processes, and turned into the same page as HTML."""
