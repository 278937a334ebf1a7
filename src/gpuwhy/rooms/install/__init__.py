"""Causes of the install layer."""
