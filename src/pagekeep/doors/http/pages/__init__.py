"""The reader: pages made on the server, that work without a script and are nicer with ours."""
