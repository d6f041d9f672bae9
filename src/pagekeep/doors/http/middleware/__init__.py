"""Checks of every request before its route: host names, body sizes, headers, cookies and origins."""
