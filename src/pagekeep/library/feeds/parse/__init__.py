"""Reading feeds: RSS, Atom and RDF by feedparser, JSON Feed by hand, and lists of feeds (OPML). Only for worker processes."""
