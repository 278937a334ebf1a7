"""Ranks: the logs of a job's processes, and which of them failed first."""
