"""Images of saved pages, fetched by the server so that their sites do not see the user."""
