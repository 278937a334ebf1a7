"""Fills the facts: one file per subject, each reading the machine through its questions alone.

`look.look(machine, options)` runs them all, guarded and timed. Nothing of an environment is run but
by imports.py, for `--import`.
"""
