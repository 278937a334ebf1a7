"""Causes of the device layer."""
