"""What a text states: bytes become lines, messages, an ending and a Case, read once.

Nobody else searches the text.
"""
