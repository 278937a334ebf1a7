"""What each framework was built for: CUDA or not, this GPU, this system, the extensions on it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from gpuwhy.facts.fact import Absent, Fact, Known, Source, Undetermined, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, know, saw
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.installs import DamageKind
from gpuwhy.facts.loads import Extension
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge.archs import MATRIX, archs, first_toolkit, last_toolkit, runs_on
from gpuwhy.knowledge.cudnn_rules import oldest_gpu, told_by
from gpuwhy.knowledge.installs import gpu_flavour
from gpuwhy.knowledge.packages import MAIN, compiles_at_run_time, flavour, is_follower
from gpuwhy.knowledge.platforms import Dropped, dropped
from gpuwhy.knowledge.releases import find
from gpuwhy.signs import needed
from gpuwhy.signs.case import (
    Case,
    against,
    base_name,
    proof,
    release,
    rows,
    slows,
    strong,
    table,
    weak,
)
from gpuwhy.signs.expect import gpu_present, installed, is_image, offline
from gpuwhy.signs.imports import cause_of, failed
from gpuwhy.signs.installs import borrowed, flavour_conflicts

# ---------------------------------------------------------------- framework.cpu_only

_DIRECTML = {"tensorflow": "tensorflow-directml-plugin", "torch": "torch-directml"}
_ARM_GPU = re.compile(r"(?i)\b(?:GH200|GB\d+|Grace|Orin|Xavier|Thor|Spark|Tegra|Jetson)")


def built_without_cuda(case: Case) -> Finding | None:
    """A CPU build on a machine with a GPU; beside a GPU framework it may be wanted."""
    one, facts = case.framework, case.facts
    if is_follower(one.name) or one.gpu_build.need() is not False:
        return against("{framework} is a build with CUDA, or has no other")
    present, driver = gpu_present(facts), facts.driver.module_version
    disk = case.windows and offline(facts)  # which shows no card, but the driver of one
    if isinstance(present, Unknown) and disk and isinstance(driver, Known):
        present = Known(f"NVIDIA's driver {driver.value}", driver.source)
    gpu = present.need()
    right = _cpu_is_right(case, gpu)
    if right or gpu is None:
        return right
    values = {"package": one.package, "gpu": gpu, "other": _with_gpu(case)}
    built = saw(f"{one.package} {one.version} is built without CUDA", one.gpu_build)
    seen = (built, saw(gpu, present))
    if not values["other"]:
        arm = is_image(facts) and value_or(facts.system.machine, "") in ("aarch64", "arm64")
        arm = arm and not _ARM_GPU.search(value_or(gpu_present(facts), ""))
        where = " for {machine}, and so is the image: linux/arm64" if arm else ""
        text = f"{{framework}} is a build without CUDA{where}, while this machine has {{gpu}}"
        return proof(text, *seen, machine=value_or(facts.system.machine, ""), **values)
    if one.name not in MAIN or _says_cpu(one.package):  # a helper, or chosen by its name
        return against("{other} uses the GPU, and {package} is a CPU build", **values)
    text = (
        "{framework} is a build without CUDA, while {other} in the same environment is one with it"
    )
    return weak(text, *seen, **values)


def _cpu_is_right(case: Case, gpu: str | None) -> Finding | None:
    """No GPU, another way to it, no other build, or one that was written over."""
    if gpu is None:
        return against("this machine has no NVIDIA GPU, so a CPU build is right")
    plugin = _DIRECTML.get(case.framework.name, "")
    if any(one.name == plugin for one in value_or(case.facts.environment.packages, ())):
        return against("{plugin} lets it use the GPU without CUDA", plugin=plugin)
    row = None if _is_narrow(case) else _no_build_here(case)
    if row is not None or _is_narrow(case):
        why = row.text if row else "this Python is a 32-bit one"
        return against("there is no CUDA build to install here: {why}", why=why)
    for one in flavour_conflicts(case.facts):
        names = tuple(owner.name for owner in one.owners)
        rival = next(filter(_says_cpu, names), "") if gpu_flavour(names) else ""
        if one.module == case.framework.name and rival:
            return against("{rival} wrote over it", rival=rival)
    return None


def _with_gpu(case: Case) -> str:
    """Another framework of this environment that is a GPU build."""
    for one in case.facts.frameworks.installed.need() or ():
        if one.name != case.framework.name and not is_follower(one.name) and one.gpu_build.need():
            return release(one)
    return ""


def _says_cpu(package: str) -> bool:
    kind = flavour(package)
    return kind is not None and not kind.cuda


def _is_narrow(case: Case) -> bool:
    """Whether the environment's Python is a 32-bit one of Windows."""
    python = value_or(case.facts.environment.python, None)
    machine = python.machine if python and case.windows else ""
    return bool(machine) and machine not in ("x86_64", "aarch64", "arm64")


# ---------------------------------------------------------------- framework.gpu_unsupported


class Card(NamedTuple):
    """A GPU as the code of a framework must fit it."""

    name: str
    known: Fact[str]

    @property
    def capability(self) -> str:
        """9.0, "" where it is not known."""
        return value_or(self.known, "")

    @property
    def code(self) -> str:
        """sm_90."""
        return "sm_" + self.capability.replace(".", "")

    @property
    def seen(self) -> Evidence:
        """The card with its code."""
        return saw(f"{self.name}, {self.code}", self.known)


def no_code_for_it(case: Case) -> Finding | None:
    """Neither machine code for its architecture nor PTX that the driver could compile."""
    one = case.framework
    if isinstance(one.gpu_build, Absent) or value_or(one.gpu_build, True) is False:
        return against("{framework} is a build without CUDA")
    cards = _cards(case.facts)
    if compiles_at_run_time(one.name):
        fits = against("{framework} compiles for the GPU that it finds", framework=one.title)
        return _too_old(case, cards) or fits
    if not cards:
        return against("this machine has no NVIDIA GPU")
    unread = not isinstance(one.sass, Known) or not isinstance(one.ptx, Known)
    by_cuda = (_too_new(case, cards) or _too_old(case, cards)) if unread else None
    return by_cuda or _by_code(case, cards)


def _too_old(case: Case, cards: list[Card]) -> Finding | None:
    """Its CUDA no longer compiles for the card, nor do that CUDA's own libraries know it."""
    built = value_or(case.framework.built_for_cuda, "")
    lasts = [last_toolkit(card.capability) or "" for card in cards]
    gone = all(last and numbers(built) > numbers(last) for last in lasts)
    if not numbers(built) or not lasts or not gone:
        return None
    text = (
        "{framework} is built for CUDA {cuda}, which has no code for {gpu} ({code}) any more; CUDA "
        "{last} was the last that does"
    )
    known = f"CUDA {lasts[0]} is the last that compiles for compute capability "
    return _by_toolkit(case, cards[0], text, known + cards[0].capability, last=lasts[0])


def _too_new(case: Case, cards: list[Card]) -> Finding | None:
    """Where the files do not tell: a CUDA that could not compile for this generation of cards."""
    built, capability = value_or(case.framework.built_for_cuda, ""), cards[0].capability
    if case.framework.name != "torch" or not capability or len(numbers(built)) < 2:
        return None  # others carry PTX, which the driver compiles for newer cards
    major = capability.split(".")[0]
    same = [one.capability for one in archs() if one.capability.split(".")[0] == major]
    firsts = [first_toolkit(one) for one in same]
    if not firsts or any(first and at_least(built, first) for first in firsts):
        return None
    text = (
        "{framework} is built for CUDA {cuda}, which has no code for the generation of {gpu} "
        "({code}); CUDA {first} was the first that does"
    )
    first = first_toolkit(capability) or ""
    known = f"CUDA {first} is the first that compiles for {capability}"
    return _by_toolkit(case, cards[0], text, known, first=first)


def _by_toolkit(case: Case, card: Card, text: str, known: str, **values: str) -> Finding:
    fact = case.framework.built_for_cuda
    built = value_or(fact, "")
    seen = (saw(f"built for CUDA {built}", fact), card.seen, table(known, MATRIX))
    return strong(text, *seen, cuda=built, gpu=card.name, code=card.code, **values)


def _by_code(case: Case, cards: list[Card]) -> Finding | None:
    """By the machine code and the PTX that its files carry."""
    one, card = case.framework, cards[0]
    sass, ptx = one.sass.need() or (), one.ptx.need() or ()
    if not sass and not ptx:
        raise Undetermined(Unknown(f"no GPU code was found in the files of {case.named}"))
    runs = [runs_on(sass, ptx, each.known.need() or "") for each in cards]
    carried = _carried(sass, ptx)
    if "no" not in runs:
        slow = _older_than_the_card(case, card, carried) if set(runs) == {"ptx"} else None
        return slow or against("{framework} has code that runs on {gpu}", gpu=card.name)
    card = cards[runs.index("no")]
    values = {"carried": carried, "gpu": card.name, "code": card.code}
    text, seen = "{framework} has {carried}; {gpu} is {code}", (saw(carried, one.sass), card.seen)
    usable = len(cards) - runs.count("no")
    if usable:
        text += ", while {usable} GPUs can run it"
        return weak(text, *seen, usable=f"{usable} of {len(cards)}", **values)
    # XLA compiles most of what JAX runs; only its own few kernels are in the files
    return (strong if one.name == "jax" else proof)(text, *seen, **values)


def _older_than_the_card(case: Case, card: Card, carried: str) -> Finding | None:
    """Only PTX, and a CUDA of the major before the card: its cuDNN does not know it either."""
    built, first = value_or(case.framework.built_for_cuda, ""), first_toolkit(card.capability)
    if not first or not numbers(built) or numbers(built)[0] >= numbers(first)[0]:
        return None
    found = strong(
        "{framework} has {carried}; {gpu} is {code}, so the driver compiles PTX at the first "
        "start, for minutes, and cuDNN and cuBLAS of CUDA {cuda} are older than the card, which "
        "CUDA {first} was the first to support: slow at best, errors or wrong numbers at worst",
        saw(carried, case.framework.sass),
        card.seen,
        table(f"CUDA {first} is the first that compiles for it", MATRIX),
        carried=carried,
        gpu=card.name,
        code=card.code,
        cuda=built,
        first=first,
    )
    return slows(found)


def _carried(sass: tuple[str, ...], ptx: tuple[str, ...]) -> str:
    if not sass:
        return f"only PTX for {', '.join(ptx)}"
    code = f"{sass[0]} … {sass[-1]}" if len(sass) > 4 else ", ".join(sass)
    return f"code for {code} and {'PTX for ' + ', '.join(ptx) if ptx else 'no PTX'}"


def _cards(facts: Facts) -> list[Card]:
    """Every GPU that programs see: by NVML, else from the PCI bus."""
    found = value_or(facts.devices.gpus, ())
    if found:
        choice = value_or(facts.devices.visibility, None)
        chosen = [one for one in found if choice and one.index in choice.visible] or found
        return [Card(one.name, one.capability) for one in chosen]
    bus = facts.devices.pci.need() or ()
    names = (value_or(one.name, f"NVIDIA device {one.device_id}") for one in bus)
    return [Card(name, one.capability) for name, one in zip(names, bus, strict=True)]


def cudnn_has_none(case: Case) -> Finding | None:
    """The framework has code for an old GPU, the cuDNN that it loads has dropped it."""
    trees = value_or(case.facts.loads.trees, ())
    tree = next((one for one in trees if one.framework == case.framework.name), None)
    one = needed.reporter(tree) if tree else None
    version = value_or(one.version, "") if one else ""
    floor = oldest_gpu(version) if version else ""
    cards = _cards(case.facts) if floor else []
    old = [card for card in cards if card.capability and not at_least(card.capability, floor)]
    if one is None or not cards or len(old) < len(cards):
        return None
    return proof(
        "{framework} loads cuDNN {version}, which has no code below {floor}; {gpu} is {code}",
        needed.saw_loaded(one),
        cards[0].seen,
        table(f"cuDNN from 9.11 on needs compute capability {floor} or newer", told_by()),
        version=needed.short(version),
        floor=f"sm_{floor.replace('.', '')}",
        gpu=cards[0].name,
        code=cards[0].code,
    )


# ---------------------------------------------------------------- framework.platform_dropped


def _no_build_here(case: Case) -> Dropped | None:
    """The row that says so, for this framework on this system."""
    around, one = case.facts.system, case.framework
    system, machine = around.os.need() or "", around.machine.need() or ""
    libc = around.libc.need() if system == "linux" else None
    stated = f"{libc.name} {libc.version}".strip() if libc else ""
    return dropped(one.name, one.version, system, machine, stated)


def nobody_builds_it(case: Case) -> Finding | None:
    """A CPU build on a system where there is no other."""
    one, around = case.framework, case.facts.system
    libc = value_or(around.libc, None)
    if value_or(one.gpu_build, False):
        row = _no_build_here(case) if libc and libc.name == "musl" else None
        if row is not None and row.libc:
            text = "{framework} is built for glibc, and the C library here is musl: its import "
            seen = (saw("musl", around.libc), table(row.text, row.source))
            return strong(f"{text}fails", *seen)
        return against("{framework} is a build with CUDA")
    row, system = _no_build_here(case), f"{around.os.need()} {around.machine.need()}"
    if row is None:
        return against("{framework} has CUDA builds for {system}", system=system)
    if isinstance(gpu_present(case.facts), Absent):
        return against("this machine has no NVIDIA GPU")
    one.gpu_build.need()
    if other := _brought_by(case):
        return against("{framework} came with {other}, which requires it", other=other)
    with_libc = f" with {libc.name}" if row.libc and libc else ""
    where: Fact[Any] = around.machine if row.machine else around.libc if row.libc else around.os
    return proof(
        f"{{why}}; {{framework}} on {{system}}{with_libc} can only use the CPU",
        saw(system + with_libc, where),
        table(row.text, row.source),
        why=row.text,
        system=system,
    )


def _brought_by(case: Case) -> str:
    """The framework that requires this one and has no build here either: that was installed."""
    packages = case.facts.environment.by_name
    own = re.compile(rf"{re.escape(case.framework.package)}(?![\w.-])")
    for other in installed(case.facts):
        package = packages.get(other.package) or packages.get(other.name)
        lines = value_or(package.requires, ()) if package else ()
        if other.name != case.framework.name and any(map(own.match, lines)):
            return release(other)
    return ""


_PYTHON_DLL = re.compile(r"(?i)python(3)(\d+)\.dll$")


def for_other_python(facts: Facts, one: Framework, published: bool) -> Finding | None:
    """Windows: the extension needs another Python's DLL; whether there is a wheel for this one."""
    python = value_or(facts.environment.python, None)
    own = major_minor(python.version) if python else ""
    trees = (tree for tree in value_or(facts.loads.trees, ()) if tree.framework == one.name)
    named = ((m, _PYTHON_DLL.match(m.name)) for tree in trees for m in tree.missing)
    found = ((m, f"{dll[1]}.{dll[2]}") for m, dll in named if dll)
    missing, version = next((pair for pair in found if pair[1] != own), (None, ""))
    row = find(one.package, one.version, "windows-x86_64") if missing else None
    wheels = row.pythons if row else ()
    if missing is None or (own in wheels) != published:
        return None
    name = f"{one.package} {one.version}"
    listed = know(f"{name} has wheels for {', '.join(wheels)}", Source("know", name))
    return proof(
        "{framework} is built for Python {wanted}, whose {library} its {file} needs; this is "
        "Python {python}",
        saw(f"needs {missing.name}", Source("file", missing.needed_by)),
        *((listed,) if wheels else ()),
        framework=release(one),
        wanted=version,
        library=missing.name,
        file=base_name(missing.needed_by),
        python=python.version if python else "",
    )


def built_for_another_python(case: Case) -> Finding | None:
    """There is no wheel for this one."""
    return for_other_python(case.facts, case.framework, published=False)


# ---------------------------------------------------------------- framework.extension_abi

_GONE = (
    *(DamageKind.MISSING, DamageKind.EMPTY, DamageKind.TRUNCATED),
    *(DamageKind.UNREADABLE, DamageKind.DANGLING),
)


def symbols_missing(case: Case) -> Finding | None:
    """Import of the package ends in an undefined symbol, whatever the GPU."""
    facts = case.facts
    lacking = [one for one in facts.loads.extensions.need() or () if one.count]
    unique = {one.owner.name: one for one in reversed(lacking) if not borrowed(facts, one.path)}
    broken = sorted(unique.values(), key=lacking.index)
    if not broken:
        shown = (cause_of(facts, one) == "framework.extension_abi" for one in failed(facts))
        if not lacking and any(shown):
            return None
        return against("no compiled library of the environment misses symbols in its PyTorch")
    damage = value_or(facts.installs.damage, ())
    if any(one.kind in _GONE and one.owner.name == "torch" for one in damage):
        return None  # what others miss in it is then no matter of releases
    first = broken[0]
    torch = next((one for one in installed(facts) if one.name == "torch"), None)
    wants = value_or(first.wants, "").removeprefix("==")
    built = "torch {wants}" if wants[:1].isdigit() else "another torch"
    others = tuple(one.owner.name for one in broken[1:])
    also = "; {others} do not fit either" if others[1:] else "; {others} does not fit either"
    here = "torch {torch}" if torch else "the installed torch"
    return proof(
        f"{{package}} was built for {built}: it needs {{count}} functions that {here} does not "
        f"have{also if others else ''}",
        *_evidence(broken, torch),
        package=str(first.owner),
        wants=wants,
        count=first.count,
        torch=torch.version if torch else "",
        others=others,
    )


def _evidence(broken: list[Extension], torch: Framework | None) -> list[Evidence]:
    wants = [one for one in broken[:2] if value_or(one.wants, "")]
    out = [saw(f"{o.owner.name} requires torch {value_or(o.wants, '')}", o.wants) for o in wants]
    if torch:
        out.append(saw(f"installed: torch {torch.version}", Source("folder", torch.path)))
    files = [(one, Source("file", one.path)) for one in broken[:3]]
    return [*out, *(saw(f"misses {o.count}, first {o.symbols[0]}", file) for o, file in files)]


SIGNS = (
    *rows("framework.cpu_only", "framework", built_without_cuda),
    *rows("framework.gpu_unsupported", "framework", no_code_for_it, cudnn_has_none),
    *rows("framework.platform_dropped", "framework", nobody_builds_it, built_for_another_python),
    *rows("framework.extension_abi", "machine", symbols_missing),
)
