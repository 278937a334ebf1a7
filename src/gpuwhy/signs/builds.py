"""What each framework was built for: CUDA or not, this GPU, this system, the extensions on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from gpuwhy.facts.fact import Absent, Fact, Known, Source, Undetermined, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, saw
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.installs import DamageKind
from gpuwhy.facts.loads import Extension, MissingLibrary
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge.archs import MATRIX, archs, first_toolkit, last_toolkit, runs_on
from gpuwhy.knowledge.cudnn_rules import oldest_gpu, told_by
from gpuwhy.knowledge.flavours import MAIN, compiles_at_run_time, flavour, is_follower
from gpuwhy.knowledge.installs import gpu_flavour
from gpuwhy.signs import loaded
from gpuwhy.signs.case import Case, against, proof, rows, slows, strong, table, weak
from gpuwhy.signs.conflicts import flavour_conflicts
from gpuwhy.signs.expect import gpu_present
from gpuwhy.signs.imports import cause_of, failed
from gpuwhy.signs.shadows import borrowed

if TYPE_CHECKING:
    from gpuwhy.knowledge.platforms import Dropped

# ---------------------------------------------------------------- framework.cpu_only

_DIRECTML = {"tensorflow": "tensorflow-directml-plugin", "torch": "torch-directml"}
_ARM_GPU = re.compile(r"(?i)\b(?:GH200|GB\d+|Grace|Orin|Xavier|Thor|Spark|Tegra|Jetson)")


def built_without_cuda(case: Case) -> Finding | None:
    """A CPU build on a machine with a GPU; beside a GPU framework it may be wanted."""
    one, facts = case.framework, case.facts
    values = {"package": one.package}
    if is_follower(one.name):
        return against("{framework} has no CPU build of its own", **values)
    if one.gpu_build.need() is not False:
        return against("{framework} is a build with CUDA", **values)
    present = _gpu_or_driver(case)
    gpu = present.need()
    right = _cpu_is_right(case, present)
    if right or gpu is None:
        return right
    if rival := _overwritten(case):
        return against("{rival} wrote over it", rival=rival)
    built = saw(f"{one.package} {one.version} is built without CUDA", one.gpu_build)
    evidence = (built, saw(gpu, present))
    values["gpu"] = gpu
    other = _with_gpu(case)
    if not other:
        arm = _image_for_arm(facts)
        where = " for {machine}, and so is the image: linux/arm64" if arm else ""
        text = f"{{framework}} is a build without CUDA{where}, while this machine has {{gpu}}"
        return proof(text, *evidence, machine=value_or(facts.system.machine, ""), **values)
    values["other"] = other
    if one.name not in MAIN or _says_cpu(one.package):  # a helper, or chosen by its name
        return against("{other} uses the GPU, and {package} is a CPU build", **values)
    text = (
        "{framework} is a build without CUDA, while {other} in the same environment is one with it"
    )
    return weak(text, *evidence, **values)


def _cpu_is_right(case: Case, present: Fact[str]) -> Finding | None:
    """No GPU, another way to it, or no other build."""
    if isinstance(present, Absent):
        text = "this machine has no NVIDIA GPU, so a CPU build is right"
        return against(text)
    packages = case.facts.environment.packages
    plugin = _DIRECTML.get(case.framework.name, "")
    for one in value_or(packages, ()):
        if one.name == plugin:
            return against("{plugin} lets it use the GPU without CUDA", plugin=str(one.owner))
    row = None if is_narrow(case) else no_build_here(case)
    if row is not None or is_narrow(case):
        why = row.text if row else "this Python is a 32-bit one"
        return against("there is no CUDA build to install here: {why}", why=why)
    return None


def _gpu_or_driver(case: Case) -> Fact[str]:
    """The GPU; of a Windows disk, which tells of none, the driver that was installed for one."""
    present, driver = gpu_present(case.facts), case.facts.driver.module_version
    disk = case.windows and isinstance(case.facts.system.offline, Known)
    if isinstance(present, Unknown) and disk and isinstance(driver, Known):
        return Known(f"NVIDIA's driver {driver.value}", driver.source)
    return present


def _image_for_arm(facts: Facts) -> bool:
    """Whether an image is for Arm while the GPU is none of Arm's."""
    image = isinstance(facts.system.offline, Known) and isinstance(facts.system.container, Known)
    arm = image and value_or(facts.system.machine, "") in ("aarch64", "arm64")
    return arm and not _ARM_GPU.search(value_or(gpu_present(facts), ""))


def _with_gpu(case: Case) -> str:
    """Another framework of this environment that is a GPU build."""
    for one in case.facts.frameworks.installed.need() or ():
        if one.name != case.framework.name and not is_follower(one.name) and one.gpu_build.need():
            return f"{one.title} {one.version}"
    return ""


def _overwritten(case: Case) -> str:
    """A flavour without CUDA that shares this framework's files with one that has it."""
    for one in flavour_conflicts(case.facts):
        names = tuple(owner.name for owner in one.owners)
        if one.module == case.framework.name and gpu_flavour(names):
            return next(filter(_says_cpu, names), "")
    return ""


def _says_cpu(package: str) -> bool:
    kind = flavour(package)
    return kind is not None and not kind.cuda


# ---------------------------------------------------------------- framework.gpu_unsupported


class Card(NamedTuple):
    """A GPU as the code of a framework must fit it."""

    name: str
    capability: Fact[str]

    @property
    def code(self) -> str:
        """sm_90."""
        return "sm_" + value_or(self.capability, "").replace(".", "")

    @property
    def seen(self) -> Evidence:
        """The card with its code."""
        return saw(f"{self.name}, {self.code}", self.capability)


def no_code_for_it(case: Case) -> Finding | None:
    """Neither machine code for its architecture nor PTX that the driver could compile."""
    one = case.framework
    if isinstance(one.gpu_build, Absent) or value_or(one.gpu_build, True) is False:
        return against("{framework} is a build without CUDA")
    if compiles_at_run_time(one.name):
        fits = against("{framework} compiles for the GPU that it finds", framework=one.title)
        return _too_old(case, _cards(case.facts)) or fits
    cards = _cards(case.facts)
    if not cards:
        return against("this machine has no NVIDIA GPU")
    unread = not isinstance(one.sass, Known) or not isinstance(one.ptx, Known)
    by_cuda = (_too_new(case, cards) or _too_old(case, cards)) if unread else None
    return by_cuda or _by_code(case, cards)


def _too_old(case: Case, cards: list[Card]) -> Finding | None:
    """Its CUDA no longer compiles for the card, nor do that CUDA's own libraries know it."""
    built = value_or(case.framework.built_for_cuda, "")
    lasts = [last_toolkit(value_or(card.capability, "")) or "" for card in cards]
    gone = all(last and numbers(built) > numbers(last) for last in lasts)
    if not numbers(built) or not lasts or not gone:
        return None
    card, last = cards[0], lasts[0]
    what = f"compute capability {value_or(card.capability, '')}"
    return strong(
        "{framework} is built for CUDA {cuda}, which has no code for {gpu} ({code}) any more; CUDA "
        "{last} was the last that does",
        saw(f"built for CUDA {built}", case.framework.built_for_cuda),
        card.seen,
        table(f"CUDA {last} is the last that compiles for {what}", MATRIX),
        cuda=built,
        gpu=card.name,
        code=card.code,
        last=last,
    )


def _too_new(case: Case, cards: list[Card]) -> Finding | None:
    """Where the files do not tell: a CUDA that could not compile for this generation of cards."""
    built, card = value_or(case.framework.built_for_cuda, ""), cards[0]
    capability = value_or(card.capability, "")
    major = capability.split(".")[0]
    if case.framework.name != "torch" or not major or len(numbers(built)) < 2:
        return None  # others carry PTX, which the driver compiles for newer cards
    same = [one.capability for one in archs() if one.capability.split(".")[0] == major]
    firsts = [first_toolkit(one) for one in same]
    if not firsts or any(first and at_least(built, first) for first in firsts):
        return None
    first = first_toolkit(capability) or ""
    return strong(
        "{framework} is built for CUDA {cuda}, which has no code for the generation of {gpu} "
        "({code}); CUDA {first} was the first that does",
        saw(f"built for CUDA {built}", case.framework.built_for_cuda),
        card.seen,
        table(f"CUDA {first} is the first that compiles for {capability}", MATRIX),
        cuda=built,
        gpu=card.name,
        code=card.code,
        first=first,
    )


def _by_code(case: Case, cards: list[Card]) -> Finding | None:
    """By the machine code and the PTX that its files carry."""
    one = case.framework
    sass, ptx = one.sass.need() or (), one.ptx.need() or ()
    if not sass and not ptx:
        raise Undetermined(Unknown(f"no GPU code was found in the files of {case.named}"))
    unfit = [card for card in cards if runs_on(sass, ptx, card.capability.need() or "") == "no"]
    if not unfit:
        return _older_than_the_card(case, cards, sass, ptx) or _fits(case, cards[0], sass, ptx)
    card = unfit[0]
    carried = _carried(sass, ptx)
    evidence = (saw(carried, one.sass), card.seen)
    values = {"carried": carried, "gpu": card.name, "code": card.code}
    text = "{framework} has {carried}; {gpu} is {code}"
    if len(unfit) < len(cards):
        values["usable"] = f"{len(cards) - len(unfit)} of {len(cards)}"
        return weak(f"{text}, while {{usable}} GPUs can run it", *evidence, **values)
    # XLA compiles most of what JAX runs; only its own few kernels are in the files
    return (strong if one.name == "jax" else proof)(text, *evidence, **values)


def _older_than_the_card(
    case: Case, cards: list[Card], sass: tuple[str, ...], ptx: tuple[str, ...]
) -> Finding | None:
    """Only PTX, and a CUDA of the major before the card: its cuDNN does not know it either."""
    card, built = cards[0], value_or(case.framework.built_for_cuda, "")
    first = first_toolkit(value_or(card.capability, ""))
    compiled = all(runs_on(sass, ptx, value_or(c.capability, "")) == "ptx" for c in cards)
    if not first or not numbers(built) or not compiled or numbers(built)[0] >= numbers(first)[0]:
        return None
    carried = _carried(sass, ptx)
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


def _fits(case: Case, card: Card, sass: tuple[str, ...], ptx: tuple[str, ...]) -> Finding:
    by_ptx = runs_on(sass, ptx, card.capability.need() or "") == "ptx"
    what = "PTX that the driver compiles for" if by_ptx else "code for"
    text = f"{{framework}} has {what} {{gpu}} ({{code}})"
    return against(text, framework=case.named, gpu=card.name, code=card.code)


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
    one = loaded.reporter(tree) if tree else None
    version = value_or(one.version, "") if one else ""
    floor = oldest_gpu(version) if version else ""
    cards = _cards(case.facts) if floor else []
    known = (value_or(card.capability, "") for card in cards)
    if one is None or not cards or not all(c and not at_least(c, floor) for c in known):
        return None
    return proof(
        "{framework} loads cuDNN {version}, which has no code below {floor}; {gpu} is {code}",
        loaded.saw_loaded(one),
        cards[0].seen,
        table(f"cuDNN from 9.11 on needs compute capability {floor} or newer", told_by()),
        version=loaded.short(version),
        floor=f"sm_{floor.replace('.', '')}",
        gpu=cards[0].name,
        code=cards[0].code,
    )


# ---------------------------------------------------------------- framework.platform_dropped


def no_build_here(case: Case) -> Dropped | None:
    """The row that says so, for this framework on this system."""
    from gpuwhy.knowledge.platforms import dropped

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
        row = no_build_here(case) if libc and libc.name == "musl" else None
        if row is not None and row.libc:
            text = (
                "{framework} is built for glibc, and the C library here is musl: its import fails"
            )
            return strong(text, saw("musl", around.libc), table(row.text, row.source))
        return against("{framework} is a build with CUDA")
    row = no_build_here(case)
    system = f"{around.os.need()} {around.machine.need()}"
    values = {"system": system}
    if row is None:
        return against("{framework} has CUDA builds for {system}", **values)
    present = gpu_present(case.facts)
    if isinstance(present, Absent):
        return against("this machine has no NVIDIA GPU")
    one.gpu_build.need()
    if other := _brought_by(case):
        return against("{framework} came with {other}, which requires it", other=other, **values)
    with_libc = f" with {libc.name}" if row.libc and libc else ""
    where: Fact[Any] = around.machine if row.machine else around.libc if row.libc else around.os
    return proof(
        f"{{why}}; {{framework}} on {{system}}{with_libc} can only use the CPU",
        saw(system + with_libc, where),
        table(row.text, row.source),
        why=row.text,
        **values,
    )


def _brought_by(case: Case) -> str:
    """The framework that requires this one and has no build here either: that was installed."""
    packages = case.facts.environment.by_name
    own = case.framework.package
    for other in value_or(case.facts.frameworks.installed, ()):
        package = packages.get(other.package) or packages.get(other.name)
        lines = value_or(package.requires, ()) if package else ()
        wanted = any(re.match(rf"{re.escape(own)}(?![\w.-])", line) for line in lines)
        if other.name != case.framework.name and wanted:
            return f"{other.title} {other.version}"
    return ""


def is_narrow(case: Case) -> bool:
    """Whether the environment's Python is a 32-bit one of Windows."""
    python = value_or(case.facts.environment.python, None)
    machine = python.machine if python and case.windows else ""
    return bool(machine) and machine not in ("x86_64", "aarch64", "arm64")


def other_python(facts: Facts, one: Framework) -> tuple[MissingLibrary, str] | None:
    """The python38.dll that a file of the framework misses, and that Python's version."""
    python = value_or(facts.environment.python, None)
    own = major_minor(python.version) if python else ""
    for tree in value_or(facts.loads.trees, ()):
        for missing in tree.missing if tree.framework == one.name else ():
            found = re.match(r"(?i)python(3)(\d+)\.dll$", missing.name)
            if found and f"{found[1]}.{found[2]}" != own:
                return missing, f"{found[1]}.{found[2]}"
    return None


def published_for(facts: Facts, one: Framework) -> tuple[bool, tuple[str, ...]]:
    """Whether the release has a wheel for the Python at hand, and those that it has."""
    from gpuwhy.knowledge.releases import find

    python = value_or(facts.environment.python, None)
    row = find(one.package, one.version, "windows-x86_64")
    published = row.pythons if row else ()
    return bool(python) and major_minor(python.version if python else "") in published, published


def said_other_python(facts: Facts, one: Framework) -> Finding:
    """Which Python it is built for, and which this is."""
    missing, version = other_python(facts, one) or (None, "")
    assert missing is not None
    python, (_, published) = value_or(facts.environment.python, None), published_for(facts, one)
    name = f"{one.package} {one.version}"
    wheels = Evidence("know", f"{name} has wheels for {', '.join(published)}", Source("know", name))
    return proof(
        "{framework} is built for Python {wanted}, whose {library} its {file} needs; this is "
        "Python {python}",
        saw(f"needs {missing.name}", Source("file", missing.needed_by)),
        *((wheels,) if published else ()),
        framework=f"{one.title} {one.version}",
        wanted=version,
        library=missing.name,
        file=missing.needed_by.rpartition("/")[2],
        python=python.version if python else "",
    )


def built_for_another_python(case: Case) -> Finding | None:
    """Windows: the extension needs another Python's DLL, and there is no wheel for this one."""
    one = case.framework
    if not other_python(case.facts, one) or published_for(case.facts, one)[0]:
        return None
    return said_other_python(case.facts, one)


# ---------------------------------------------------------------- framework.extension_abi

_GONE = (
    *(DamageKind.MISSING, DamageKind.EMPTY, DamageKind.TRUNCATED),
    *(DamageKind.UNREADABLE, DamageKind.DANGLING),
)


def symbols_missing(case: Case) -> Finding | None:
    """Import of the package ends in an undefined symbol, whatever the GPU."""
    facts = case.facts
    found = facts.loads.extensions.need() or ()
    unique: dict[str, Extension] = {}
    for one in found:
        if one.count and not borrowed(facts, one.path):
            unique.setdefault(one.owner.name, one)
    broken = list(unique.values())
    if not broken and any(one.count for one in found):
        return against("what misses symbols lies before the environment")
    if not broken:
        if any(cause_of(facts, one) == "framework.extension_abi" for one in failed(facts)):
            return None
        return against("no compiled library built on PyTorch misses symbols in it")
    damage = value_or(facts.installs.damage, ())
    if any(one.kind in _GONE and one.owner.name == "torch" for one in damage):
        return None  # what others miss in it is then no matter of releases
    return _unfit(facts, broken)


def _unfit(facts: Facts, broken: list[Extension]) -> Finding:
    first = broken[0]
    installed = value_or(facts.frameworks.installed, ())
    torch = next((one for one in installed if one.name == "torch"), None)
    wants = value_or(first.wants, "").removeprefix("==")
    built = "torch {wants}" if wants[:1].isdigit() else "another torch"
    others = tuple(one.owner.name for one in broken[1:])
    also = "; {others} do not fit either" if others[1:] else "; {others} does not fit either"
    release = "torch {torch}" if torch else "the installed torch"
    return proof(
        f"{{package}} was built for {built}: it needs {{count}} functions that {release} does not "
        f"have{also if others else ''}",
        *_evidence(broken, torch),
        package=str(first.owner),
        wants=wants,
        count=first.count,
        torch=torch.version if torch else "",
        others=others,
    )


def _evidence(broken: list[Extension], torch: Framework | None) -> Iterator[Evidence]:
    for one in broken[:2]:
        if value_or(one.wants, ""):
            yield saw(f"{one.owner.name} requires torch {value_or(one.wants, '')}", one.wants)
    if torch:
        yield saw(f"installed: torch {torch.version}", Source("folder", torch.path))
    for one in broken[:3]:
        yield saw(f"misses {one.count}, first {one.symbols[0]}", Source("file", one.path))


SIGNS = (
    *rows("framework.cpu_only", "framework", built_without_cuda),
    *rows("framework.gpu_unsupported", "framework", no_code_for_it, cudnn_has_none),
    *rows("framework.platform_dropped", "framework", nobody_builds_it, built_for_another_python),
    *rows("framework.extension_abi", "machine", symbols_missing),
)
