"""Propose: every remedy that may be meant, by rows, makers and precedents."""

from collections.abc import Iterator

import msgspec

from gpuwhy.advise.fill import MissingNameError, filled
from gpuwhy.advise.made_torch import together
from gpuwhy.advise.makers import MAKERS
from gpuwhy.advise.names import Around, Names
from gpuwhy.advise.remedy import Action, Remedy, can_be_undone, restarts
from gpuwhy.advise.when import holds
from gpuwhy.causes.load import catalogue
from gpuwhy.causes.schema import RemedyRow
from gpuwhy.log.message import Message, Standing

_ASIDE = (Standing.NOTED, Standing.QUOTED)
"""What the program outlived, or what is only quoted, needs no remedy."""

_OWN = 2
"""How much closer a row in the program's own file belongs than one of the cause; twice as much
where it is for one message."""

_PLACE = {"os", "wsl", "container", "engine", "manager", "shell", "distribution", "platform"}


def proposed(around: Around) -> Iterator[Remedy]:
    """Every remedy of the rows whose conditions hold, filled in."""
    known = catalogue()
    cause = known.causes.get(around.ranked.cause)
    rows = [(row, 0) for row in cause.remedy] if cause else []
    # of the programs that a person starts: what one is built on has its options inside
    stated = [one.value for one in around.log.case.programs]
    started = [known.programs[one] for one in stated if one in known.programs]
    inside = {used for one in started if not one.python for used in one.uses}
    rows += [(row, _OWN) for one in started if one.id not in inside for row in one.remedy]
    for row, extra in rows:
        if not row.for_ or around.ranked.cause in row.for_:
            yield from _of_row(row, extra, around)


def _of_row(row: RemedyRow, extra: int, around: Around) -> Iterator[Remedy]:
    """The remedy of a row, for the first message that it is meant for."""
    fits = (row.fits or _closeness(row) + extra) + extra
    for message in _messages(row, around, own=extra == _OWN):
        names = Names(around, message)
        if not holds(row.when, names):
            continue
        if row.unless is not None and holds(row.unless, names):
            if row.on:
                continue
            return  # the message that decides excludes it
        if row.make:
            made = MAKERS[row.make](names)
            if made is not None:
                yield _with_row(made, row, names, fits)
            return
        try:
            yield _filled(row, names, fits)
        except MissingNameError:
            continue
        return


def _messages(row: RemedyRow, around: Around, own: bool) -> list[Message | None]:
    """The messages that a row may speak of, the deciding ones first; None: it needs none.

    A program's own row that names no cause is for the causes that its messages speak for.
    """
    every = around.log.messages
    behind = [every[one.message] for one in around.ranked.because if one.message >= 0]
    silent = not any(one.decides and one.role == "error" for one in every)
    known = [one for one in every if silent or one.standing not in _ASIDE or one in behind]
    if row.on:
        of = behind if own and not row.for_ else known
        on = [one for one in of if one.id.startswith(row.on) or f"{one.id}." in row.on]
        return [*sorted(on, key=lambda one: not one.decides)]
    rest = [one for one in known if one.decides and one not in behind]
    return [*behind, *rest, None]


def _closeness(row: RemedyRow) -> int:
    """How closely a row belongs to its message: by what it asks for."""
    exact = any(not one.endswith(".") for one in row.on)
    fits = 1 + (3 if exact else 1 if row.on else 0)
    when = row.when
    if isinstance(when, str):
        return fits + 2
    if isinstance(when, list):
        return fits + 2 * len(when)
    for key in when or {}:
        fits += 1 if key in _PLACE else 2
    return fits


def _filled(row: RemedyRow, names: Names, fits: int) -> Remedy:
    do = row.do if isinstance(row.do, (list, tuple)) else (row.do,) if row.do else ()
    actions = together(msgspec.convert(filled(list(do), names.get), tuple[Action, ...]), names)
    said = {
        key: filled(getattr(row, key), names.get) for key in ("text", "why", "worked_if", "if_not")
    }
    return Remedy(
        actions,
        names.get("cause"),
        placed=row.placed,
        root=row.root,
        reboot=row.reboot or restarts(actions),
        reversible=row.reversible and can_be_undone(actions),
        fits=fits,
        source=row.source,
        **said,
    )


def _with_row(made: Remedy, row: RemedyRow, names: Names, fits: int) -> Remedy:
    """What a maker made, with what its row states."""
    return msgspec.structs.replace(
        made,
        do=together(made.do, names),
        cause=names.get("cause"),
        root=row.root or made.root,
        reboot=row.reboot or made.reboot,
        reversible=made.reversible and can_be_undone(made.do),
        worked_if=made.worked_if or str(filled(row.worked_if, names.get)),
        if_not=made.if_not or str(filled(row.if_not, names.get)),
        fits=made.fits or fits,
        source=made.source or row.source,
    )
