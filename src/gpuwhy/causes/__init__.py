"""What gpuwhy knows of each cause, as data: <id>.toml and its page <id>.md.

Python here only reads them.
"""
