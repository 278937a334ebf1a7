"""Attacks on everything that reads what others wrote: see README.md."""
