"""framework.extension_abi: a compiled package and the installed framework are of releases that do not fit."""

from __future__ import annotations

from typing import Literal

from gpuwhy.causes.commands import change, install, python_of
from gpuwhy.knowledge.installs import EXACT_PLUGIN, gpu_requirement
from gpuwhy.model.cause import Case, Cause, Evidence, Finding, Fix, against, know, proof, saw
from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import Absent, Known, Source, value_or
from gpuwhy.model.facts import Distribution, Extension, Framework, Unfit
from gpuwhy.model.version import at_least, major_minor, numbers

COMPANIONS = ("torchvision", "torchaudio", "torchtext")
"""Packages that come in step with PyTorch: the resolver finds their release by their own pins."""


def jaxlib_unfit(case: Case) -> Finding | None:
    """JAX refuses a jaxlib outside its bounds: its import ends there, whatever the GPU."""
    jax = _framework(case, "jax")
    if jax is None:
        return None
    case.facts.target.unfit.need()
    one = _jaxlib(case)
    if one is None:
        return None
    text = f"{jax.title} {jax.version} asks for jaxlib{one.wants}; {one.installed} is installed, so its import fails"
    return proof(text, saw(f"jaxlib{one.wants}", Source("file", one.file)), _saw_installed(case, "jaxlib"))


def _jaxlib(case: Case) -> Unfit | None:
    return next((u for u in value_or(case.facts.target.unfit, ()) if (u.by, u.name) == ("jax", "jaxlib")), None)


def plugin_unfit(case: Case) -> Finding | None:
    """jaxlib uses the CUDA plugin of its own release only; any other it leaves aside, and JAX stays on the CPU."""
    jax, jaxlib, plugin = _framework(case, "jax"), _version(case, "jaxlib"), _plugin(case)
    if jax is None or plugin is None or not jaxlib or isinstance(gpu_present(case.facts), Absent):
        return None
    if _jaxlib(case):
        return None
    if not at_least(jaxlib, EXACT_PLUGIN.since) or numbers(jaxlib) == numbers(plugin.version):
        return None
    return proof(
        f"{jax.title} {jax.version} does not use {plugin.name} {plugin.version}: jaxlib {jaxlib} takes the plugin of "
        "its own release only",
        _saw_installed(case, plugin.name),
        _saw_installed(case, "jaxlib"),
        know(EXACT_PLUGIN.text, EXACT_PLUGIN.source),
    )


def _plugin(case: Case) -> Distribution | None:
    found = value_or(case.facts.target.distributions, ())
    return next((d for d in found if d.name.startswith("jax-cuda") and d.name.endswith("-plugin")), None)


def _version(case: Case, name: str) -> str:
    return next((d.version for d in value_or(case.facts.target.distributions, ()) if d.name == name), "")


def _saw_installed(case: Case, name: str) -> Evidence:
    found = next(d for d in value_or(case.facts.target.distributions, ()) if d.name == name)
    return saw(f"installed: {name} {found.version}", Source("folder", found.location))


def symbols_missing(case: Case) -> Finding | None:
    """Import of the package ends in an undefined symbol, whatever the GPU."""
    found = case.facts.loads.extensions.need() or ()
    broken = _broken(case)
    if not broken and (jaxlib_unfit(case) or plugin_unfit(case)):
        return None
    if not broken:
        many = f"all {len(found)} compiled libraries built on PyTorch find" if found else "no compiled library misses"
        return against(f"{many} their symbols in it", saw("symbol tables compared", case.facts.loads.extensions))
    first, torch = broken[0], _framework(case, "torch")
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


def _framework(case: Case, name: str) -> Framework | None:
    return next((f for f in value_or(case.facts.target.frameworks, ()) if f.name == name), None)


def fixes(case: Case) -> tuple[Fix, ...]:
    """Keep the framework and take the release of the rest that belongs to it."""
    return (*_jax_together(case), *_built_on_torch(case)) or (Fix("Build the package again for this framework"),)


def _jax_together(case: Case) -> tuple[Fix, ...]:
    """JAX, jaxlib and the plugin by one requirement, which pins all of them."""
    jax, plugin = _framework(case, "jax"), _plugin(case)
    if jax is None or not (_jaxlib(case) or plugin_unfit(case)):
        return ()
    major = numbers(plugin.name.removeprefix("jax-cuda")) if plugin else ()
    wanted = gpu_requirement("jax", "jax", jax.version, major[0], python_of(case.facts)) if major else ""
    text = f"Install what belongs to {jax.title} {jax.version}, all of one release"
    part: Literal["part", "remedy"] = "part" if _broken(case) else "remedy"
    return (change(case.facts, text, wanted or f"jax=={jax.version}", because_of="jax", role=part),)


def _built_on_torch(case: Case) -> tuple[Fix, ...]:
    """Keep PyTorch and take the package's release for it; or keep the package and take its PyTorch."""
    broken, torch = _broken(case), _framework(case, "torch")
    release = torch.version.split("+")[0] if torch else ""
    together = [b.distribution for b in broken if b.distribution in COMPANIONS]
    out = []
    if together and release:
        wanted = (f"torch=={release}", *together)
        belongs, whose = ("belongs", "its") if len(together) == 1 else ("belong", "their")
        named = " and ".join(together)
        text = f"Install the {named} that {belongs} to torch {release}; {whose} own pins choose the release"
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
    return tuple(out)


CAUSE = Cause(
    id="framework.extension_abi",
    title="a compiled package was built for another release of the framework",
    signs=(jaxlib_unfit, plugin_unfit, symbols_missing),
    fixes=fixes,
    effect="A compiled package does not fit the installed framework",
)
