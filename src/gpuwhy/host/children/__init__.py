"""Scripts that run in a process of their own, some inside the target's Python: standard library, Python 3.5 and newer.

Each prints one JSON object a line, as it goes, so that what was learnt before a crash or a hang is kept.
"""
