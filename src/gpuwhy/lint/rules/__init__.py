"""The rules: each a function from a scope to mistakes, grouped by what they look at."""
