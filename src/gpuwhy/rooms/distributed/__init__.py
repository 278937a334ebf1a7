"""Causes of the distributed layer."""
