"""Where kept files are stored outside the database."""
