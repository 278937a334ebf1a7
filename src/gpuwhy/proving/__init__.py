"""Proving: wires the experiments of `prove` with the trials of `run`, the report and the repair's copies."""
