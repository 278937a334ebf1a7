"""A typed question: an intent and a Case, answered from tables."""
