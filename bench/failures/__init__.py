"""Labelled failures of GPU stacks, and what tools say of them."""
