"""What can be changed here: the variables, limits, folders, devices and libraries of this machine as tweaks."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from gpuwhy.facts.environment import Python
from gpuwhy.facts.fact import value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.prove.proof import Tweak
from gpuwhy.prove import remedies
from gpuwhy.prove.variables import variables
from gpuwhy.proving.plan import Plan
from gpuwhy.proving import stage

_CUDNN, _CUDA = (
    re.compile(r"libcudnn"),
    re.compile(r"lib(?:cublas|cudart|cufft|cusparse|cusolver|curand|nvrtc|nvJitLink|nccl)"),
)
_DRIVER, _CXX = (
    re.compile(r"libcuda\.so|libnvidia-"),
    re.compile(r"lib(?:stdc\+\+|gomp|gcc_s|c10|torch|tensorflow|jax)"),
)


def tweaks_here(plan: Plan, facts: Facts) -> list[Tweak]:
    """Every tweak that this machine and this program allow."""
    gpus = len(value_or(facts.devices.gpus, ()))
    out = [*_variables(plan), *remedies.limits(plan.limits, stage.may_exceed())]
    out += remedies.places(plan.environ)
    out += remedies.shadows(stage.shadows(plan.argv, _modules(facts), plan.environ))
    out += _user_site(plan, facts)
    out += [remedies.elsewhere()]
    out += remedies.libraries(_own_folders(facts), plan.environ)
    if gpus:
        out += [*remedies.memory(), *remedies.devices(gpus, plan.environ), *remedies.numerics(), *remedies.network()]
    return [remedies.beside(one, plan.environ) for one in out if not _in_place(one, plan)]


def _in_place(one: Tweak, plan: Plan) -> bool:
    """Whether the user's environment has it already."""
    return one.kind == "set" and all(plan.environ.get(name) == value for name, value in one.sets.items())


def _variables(plan: Plan) -> Iterator[Tweak]:
    program = stage.found_program(plan.argv, plan.environ)
    for one in variables(plan.environ, frozenset({program.rpartition("/")[0]})):
        yield _by_contents(one, plan) if one.name in ("LD_LIBRARY_PATH", "LD_PRELOAD") else one


def _by_contents(one: Tweak, plan: Plan) -> Tweak:
    """A folder of libraries stands for the cause that its libraries make: a driver's, cuDNN's, CUDA's, others'."""
    entry = one.value or plan.environ.get(one.name, "")
    names = stage.library_names(entry if one.name == "LD_LIBRARY_PATH" else entry.rpartition("/")[0])
    text = " ".join(names)
    first: tuple[str, ...]
    if _DRIVER.search(text) and not _CUDA.search(text):
        first = (
            ("driver.stub",)
            if "stub" in entry or "/stubs/" in text
            else ("driver.compat_misuse", "driver.library_mismatch", "driver.stub")
        )
    elif _CUDNN.search(text):
        first = ("cudnn.mixed_libraries", "cudnn.version_mismatch", "cuda.mixed_libraries")
    elif _CUDA.search(text):
        first = ("cuda.mixed_libraries", "cuda.version_mismatch")
    elif _CXX.search(text):
        first = ("env.path", "cuda.mixed_libraries", "framework.extension_abi")
    else:
        first = ("env.path", "cuda.mixed_libraries")
    return msgspec.structs.replace(one, causes=tuple(dict.fromkeys((*first, *one.causes))))


def _modules(facts: Facts) -> list[str]:
    """The top-level modules that are installed in the environment."""
    sites = value_or(facts.environment.sites, ())
    names = (name for site in sites for name in stage.module_names(site.path))
    return [name.removesuffix(".py") for name in names]


def _own_folders(facts: Facts) -> list[str]:
    """The folders of CUDA libraries in the environment's wheels."""
    sites = value_or(facts.environment.sites, ())
    return [path for site in sites for path in stage.wheel_folders(site.path)]


def _user_site(plan: Plan, facts: Facts) -> list[Tweak]:
    python: Python | None = value_or(facts.environment.python, None)
    version = ".".join(python.version.split(".")[:2]) if python else ""
    home = plan.environ.get("PYTHONUSERBASE") or f"{plan.environ.get('HOME', '')}/.local"
    there = bool(version) and stage.module_names(f"{home}/lib/python{version}/site-packages")
    return [remedies.user_site()] if there and not plan.environ.get("PYTHONNOUSERSITE") else []
