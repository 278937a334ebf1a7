"""Renderings of a report: terminal, JSON. They decide nothing."""
