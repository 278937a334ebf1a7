"""Setting: the user's environment, limits and folders with some tweaks applied; what one trial is given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import NamedTuple

from gpuwhy.prove.proof import Change, Kind, Tweak
from gpuwhy.prove.variables import unset, without


class Setting(NamedTuple):
    """What a trial differs in, with nothing made yet: `{fresh}` in a variable stands for a folder to be made."""

    environ: dict[str, str]
    limits: Mapping[str, tuple[int, int]] = {}
    hidden: tuple[str, ...] = ()
    elsewhere: bool = False
    packages: tuple[Tweak, ...] = ()


def applied(environ: Mapping[str, str], tweaks: Iterable[Tweak]) -> Setting:
    """The environment with the tweaks: first what goes, then what comes."""
    chosen = list(tweaks)
    out = dict(environ)
    for name, entries in _dropped(chosen).items():
        left = without(name, out.get(name, ""), frozenset(entries))
        if left is None:
            out.pop(name, None)
        else:
            out[name] = left
    for one in _of(chosen, "unset"):
        out.pop(one.name, None)
    for one in chosen:
        out.update(one.sets)
    return Setting(
        out,
        {one.name: one.limit for one in _of(chosen, "limit")},
        tuple(one.value for one in _of(chosen, "hide")),
        bool(_of(chosen, "folder")),
        tuple(_of(chosen, "package")),
    )


def _dropped(tweaks: Iterable[Tweak]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for one in tweaks:
        if one.kind == "drop":
            out.setdefault(one.name, []).append(one.value)
    return out


def in_words(tweaks: Iterable[Tweak], environ: Mapping[str, str]) -> list[Tweak]:
    """The tweaks as they are told: a list whose every entry goes is a variable that is not set."""
    chosen = list(tweaks)
    whole = {name for name, gone in _dropped(chosen).items() if _nothing_left(name, gone, environ)}
    dropped = {one.name: one for one in reversed(_of(chosen, "drop")) if one.name in whole}  # the first of each name
    kept = [one for one in chosen if one.kind != "drop" or one.name not in whole]
    return kept + [unset(name, dropped[name].weight) for name in sorted(dropped)]


def _nothing_left(name: str, gone: Iterable[str], environ: Mapping[str, str]) -> bool:
    return name in environ and without(name, environ[name], frozenset(gone)) is None


def _limit(one: Tweak) -> str:
    return "unlimited" if one.limit[0] == -1 else str(one.limit[0])


def change_of(tweaks: Iterable[Tweak], environ: Mapping[str, str]) -> Change:
    """The tweaks as one change: a list of which nothing is left is a variable that is unset."""
    chosen = list(tweaks)
    whole = in_words(chosen, environ)
    sets = chain.from_iterable(one.sets.items() for one in chosen)
    return Change(
        text=" and ".join(one.text for one in whole),
        unset=tuple(dict.fromkeys(one.name for one in _of(whole, "unset"))),
        set={name: value.replace("{fresh}", "A_FRESH_FOLDER") for name, value in sets},
        drop={name: tuple(gone) for name, gone in _dropped(chosen).items()},
        limits={one.name: _limit(one) for one in _of(chosen, "limit")},
        packages={one.name: one.value for one in _of(chosen, "package")},
        hide=tuple(one.value for one in _of(chosen, "hide")),
        folder="another" if _of(chosen, "folder") else "",
        command=_commands(whole),
    )


def _commands(tweaks: Iterable[Tweak]) -> str:
    return "; ".join(filter(None, dict.fromkeys(one.command for one in tweaks)))


def _of(tweaks: Iterable[Tweak], kind: Kind) -> list[Tweak]:
    return [one for one in tweaks if one.kind == kind]
