"""What is observed of one machine, as typed values.

Nothing in here reads a file or decides anything.
"""
