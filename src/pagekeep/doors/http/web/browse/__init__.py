"""Pages to browse the library: tags, sites, authors, statistics, and suggestions while typing."""
