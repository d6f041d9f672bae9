"""Sign-in with an OpenID Connect provider: its description and keys, the tokens it signs, and whose account they open."""
