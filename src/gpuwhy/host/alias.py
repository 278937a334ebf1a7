"""Alias, as the hosts use it: see border/alias.py."""

from gpuwhy.border.alias import Alias, Plain, accounts, logins, printable

__all__ = ["Alias", "Plain", "accounts", "logins", "printable"]
