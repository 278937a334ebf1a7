"""The Python under diagnosis, its folders, and the one walk of its packages."""
