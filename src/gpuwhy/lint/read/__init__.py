"""One reader per kind of file: its text becomes a Sheet; nothing is run."""
