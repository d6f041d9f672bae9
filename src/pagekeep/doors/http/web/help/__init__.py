"""Help inside the reader: the documentation that ships with the package."""
