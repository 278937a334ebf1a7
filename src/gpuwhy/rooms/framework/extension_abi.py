"""framework.extension_abi: a compiled package and the installed framework are of releases that do not fit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.knowledge.companions import going_with
from gpuwhy.model.cause import Case, Cause, Evidence, Finding, Fix, against, proof, saw
from gpuwhy.model.fact import Known, Source, value_or
from gpuwhy.model.facts import Extension, Framework, Imported
from gpuwhy.rooms.shared import imported, spoilt
from gpuwhy.rooms.shared.borrowed import borrowed
from gpuwhy.rooms.shared.commands import change, install
from gpuwhy.rooms.shared.needs import base_name

FOLLOW = ("torchvision", "torchaudio", "xformers", "vllm")
"""Packages whose releases belong to one torch each."""


_PLUGIN = re.compile(r"(?P<file>[^\s:]*/tensorflow-plugins/[^\s:]+\.so): undefined symbol")
GONE = ("missing", "empty", "truncated", "unreadable", "dangling link")


def symbols_missing(case: Case) -> Finding | None:
    """Import of the package ends in an undefined symbol, whatever the GPU."""
    found = case.facts.loads.extensions.need() or ()
    broken = _broken(case)
    if not broken and _is_elsewhere(case, found):
        return None
    if not broken and any(one.count for one in found):
        return against(
            "what misses symbols lies before the environment: env.shadowed", saw("paths", case.facts.target.shadows)
        )
    if not broken:
        many = f"all {len(found)} compiled libraries built on PyTorch find" if found else "no compiled library misses"
        return against(f"{many} their symbols in it", saw("symbol tables compared", case.facts.loads.extensions))
    if _damaged(case):
        return None
    return proof(_said(broken, _framework(case, "torch")), *_evidence(broken, _framework(case, "torch")))


def stray_plugin(case: Case) -> Finding | None:
    """TensorFlow loads every library of a folder beside it at its import; one of them is for another release."""
    one, file = _plugin(case)
    if one is None:
        return None
    text = (
        f"TensorFlow loads every library in tensorflow-plugins at its import, and {base_name(file)} is for another one"
    )
    return proof(
        f"{text}: {imported.told(one)}", saw("loaded at import", Source("file", file)), imported.seen(case, one)
    )


def _plugin(case: Case) -> tuple[Imported | None, str]:
    """The import that such a library ends, and the library."""
    tried = ((one, _PLUGIN.search(one.words)) for one in imported.failing(case))
    return next(((one, said["file"]) for one, said in tried if said), (None, ""))


def _is_elsewhere(case: Case, found: Sequence[Extension]) -> bool:
    """Whether the program names a library that was not among those compared: nothing here clears it."""
    named = [one.get("object") for one in case.symptoms if one.signature == "loader.undefined_symbol"]
    return any(path.startswith("/") and path not in {one.path for one in found} for path in named if path)


def _said(broken: list[Extension], torch: Framework | None) -> str:
    """Who was built for what, and who does not fit either; the symbols are evidence."""
    first = broken[0]
    installed = f"torch {torch.version}" if torch else "the installed torch"
    wants = value_or(first.wants, "").removeprefix("==") if _pinned(first) else ""
    built = f"was built for torch {wants}" if wants and wants[0].isdigit() else "was built for another torch"
    others = [name for name in dict.fromkeys(one.distribution for one in broken) if name != first.distribution]
    also = f"; {' and '.join(others)} {'do' if others[1:] else 'does'} not fit either" if others else ""
    lacks = f"{first.count} function{'s' * (first.count > 1)}"
    return f"{first.distribution} {first.version} {built}: it needs {lacks} that {installed} does not have{also}"


def _evidence(broken: list[Extension], torch: Framework | None) -> Iterator[Evidence]:
    for one in broken[:2]:
        if _pinned(one):
            yield saw(f"{one.distribution} asks for torch {value_or(one.wants, '')}", one.wants)
    if torch:
        yield saw(f"installed: torch {torch.version}", Source("folder", torch.path))
    for one in broken[:3]:
        yield saw(f"misses {one.count}, first {one.symbols[0]}", Source("file", one.path))


def _damaged(case: Case) -> bool:
    """Whether libraries of torch itself are gone or damaged: what others miss in it is then no matter of releases."""
    gone = [one for one in value_or(case.facts.target.damage, ()) if one.what in GONE]
    return any(one.owner.split(" ")[0] == "torch" for one in gone)


def _broken(case: Case) -> list[Extension]:
    """The environment's packages that miss something, each once."""
    unique: dict[str, Extension] = {}
    for one in value_or(case.facts.loads.extensions, ()):
        if one.count and not borrowed(case.facts, one.path):
            unique.setdefault(one.distribution, one)
    return list(unique.values())


def _pinned(one: Extension) -> bool:
    return isinstance(one.wants, Known) and bool(one.wants.value)


def _framework(case: Case, name: str) -> Framework | None:
    return next((f for f in value_or(case.facts.target.frameworks, ()) if f.name == name), None)


def fixes(case: Case) -> tuple[Fix, ...]:
    """Keep the framework and take the release of the rest that belongs to it."""
    if stray_plugin(case):
        return (spoilt.aside(_plugin(case)[1], value_or(case.facts.target.interpreter, None)),)
    return _built_on_torch(case) or (Fix("Build the package again for this framework"),)


def _built_on_torch(case: Case) -> tuple[Fix, ...]:
    """Keep PyTorch and take the package's release for it; or keep the package and take its PyTorch."""
    broken, torch = _broken(case), _framework(case, "torch")
    release = torch.version.split("+")[0] if torch else ""
    known = {one.distribution: _going_with(case, one.distribution, release) for one in broken}
    wanted = [f"{name}=={version}" for name, version in known.items() if version]
    out = [_together(case, wanted, release)] if wanted and release else []
    out += [_built_again(case, one, release) for one in broken if not known[one.distribution]]
    exact = next((b for b in broken if value_or(b.wants, "").startswith("==")), None)
    if exact:
        out.append(_back_to(case, exact))
    return tuple(out)


def _together(case: Case, wanted: list[str], release: str) -> Fix:
    names = " and ".join(one.replace("==", " ") for one in wanted)
    text = f"Install {names}, which {'belongs' if len(wanted) == 1 else 'belong'} to torch {release}"
    return change(case.facts, text, f"torch=={release}", *wanted, because_of="torch", role="part")


def _going_with(case: Case, name: str, torch: str) -> str:
    interpreter = case.facts.target.interpreter
    machine = interpreter.value.machine if isinstance(interpreter, Known) else "x86_64"
    return going_with(name, torch, f"linux-{machine or 'x86_64'}")


def _built_again(case: Case, one: Extension, torch: str) -> Fix:
    """No row knows its releases: the same one is compiled against the torch that is there."""
    text = f"Build {one.distribution} {one.version} again for torch {torch}, or install its release for that torch"
    wanted = f"{one.distribution}=={one.version}" if one.version else one.distribution
    command = install(case.facts, wanted, because_of=one.distribution, again=True)
    command = command.replace(" install ", f" install --no-build-isolation --no-binary {one.distribution} ", 1)
    return Fix(text, command, safe=True, role="part")


def _back_to(case: Case, one: Extension) -> Fix:
    """The torch that a package was built for, with everything else that follows torch."""
    torch = value_or(one.wants, "").removeprefix("==")
    here = [d.name for d in value_or(case.facts.target.distributions, ()) if d.name != one.distribution]
    others = [(name, version) for name in here if name in FOLLOW and (version := _going_with(case, name, torch))]
    text = f"Or go back to torch {torch}, which {one.distribution} {one.version} was built for"
    text += f", with {' and '.join(f'{name} {version}' for name, version in others)}" if others else ""
    wanted = (f"torch=={torch}", *(f"{name}=={version}" for name, version in others))
    return change(case.facts, text, *wanted, because_of="torch")


CAUSE = Cause(
    id="framework.extension_abi",
    title="a compiled package was built for another version of the framework",
    signs=(stray_plugin, symbols_missing),
    fixes=fixes,
    effect="{because}",
)
