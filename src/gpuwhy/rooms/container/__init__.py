"""Causes of the container layer."""
