"""Clues: how much each message speaks for each cause, as data. A file per layer of causes."""

from __future__ import annotations

from functools import cache

from gpuwhy.model.symptom import Clue, Condition, always

Row = tuple[str, float, str] | tuple[str, float, str, Condition]


def of(cause: str, *rows: Row) -> tuple[Clue, ...]:
    """The clues of one cause: (signature, weight, sentence[, condition])."""
    return tuple(Clue(cause, row[0], row[1], row[2], row[3] if len(row) == 4 else always) for row in rows)


@cache
def clues() -> tuple[Clue, ...]:
    """All clues."""
    from gpuwhy.causes.clues import (
        cuda,
        cudnn,
        device,
        driver,
        environment,
        framework,
        install,
        limits,
        memory,
        other,
        program,
        reports,
        settings,
        surroundings,
    )  # fmt: skip

    modules = (
        driver,
        surroundings,
        cuda,
        cudnn,
        install,
        framework,
        memory,
        device,
        program,
        limits,
        environment,
        settings,
        reports,
        other,
    )
    return tuple(clue for module in modules for clue in module.CLUES)
