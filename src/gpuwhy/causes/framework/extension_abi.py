"""framework.extension_abi: a compiled package asks the installed framework for functions that it does not have."""

from __future__ import annotations

from gpuwhy.causes.commands import change, install
from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, proof, saw
from gpuwhy.model.fact import Known, Source, value_or
from gpuwhy.model.facts import Extension, Framework
from gpuwhy.model.version import major_minor

COMPANIONS = ("torchvision", "torchaudio", "torchtext")
"""Packages that come in step with PyTorch: the resolver finds their release by their own pins."""


def symbols_missing(case: Case) -> Finding | None:
    """Import of the package ends in an undefined symbol, whatever the GPU."""
    found = case.facts.loads.extensions.need() or ()
    broken = _broken(case)
    if not broken:
        many = f"all {len(found)} compiled libraries built on PyTorch find" if found else "no compiled library misses"
        return against(f"{many} their symbols in it", saw("symbol tables compared", case.facts.loads.extensions))
    first, torch = broken[0], _torch(case)
    more = f" and {first.count - 1} more" if first.count > 1 else ""
    version = f"PyTorch {torch.version}" if torch else "the installed PyTorch"
    others = [one for one in dict.fromkeys(b.distribution for b in broken) if one != first.distribution]
    also = f"; {', '.join(others)} likewise" if others else ""
    return proof(
        f"{first.distribution} {first.version} needs {first.symbols[0]}{more}, which {version} does not define{also}",
        *(saw(f"misses {b.count}, first {b.symbols[0]}", Source("file", b.path)) for b in broken[:3]),
        *(saw(f"{b.distribution} asks for torch {value_or(b.wants, '')}", b.wants) for b in broken[:2] if _pinned(b)),
        *((saw(f"installed: torch {torch.version}", Source("folder", torch.path)),) if torch else ()),
    )


def _broken(case: Case) -> list[Extension]:
    """The packages that miss something, each once."""
    unique: dict[str, Extension] = {}
    for one in value_or(case.facts.loads.extensions, ()):
        if one.count:
            unique.setdefault(one.distribution, one)
    return list(unique.values())


def _pinned(one: Extension) -> bool:
    return isinstance(one.wants, Known) and bool(one.wants.value)


def _torch(case: Case) -> Framework | None:
    return next((f for f in value_or(case.facts.target.frameworks, ()) if f.name == "torch"), None)


def fixes(case: Case) -> tuple[Fix, ...]:
    """Keep PyTorch and take the package's release for it; or keep the package and take its PyTorch."""
    broken, torch = _broken(case), _torch(case)
    release = torch.version.split("+")[0] if torch else ""
    together = [b.distribution for b in broken if b.distribution in COMPANIONS]
    out = []
    if together and release:
        wanted = (f"torch=={release}", *together)
        text = f"Install the {' and '.join(together)} that belong to torch {release}; their own pins choose the release"
        out.append(change(case.facts, text, *wanted, because_of="torch", upgrade=True, role="part"))
    for one in broken:
        if one.distribution not in COMPANIONS:
            text = (
                f"Install the release of {one.distribution} built for torch {major_minor(release)}, or build it again"
            )
            command = install(case.facts, one.distribution, because_of=one.distribution, again=True)
            command = command.replace(" install ", " install --no-build-isolation ", 1)  # a build takes this torch
            out.append(Fix(text, command, safe=True, role="part"))
    exact = next((b for b in broken if value_or(b.wants, "").startswith("==")), None)
    if exact:
        text = f"Or go back to the torch that {exact.distribution} was built for"
        out.append(change(case.facts, text, f"torch{value_or(exact.wants, '')}", because_of="torch"))
    return tuple(out) or (Fix("Build the package again under the installed PyTorch"),)


CAUSE = Cause(
    id="framework.extension_abi",
    title="a compiled package was built for another release of the framework",
    signs=(symbols_missing,),
    fixes=fixes,
    effect="A compiled package does not fit the installed PyTorch",
)
