"""Harvest: reads from the published files what each release was built for, and writes knowledge/data/releases."""
