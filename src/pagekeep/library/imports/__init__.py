"""Import what other programs have exported into the library; `detect.py` says how to add a format."""
