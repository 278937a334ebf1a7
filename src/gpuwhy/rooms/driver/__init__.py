"""Causes of the driver layer."""
