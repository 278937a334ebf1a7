"""How likely each tweak is what matters: its usual weight, raised by what the program said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from gpuwhy.log.ending import Ending
from gpuwhy.prove.endings import said
from gpuwhy.prove.proof import Tweak
from gpuwhy.prove.tweaks import tables

NAMED = (60.0, 15.0, 12.0)
"""How much likelier a variable is that the last words, the output, the program's text name."""
VALUE, PLACE = 15.0, 40.0
"""The same of one whose value they name, of what lies where it failed."""
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
    spoken = (ids for row, ids in tables().words.items() if re.search(row, last, re.IGNORECASE))
    raised = {id_ for ids in spoken for id_ in ids}
    layers: dict[str, float] = {}
    for cause, confidence in causes.items():
        layer = cause.split(".")[0]
        layers[layer] = max(confidence, layers.get(layer, 0.0))
    seen = [set(re.findall(r"\w+", text)) for text in (last, output, source)]
    out: dict[str, Tweak] = {}
    for one in tweaks:
        named = [causes.get(cause, 0.0) for cause in one.causes]
        near = [NEAR * layers.get(cause.split(".")[0], 0.0) for cause in one.causes]
        weight = one.weight * (0.5 + CAUSE * max([*named, *near], default=0.0))
        if one.kind in ("unset", "drop") and len(one.name) >= LONG and one.name != "PATH":
            factors = zip(NAMED, seen, strict=True)
            weight *= next((factor for factor, words in factors if one.name in words), 1.0)
            weight *= VALUE if _says_value(one, last, output, environ) else 1.0
        hides = one.kind == "hide" and any(file.startswith(one.value) for file in files)
        weight *= PLACE ** (hides + (one.id in raised))
        if one.id not in out or weight > out[one.id].weight:
            out[one.id] = replace(one, weight=weight)
    return sorted(out.values(), key=lambda one: -one.weight)


def _says_value(one: Tweak, last: str, output: str, environ: Mapping[str, str]) -> bool:
    """A value in the last words (`invalid literal: 'many'`), an entry anywhere in the output."""
    if one.kind == "drop":
        text = one.value.split("=")[0] if one.name.endswith("FLAGS") else one.value
        return len(text) > LONG and text in output
    value = environ.get(one.name, "")
    if not 2 < len(value) < 80 or value.isdigit():
        return False
    return bool(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", last))


def named_in(message: str, tweaks: Sequence[Tweak]) -> list[Tweak]:
    """The same tweaks, those that a new failure speaks of raised and first."""
    words = {word for word in re.findall(r"\w+", message) if len(word) >= LONG} - {"PATH"}
    raised = (replace(one, weight=one.weight * NAMED[0] ** (one.name in words)) for one in tweaks)
    return sorted(raised, key=lambda one: -one.weight)


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
