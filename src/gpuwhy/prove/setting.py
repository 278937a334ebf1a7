"""Setting: the user's environment, limits and folders with some tweaks applied; what one trial is given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gpuwhy.model.proof import Change, Tweak
from gpuwhy.prove.variables import without


class Setting(NamedTuple):
    """What a trial differs in, with nothing made yet: `{fresh}` in a variable stands for a folder to be made."""

    environ: dict[str, str]
    limits: dict[str, tuple[int, int]] = {}
    hidden: tuple[str, ...] = ()
    elsewhere: bool = False
    packages: tuple[Tweak, ...] = ()


def applied(environ: Mapping[str, str], tweaks: Iterable[Tweak]) -> Setting:
    """The environment with the tweaks: first what goes, then what comes."""
    chosen = list(tweaks)
    out = dict(environ)
    for name, entries in _dropped(chosen).items():
        left = without(name, out.get(name, ""), frozenset(entries))
        out = {**out, name: left} if left is not None else {k: v for k, v in out.items() if k != name}
    for one in chosen:
        if one.kind == "unset":
            out.pop(one.name, None)
    for one in chosen:
        out.update(one.sets)
    return Setting(
        out,
        {one.name: one.limit for one in chosen if one.kind == "limit"},
        tuple(one.value for one in chosen if one.kind == "hide"),
        any(one.kind == "folder" for one in chosen),
        tuple(one for one in chosen if one.kind == "package"),
    )


def _dropped(tweaks: Iterable[Tweak]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for one in tweaks:
        if one.kind == "drop":
            out.setdefault(one.name, []).append(one.value)
    return out


def change_of(tweaks: Iterable[Tweak], environ: Mapping[str, str]) -> Change:
    """The tweaks as one change: a list of which nothing is left is a variable that is unset."""
    chosen = list(tweaks)
    dropped = _dropped(chosen)
    empty = [name for name, gone in dropped.items() if without(name, environ.get(name, ""), frozenset(gone)) is None]
    return Change(
        text=" and ".join(one.text for one in chosen),
        unset=tuple(dict.fromkeys([*(one.name for one in chosen if one.kind == "unset"), *empty])),
        set={name: value for one in chosen for name, value in one.sets.items()},
        drop={name: tuple(gone) for name, gone in dropped.items()},
        limits={one.name: "unlimited" if one.limit[0] == -1 else str(one.limit[0]) for one in chosen if one.kind == "limit"},
        packages={one.name: one.value for one in chosen if one.kind == "package"},
        hide=tuple(one.value for one in chosen if one.kind == "hide"),
        folder="another" if any(one.kind == "folder" for one in chosen) else "",
        command="; ".join(dict.fromkeys(one.command for one in chosen if one.command)),
    )  # fmt: skip
