"""The frameworks that are installed: rows of one walker, and their readers."""
