"""Causes of the env layer."""
