"""Exported: what takes a variable away where the environment's own activation sets it: the line in that file."""

from __future__ import annotations

import re
import shlex

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import Exported, Facts

_SHELL = re.compile(r"(?:unset|export) (?P<name>[A-Za-z_]\w*)\b")


def at_their_file(fixes: tuple[Fix, ...], facts: Facts) -> tuple[Fix, ...]:
    """The fixes; one that changes a variable in this shell, where the next activation sets it again, at its source."""
    known = {one.name: one for one in value_or(facts.target.activation, ()) if not one.leads_away}
    if not known:
        return fixes
    return tuple(dict.fromkeys(_at_its_file(fix, known, facts) for fix in fixes))


def _word(path: str) -> str:
    return f"~/{shlex.quote(path[2:])}" if path.startswith("~/") else shlex.quote(path)


def _at_its_file(fix: Fix, known: dict[str, Exported], facts: Facts) -> Fix:
    said = _SHELL.match(fix.command)
    one = known.get(said["name"]) if said else None
    if one is None or fix.folders:  # what puts folders before the others takes nothing away, and lasts where it is put
        return fix
    python = value_or(facts.target.interpreter, None)
    own = python is not None and python.kind == "venv" and one.file.startswith(f"{python.prefix}/")
    text = f"Take the line that sets {one.name} out of {one.file}: every activation of the environment sets it again"
    if one.file.endswith("/state"):
        folder = _word(one.file.removesuffix("/conda-meta/state"))
        return Fix(text, f"conda env config vars unset -p {folder} {one.name}", safe=True)
    command = on.linux(rf"sed -i '/^[^#]*\b{one.name}=/s/^/# /' {_word(one.file)}")
    undo = on.linux(rf"sed -i '/^# .*\b{one.name}=/s/^# //' {_word(one.file)}")
    return Fix(text, command, safe=own, undo=undo, anew=own)  # a copy of the environment has no such line
