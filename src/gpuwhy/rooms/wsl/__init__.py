"""Causes of the wsl layer."""
