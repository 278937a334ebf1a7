"""Runs a program unchanged and watches it: its output, its signals, its memory, its end."""
