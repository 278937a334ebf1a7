"""Causes of the program layer."""
