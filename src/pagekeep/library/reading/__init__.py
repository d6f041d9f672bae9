"""Reading: how far items have been read, all annotations of the library, and which items come next or are similar."""
