"""Causes of the framework layer."""
