"""Causes of the cuda layer."""
