"""Faults drawn at random: a seed, an operator, a target and a program; the truth is known by construction."""
