"""Pages to set up the server without a terminal: settings, tokens, pairing, export, and pages that could not be saved."""
