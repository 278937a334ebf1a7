"""What to do about a cause: propose, keep, fill, order, and `say`, each once.

A remedy is a value until it is said.
"""
