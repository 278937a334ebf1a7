"""Prove: which rerun to make next, and what the outcomes prove; pure: it starts nothing and reads nothing."""
