"""Observation: one file per subject; each field of a subject is one guarded, timed look at the host."""
