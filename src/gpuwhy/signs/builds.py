"""What each framework was built for: CUDA or not, this GPU, this system, the extensions on it."""

import re
from typing import Any, NamedTuple

from gpuwhy.facts.fact import Absent, Fact, Known, Source, Undetermined, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, know, saw
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.installs import DamageKind
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.knowledge.archs import MATRIX, first_toolkit, last_toolkit, runs_on
from gpuwhy.knowledge.installs import gpu_flavour
from gpuwhy.knowledge.packages import MAIN, compiles_at_run_time, flavour, is_follower
from gpuwhy.knowledge.platforms import Dropped, dropped
from gpuwhy.knowledge.releases import find
from gpuwhy.signs import say
from gpuwhy.signs.case import Case, rows
from gpuwhy.signs.expect import gpu_present, installed, is_image, offline
from gpuwhy.signs.imports import cause_of, failed
from gpuwhy.signs.installs import borrowed, flavour_conflicts

# ---------------------------------------------------------------- framework.cpu_only

_DIRECTML = {"tensorflow": "tensorflow-directml-plugin", "torch": "torch-directml"}
_ARM_GPU = re.compile(r"(?i)\b(?:GH200|GB\d+|Grace|Orin|Xavier|Thor|Spark|Tegra|Jetson)")
_WIDE = ("x86_64", "aarch64", "arm64")


def built_without_cuda(case: Case) -> Finding | None:
    """A CPU build on a machine with a GPU; beside a GPU framework it may be wanted."""
    one, facts = case.framework, case.facts
    if is_follower(one.name) or one.gpu_build.need() is not False:
        return say.against(f"{case.named} is a build with CUDA, or has no other")
    present, driver = gpu_present(facts), facts.driver.module_version
    disk = case.windows and offline(facts)  # which shows no card, but the driver of one
    if isinstance(present, Unknown) and disk and isinstance(driver, Known):
        present = Known(f"NVIDIA's driver {driver.value}", driver.source)
    gpu = present.need()
    if gpu is None:
        return say.against("this machine has no NVIDIA GPU, so a CPU build is right")
    if right := _cpu_is_right(case):
        return right
    others = [other for other in installed(facts) if other.name != one.name]
    with_gpu = [of for of in others if not is_follower(of.name) and of.gpu_build.need()]
    seen = (
        saw(f"{one.package} {one.version} is built without CUDA", one.gpu_build),
        saw(gpu, present),
    )
    if not with_gpu:
        machine = value_or(facts.system.machine, "")
        arm = is_image(facts) and machine in ("aarch64", "arm64") and not _ARM_GPU.search(gpu)
        where = f" for {machine}, and so is the image: linux/arm64" if arm else ""
        text = f"{case.named} is a build without CUDA{where}, while this machine has {gpu}"
        return say.proof(text, *seen)
    other, kind = say.release(with_gpu[0]), flavour(one.package)
    if one.name not in MAIN or (kind and not kind.cuda):  # a helper, or chosen by its name
        return say.against(f"{other} uses the GPU, and {one.package} is a CPU build")
    beside = f"while {other} in the same environment is one with it"
    return say.weak(f"{case.named} is a build without CUDA, {beside}", *seen)


def _cpu_is_right(case: Case) -> Finding | None:
    """Another way to the GPU, no other build, or one that was written over."""
    one, facts = case.framework, case.facts
    plugin = _DIRECTML.get(one.name, "")
    if any(package.name == plugin for package in value_or(facts.environment.packages, ())):
        return say.against(f"{plugin} lets it use the GPU without CUDA")
    python = value_or(facts.environment.python, None)
    machine = python.machine if python and case.windows else ""
    narrow = bool(machine) and machine not in _WIDE
    row = None if narrow else _no_build_here(case)
    if row is not None or narrow:
        why = row.text if row else "this Python is a 32-bit one"
        return say.against(f"there is no CUDA build to install here: {why}")
    for conflict in flavour_conflicts(facts):
        names = tuple(owner.name for owner in conflict.owners)
        kinds = ((name, flavour(name)) for name in names if gpu_flavour(names))
        rival = next((name for name, kind in kinds if kind and not kind.cuda), "")
        if conflict.module == one.name and rival:
            return say.against(f"{rival} wrote over it")
    return None


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
        return say.against(f"{case.named} is a build without CUDA")
    cards = _cards(case.facts)
    if compiles_at_run_time(one.name):
        fits = say.against(f"{one.title} compiles for the GPU that it finds")
        return _by_toolkit(case, cards) or fits
    if not cards:
        return say.against("this machine has no NVIDIA GPU")
    unread = not isinstance(one.sass, Known) or not isinstance(one.ptx, Known)
    return (_by_toolkit(case, cards) if unread else None) or _by_code(case, cards)


def _by_toolkit(case: Case, cards: list[Card]) -> Finding | None:
    """Where the files do not tell: a CUDA that no longer compiles for the card."""
    fact = case.framework.built_for_cuda
    built = value_or(fact, "")
    if not numbers(built) or not cards:
        return None
    card, lasts = cards[0], [last_toolkit(one.capability) or "" for one in cards]
    if not all(last and numbers(built) > numbers(last) for last in lasts):
        return None
    known = f"CUDA {lasts[0]} is the last that compiles for compute capability {card.capability}"
    return say.strong(
        f"{case.named} is built for CUDA {built}, which has no code for {card.name} ({card.code}) "
        f"any more; CUDA {lasts[0]} was the last that does",
        saw(f"built for CUDA {built}", fact),
        card.seen,
        say.table(known, MATRIX),
    )


def _by_code(case: Case, cards: list[Card]) -> Finding | None:
    """By the machine code and the PTX that its files carry."""
    one, card = case.framework, cards[0]
    sass, ptx = one.sass.need() or (), one.ptx.need() or ()
    if not sass and not ptx:
        raise Undetermined(Unknown(f"no GPU code was found in the files of {case.named}"))
    runs = [runs_on(sass, ptx, each.known.need() or "") for each in cards]
    code = f"{sass[0]} … {sass[-1]}" if len(sass) > 4 else ", ".join(sass)
    named = f"PTX for {', '.join(ptx)}" if ptx else "no PTX"
    carried = f"code for {code} and {named}" if sass else f"only {named}"
    if "no" not in runs:
        slow = _older_than_the_card(case, card, carried) if set(runs) == {"ptx"} else None
        return slow or say.against(f"{case.named} has code that runs on {card.name}")
    card = cards[runs.index("no")]
    text, seen = f"{case.named} has {carried}; {card.name} is {card.code}", saw(carried, one.sass)
    usable = len(cards) - runs.count("no")
    if usable:
        text += f", while {usable} of {len(cards)} GPUs can run it"
        return say.weak(text, seen, card.seen)
    # XLA compiles most of what JAX runs; only its own few kernels are in the files
    return say.sure(one.name != "jax")(text, seen, card.seen)


def _older_than_the_card(case: Case, card: Card, carried: str) -> Finding | None:
    """Only PTX, and a CUDA of the major before the card: its cuDNN does not know it either."""
    built, first = value_or(case.framework.built_for_cuda, ""), first_toolkit(card.capability)
    if not first or not numbers(built) or numbers(built)[0] >= numbers(first)[0]:
        return None
    found = say.strong(
        f"{case.named} has {carried}; {card.name} is {card.code}, so the driver compiles PTX at "
        f"the first start, for minutes, and cuDNN and cuBLAS of CUDA {built} are older than the "
        f"card, which CUDA {first} was the first to support: slow at best, wrong numbers at worst",
        saw(carried, case.framework.sass),
        card.seen,
        say.table(f"CUDA {first} is the first that compiles for it", MATRIX),
    )
    return say.slows(found)


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
            text = f"{case.named} is built for glibc, and the C library here is musl: its import "
            seen = (saw("musl", around.libc), say.table(row.text, row.source))
            return say.strong(f"{text}fails", *seen)
        return say.against(f"{case.named} is a build with CUDA")
    row, system = _no_build_here(case), f"{around.os.need()} {around.machine.need()}"
    if row is None:
        return say.against(f"{case.named} has CUDA builds for {system}")
    if isinstance(gpu_present(case.facts), Absent):
        return say.against("this machine has no NVIDIA GPU")
    one.gpu_build.need()
    system += f" with {libc.name}" if row.libc and libc else ""
    where: Fact[Any] = around.machine if row.machine else around.libc if row.libc else around.os
    text = f"{row.text}; {case.named} on {system} can only use the CPU"
    return say.proof(text, saw(system, where), say.table(row.text, row.source))


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
    name, file = f"{one.package} {one.version}", say.base_name(missing.needed_by)
    listed = know(f"{name} has wheels for {', '.join(wheels)}", Source("know", name))
    return say.proof(
        f"{say.release(one)} is built for Python {version}, whose {missing.name} its {file} needs; "
        f"this is Python {python.version if python else ''}",
        saw(f"needs {missing.name}", Source("file", missing.needed_by)),
        *((listed,) if wheels else ()),
        framework=say.release(one),
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
        return say.against("no compiled library of the environment misses symbols in its PyTorch")
    damage = value_or(facts.installs.damage, ())
    if any(one.kind in _GONE and one.owner.name == "torch" for one in damage):
        return None  # what others miss in it is then no matter of releases
    first = broken[0]
    torch = next((one for one in installed(facts) if one.name == "torch"), None)
    wants = value_or(first.wants, "").removeprefix("==")
    built = f"torch {wants}" if wants[:1].isdigit() else "another torch"
    others = [one.owner.name for one in broken[1:]]
    do = "do not" if others[1:] else "does not"
    also = f"; {say.listed(others)} {do} fit either" if others else ""
    here = f"torch {torch.version}" if torch else "the installed torch"
    asks = [one for one in broken[:2] if value_or(one.wants, "")]
    seen = [saw(f"{o.owner.name} requires torch {value_or(o.wants, '')}", o.wants) for o in asks]
    if torch:
        seen.append(saw(f"installed: torch {torch.version}", Source("folder", torch.path)))
    for one in broken[:3]:
        seen.append(saw(f"misses {one.count}, first {one.symbols[0]}", Source("file", one.path)))
    return say.proof(
        f"{first.owner} was built for {built}: it needs {first.count} functions that {here} does "
        f"not have{also}",
        *seen,
    )


SIGNS = (
    *rows("framework.cpu_only", "framework", built_without_cuda),
    *rows("framework.gpu_unsupported", "framework", no_code_for_it),
    *rows("framework.platform_dropped", "framework", nobody_builds_it, built_for_another_python),
    *rows("framework.extension_abi", "machine", symbols_missing),
)
