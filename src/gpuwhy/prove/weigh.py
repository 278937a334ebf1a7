"""How likely each tweak is what matters: its usual weight, raised by what the program said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from gpuwhy.log.ending import Ending
from gpuwhy.prove.endings import said
from gpuwhy.prove.proof import Tweak
from gpuwhy.prove.tables import tables

NAMED_LAST, NAMED, READ, VALUE, PLACE = 60.0, 15.0, 12.0, 15.0, 40.0
"""How much likelier a tweak is that the last words name, that the output or the program's text
names, whose value they name, that lies where it failed."""
CAUSE, NEAR = 8.0, 0.6
"""How much its cause raises it; a cause of the same layer says less."""
DOUBT = 1.0
"""The weight of "none of these", before the report's causes raise it."""
LONG = 4
"""Letters from which on a name in the output is no coincidence."""


def weighed(
    tweaks: Iterable[Tweak],
    ending: Ending,
    output: str,
    causes: Mapping[str, float],
    source: str = "",
    environ: Mapping[str, str] = {},
) -> list[Tweak]:
    """The tweaks with their weights, likeliest first; `source` is the text of the program."""
    ends = (ending, *ending.chain)
    last = " ".join(map(said, ends))
    files = [frame.file for one in ends for frame in one.stack]
    said_so = (ids for row, ids in tables().words.items() if re.search(row, last, re.IGNORECASE))
    raised = {id_ for ids in said_so for id_ in ids}
    layers: dict[str, float] = {}
    for cause, confidence in causes.items():
        layers[_layer(cause)] = max(confidence, layers.get(_layer(cause), 0.0))
    texts = (last, output, source)
    seen = [set(re.findall(r"\w+", text)) for text in texts]

    def weight(one: Tweak) -> float:
        spoken = (
            max(causes.get(cause, 0.0), NEAR * layers.get(_layer(cause), 0.0))
            for cause in one.causes
        )
        found = one.weight * (0.5 + CAUSE * max(spoken, default=0.0))
        if one.kind in ("unset", "drop") and len(one.name) >= LONG and one.name != "PATH":
            found *= _named(one, seen) * _value(one, last, output, environ)
        if one.kind == "hide" and any(file.startswith(one.value) for file in files):
            found *= PLACE
        return found * (PLACE if one.id in raised else 1.0)

    out: dict[str, Tweak] = {}
    for one in sorted((replace(one, weight=weight(one)) for one in tweaks), key=_order):
        out.setdefault(one.id, one)
    return list(out.values())


def _order(one: Tweak) -> float:
    return -one.weight


def _layer(cause: str) -> str:
    return cause.split(".")[0]


def _named(one: Tweak, seen: Sequence[set[str]]) -> float:
    """A program that speaks of a variable speaks for it, most of all in its last words."""
    factors = (NAMED_LAST, NAMED, READ)
    return next((by for by, words in zip(factors, seen, strict=True) if one.name in words), 1.0)


def _value(one: Tweak, last: str, output: str, environ: Mapping[str, str]) -> float:
    """A value in the last words (`invalid literal: 'many'`), an entry anywhere in the output."""
    if one.kind == "drop":
        text = one.value.split("=")[0] if one.name.endswith("FLAGS") else one.value
        return VALUE if len(text) > LONG and text in output else 1.0
    value = environ.get(one.name, "")
    spoken = 2 < len(value) < 80 and not value.isdigit()
    alone = rf"(?<!\w){re.escape(value)}(?!\w)"
    return VALUE if spoken and re.search(alone, last) else 1.0


def named_in(message: str, tweaks: Sequence[Tweak]) -> list[Tweak]:
    """The same tweaks, those that a new failure speaks of raised and first."""
    words = {word for word in re.findall(r"\w+", message) if len(word) >= LONG} - {"PATH"}
    raised = (replace(one, weight=one.weight * NAMED_LAST ** (one.name in words)) for one in tweaks)
    return sorted(raised, key=_order)


def needed_by(message: str, tweaks: Sequence[Tweak]) -> list[Tweak]:
    """Which of the tweaks took away what the program now says it misses."""
    words = set(re.findall(r"\w+", message))
    named = [one for one in tweaks if one.removes and one.name in words]
    if named:
        return named
    gone = next((ids for row, ids in tables().misses.items() if re.search(row, message)), ())
    return [one for one in tweaks if one.name in gone or one.kind in gone]


def doubt(causes: Mapping[str, float], tweaks: Sequence[Tweak]) -> float:
    """The weight of "none of these": more where the report names what no tweak can change."""
    within = {cause for one in tweaks for cause in one.causes}
    return DOUBT + 3.0 * sum(value for cause, value in causes.items() if cause not in within)
