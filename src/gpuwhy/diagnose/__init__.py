"""Findings and a Log → ranked causes with a calibrated confidence, links, what was ruled out."""
