"""The door for AI assistants: the web and the library as tools, with page text marked as what it is."""
