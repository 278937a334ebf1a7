"""Fills a record field by field, so that what one field lacks costs the others nothing."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from gpuwhy.facts.fact import Fact, Undetermined, Unknown
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.record import Record
from gpuwhy.machine.machine import Machine

R = TypeVar("R", bound=Record)
Field = Callable[[Machine, Facts], Fact[Any]]


def filled(machine: Machine, facts: Facts, subject: str, fields: Mapping[str, Field]) -> Facts:
    """The facts with one subject's fields, each of which may read those before it."""
    for name, field in fields.items():
        record = msgspec.structs.replace(
            getattr(facts, subject), **{name: guarded(field, machine, facts)}
        )
        facts = msgspec.structs.replace(facts, **{subject: record})
    return facts


def guarded(field: Field, machine: Machine, facts: Facts) -> Fact[Any]:
    """What one function finds; Unknown where it cannot tell or fails."""
    try:
        return field(machine, facts)
    except Undetermined as missing:
        return missing.unknown
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
        return Unknown(f"gpuwhy failed here: {type(error).__name__}: {error} ({where})")


def is_windows(facts: Facts) -> bool:
    """Whether the machine is a Windows machine."""
    system = facts.system.os
    return not isinstance(system, Unknown) and system.need() == "windows"
