"""Causes of the memory layer."""
