"""Shared: the one way in which values become a text that people pass on: JSON of every command, without secrets."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from gpuwhy.border.alias import Alias, accounts, logins, printable
from gpuwhy.cli.plain import json_plain
from gpuwhy.border.secrets import Redactor, of_values


def machine_name() -> str:
    """This machine's name, which nobody else needs to know."""
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def as_json(value: Any, *, paths: bool = False, nodes: bool = False) -> str:
    """Indented JSON, ending in a newline; home folders as `~` and `user-1a2b` unless a program needs the paths.

    With `nodes` for answers whose point is which machine it was.
    """
    encoded = msgspec.json.encode(shareable(msgspec.to_builtins(value, enc_hook=str), paths=paths, nodes=nodes))
    return json_plain(msgspec.json.format(encoded, indent=1).decode()) + "\n"


def shareable(value: Any, *, paths: bool = False, nodes: bool = False) -> Any:
    """Plain values without secrets, names of people and what UTF-8 cannot hold."""
    environ = os.environ
    redactor = Redactor(machine_name(), learns=not nodes, environ=environ)
    home = environ.get("USERPROFILE" if os.name == "nt" else "HOME") or ""
    names = logins(environ)
    alias = Alias(home, next(iter(names), ""), also=(*names, *accounts(), home.rstrip("/").rpartition("/")[2]))

    def hide(text: str) -> str:
        text = printable(text)
        return redactor.hide(text if paths else alias.people(text))

    return of_values(of_values(value, hide, redactor.named), redactor.again)
