"""Causes of the other layer."""
