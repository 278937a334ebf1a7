"""What can be done otherwise here, each with its weight: variables, limits, files, settings."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

import msgspec
from msgspec.structs import replace

from gpuwhy.answer.answer import Answer
from gpuwhy.log.ending import Ending
from gpuwhy.machine.live import permitted
from gpuwhy.prove.endings import said
from gpuwhy.prove.proof import Change, Kind, Plan, Tweak

STEERING, UNKNOWN, OF_PATH = 1.0, 0.12, 0.1
"""How likely a variable is that steers the stack, one that nobody knows, an entry of PATH."""
ADVISED, SHADOW, LIMITED, USUAL = 20.0, 8.0, 5.0, 0.03
"""How likely what `explain` advises is, a file beside the program, a limit, one of every system."""
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
MOST_FILES = 1 << 20
"""What a kernel allows one process by default, root too."""


class Limit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A limit of a process, as the shell knows it."""

    words: str
    flag: str
    unit: int = 1024
    usual: int = 1 << 50  # a soft limit from which on nobody has set anything


class Tables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file; the keys of causes, weights, words and misses are expressions."""

    kept: frozenset[str]
    system: frozenset[str]
    lists: dict[str, str]
    causes: dict[str, tuple[str, ...]]
    weights: dict[str, float]
    words: dict[str, tuple[str, ...]]
    misses: dict[str, tuple[str, ...]]
    limits: dict[str, Limit]
    remedy: tuple[Tweak, ...]


@cache
def tables() -> Tables:
    """All rows, checked."""
    text = files("gpuwhy.prove").joinpath("tables.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=Tables)


@cache
def causes_of(name: str) -> tuple[str, ...]:
    """The causes that a variable stands for when the program runs without it."""
    return next(found for row, found in tables().causes.items() if re.fullmatch(row, name))


@cache
def usual(name: str) -> float | None:
    """How often a variable of this name is what matters; None where no row knows it."""
    return next((weight for row, weight in tables().weights.items() if re.match(row, name)), None)


def variables(environ: Mapping[str, str], needed: Collection[str] = ()) -> Iterator[Tweak]:
    """Each variable left out, and each entry of a list; `needed` are folders of PATH that the
    program itself comes from.
    """
    steering = permitted(dict(environ))
    for name, value in environ.items():
        parts, known = list(dict.fromkeys(_split(name, value))), usual(name)
        weight = known if known is not None else STEERING if name in steering else UNKNOWN
        if name == "PATH":
            parts = [one for one in parts if one not in tables().system and one not in needed]
            weight *= OF_PATH
        elif name in tables().kept:
            continue
        elif len(parts) < 2:
            yield unset(name, weight)
            continue
        for one in parts:
            key, text = f"drop {name} {one}", f"without {one} in {name}"
            share, command = weight / len(parts) ** 0.5, f"take {one} out of {name}"
            yield Tweak(key, "drop", text, name, one, causes_of(name), share, command)


def _split(name: str, value: str) -> list[str]:
    """The entries of a variable that is a list; one entry for the others."""
    between = tables().lists.get(name)
    return [one for one in re.split(f"[{between}]", value) if one] if between else [value]


def unset(name: str, weight: float, causes: tuple[str, ...] = ()) -> Tweak:
    """A variable left out as a whole."""
    key, causes = f"unset {name}", causes or causes_of(name)
    return Tweak(key, "unset", f"without {name}", name, "", causes, weight, key)


def limits(plan: Plan) -> Iterator[Tweak]:
    """Each soft limit raised to the hard one, and with the right to beyond that; -1 is none."""
    for name, (soft, hard) in plan.limits.items():
        if soft == -1 or (soft == hard and not plan.may_exceed):
            continue
        row, causes = tables().limits[name], ("env.limit", "memory.host")
        most = hard if soft != hard else MOST_FILES if name == "nofile" else -1
        to = "no limit" if most == -1 else f"{most:,}"
        text = f"with the limit on {row.words} raised from {soft:,} to {to}"
        command = f"ulimit {row.flag} {'unlimited' if most == -1 else most // row.unit}"
        weight = USUAL if soft >= row.usual else LIMITED
        one = Tweak(f"limit {name}", "limit", text, name, "", causes, weight, command)
        yield replace(one, limit=(most, most))


def hard_limits(plan: Plan) -> list[str]:
    """Limits that somebody set and nobody can raise from here, in words."""
    rows = tables().limits
    return [
        f"the limit on {rows[name].words} ({soft:,}) is a hard one and cannot be raised from here:"
        " it was not tested"
        for name, (soft, hard) in plan.limits.items()
        if soft == hard != -1 and not plan.may_exceed and soft < rows[name].usual
    ]


def shadows(paths: Iterable[str]) -> Iterator[Tweak]:
    """Files and folders beside the program that stand in for a module of another."""
    for path in paths:
        folder, _, name = path.rpartition("/")
        causes, command = ("env.shadowed",), f"mv {path} {folder}/my_{name}"
        yield Tweak(f"hide {path}", "hide", f"without {path}", "", path, causes, SHADOW, command)


def settings(environ: Mapping[str, str], gpus: int) -> Iterator[Tweak]:
    """The rows that fit here. One that sets what the user has set is tried alone: together with
    leaving that one out it would hide which of the two helps.
    """
    for row in tables().remedy:
        if gpus >= row.gpus and any(environ.get(name) != to for name, to in row.sets.items()):
            yield replace(row, joins=row.joins and not row.sets.keys() & environ.keys())


def advised(answer: Answer, environ: Mapping[str, str]) -> Iterator[Tweak]:
    """What `explain` advises, as far as a rerun can try it: variables that are set or unset."""
    for cause, fix in ((of, fix) for of in answer.causes for fix in of.fixes):
        weight, causes = ADVISED * cause.confidence, (cause.id,)
        for one in msgspec.to_builtins(fix.action):
            if one["action"] == "unset" and not one.get("entry"):
                gone = (name for name in one["names"] if name in environ)
                yield from (unset(name, weight, causes) for name in gone)
            elif one["action"] == "set" and one.get("kind", "variable") == "variable":
                name, key = one["name"], f"{one['name']}={one['to']}"
                tweak = Tweak(key, "set", f"with {key}", "", "", causes, weight, fix.command)
                yield replace(tweak, sets={name: one["to"]}, joins=name not in environ)


# Several tweaks as one change


def of(tweaks: Iterable[Tweak], kind: Kind) -> list[Tweak]:
    """Those of one kind."""
    return [one for one in tweaks if one.kind == kind]


def _lists(tweaks: Iterable[Tweak], environ: Mapping[str, str]) -> dict[str, list[str]]:
    """By variable of which entries go, those that stay."""
    out: dict[str, list[str]] = {}
    for one in of(tweaks, "drop"):
        kept = out.get(one.name, _split(one.name, environ.get(one.name, "")))
        out[one.name] = [entry for entry in kept if entry != one.value]
    return out


def applied(environ: Mapping[str, str], tweaks: Sequence[Tweak]) -> dict[str, str]:
    """The environment with the tweaks: first what goes, then what comes."""
    lists = _lists(tweaks, environ)
    out = {name: value for name, value in environ.items() if name not in lists}
    out |= {name: tables().lists[name][0].join(kept) for name, kept in lists.items() if kept}
    for one in of(tweaks, "unset"):
        out.pop(one.name, None)
    for one in tweaks:
        out.update(one.sets)
    return out


def in_words(tweaks: Sequence[Tweak], environ: Mapping[str, str]) -> list[Tweak]:
    """The tweaks as they are told: a list whose every entry goes is a variable that is not set."""
    whole = [name for name, kept in _lists(tweaks, environ).items() if not kept]
    told = [unset(one.name, one.weight) if one.name in whole else one for one in tweaks]
    return list({one.id: one for one in told}.values())


def change_of(tweaks: Sequence[Tweak], environ: Mapping[str, str]) -> Change:
    """The tweaks as one change."""
    whole = in_words(tweaks, environ)
    sets = {name: value for one in whole for name, value in one.sets.items()}
    most = {one.name: one.limit[0] for one in of(whole, "limit")}
    drops = of(tweaks, "drop")
    return Change(
        text=" and ".join(one.text for one in whole),
        unset=tuple(one.name for one in of(whole, "unset")),
        set={name: value.replace("{fresh}", "A_FRESH_FOLDER") for name, value in sets.items()},
        drop={n: tuple(o.value for o in drops if o.name == n) for n in (d.name for d in drops)},
        limits={name: "unlimited" if top == -1 else str(top) for name, top in most.items()},
        hide=tuple(one.value for one in of(whole, "hide")),
        command="; ".join(filter(None, dict.fromkeys(one.command for one in whole))),
    )


def named(tweaks: Sequence[Tweak]) -> str:
    """What was changed, in few words."""
    if len(tweaks) <= 3:
        return " and ".join(one.text for one in tweaks) or "as it is"
    return f"{tweaks[0].text} and {len(tweaks) - 1} other changes"


# How likely each is what matters: its usual weight, raised by what the program said


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
        own = [causes.get(cause, 0.0) for cause in one.causes]
        near = [NEAR * layers.get(cause.split(".")[0], 0.0) for cause in one.causes]
        weight = one.weight * (0.5 + CAUSE * max([*own, *near], default=0.0))
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
    missed = [one for one in tweaks if one.removes and one.name in words]
    if missed:
        return missed
    gone = next((ids for row, ids in tables().misses.items() if re.search(row, message)), ())
    return [one for one in tweaks if one.name in gone or one.kind in gone]


def doubt(causes: Mapping[str, float], tweaks: Sequence[Tweak]) -> float:
    """The weight of "none of these": more where the report names what no tweak can change."""
    within = {cause for one in tweaks for cause in one.causes}
    return DOUBT + 3.0 * sum(value for cause, value in causes.items() if cause not in within)
