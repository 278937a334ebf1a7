"""choose: which releases go together on a machine; by tables, no process and no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from packaging.markers import InvalidMarker, Marker, UndefinedEnvironmentName

from gpuwhy.choose.candidates import Candidate, is_library, known_versions
from gpuwhy.choose.candidates import title as titled
from gpuwhy.choose.choice import Bound, Choice, Needed, Pick, Verdict
from gpuwhy.choose.demand import Demand, Wanted
from gpuwhy.choose.market import Market
from gpuwhy.choose.names import (
    BOUNDED,
    FRAMEWORKS,
    NUMBERED_ALIKE,
    SWAPPED,
    is_planned,
    planned_as,
)
from gpuwhy.choose.nearest import nearest
from gpuwhy.choose.search import Clash, Found, search
from gpuwhy.choose.verdicts import allows, drives, how_it_runs, least_driver, parsed
from gpuwhy.choose.why_not import beside_the_index, migration, why_not
from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge import torch_builds
from gpuwhy.knowledge.flavours import flavour
from gpuwhy.knowledge.flaws import flaw as flaw_of
from gpuwhy.knowledge.floors import floors, notes
from gpuwhy.knowledge.guests import is_guest
from gpuwhy.knowledge.installs import PRELOADS
from gpuwhy.knowledge.needs import caps, caps_to_compile
from gpuwhy.knowledge.releases import evidence_of

_CUDA_13 = "580"
"""The first driver branch with CUDA 13."""


def choose(demand: Demand) -> Choice:
    """The releases for a demand; where nothing fits, why, and the nearest change that helps."""
    packages = tuple(_with_cuda_named(one, demand) for one in demand.packages)
    demand = msgspec.structs.replace(demand, packages=packages)
    market, found = attempt(demand)
    no_driver = drives(demand)
    if isinstance(found, Found) and not no_driver:
        return _choice(demand, market, found)
    clash = found if isinstance(found, Clash) else Clash()
    return _refused(demand, market, clash, no_driver)


def attempt(demand: Demand, near: Mapping[str, str] | None = None) -> tuple[Market, Found | Clash]:
    """A set or a clash; `near`: releases to stay close to.

    Markers are read for the Python that comes out.
    """
    python = demand.pythons[0]
    held: list[Wanted] | None = None
    for _ in range(3):
        again = [one for one in demand.packages if applies(one, demand, python)]
        if again == held:
            break
        held = again
        market = Market(demand, held)
        market.near = dict(near or {})
        found = search(market)
        if isinstance(found, Clash):
            break
        python = found.python
    return market, found


def proposed(demand: Demand, near: Mapping[str, str] | None = None) -> Choice | None:
    """The choice where there is a set; nothing else is tried."""
    market, found = attempt(demand, near)
    return _choice(demand, market, found) if isinstance(found, Found) else None


def applies(one: Wanted, demand: Demand, python: str) -> bool:
    """Whether a requirement's marker holds on the machine; one that nobody can evaluate holds."""
    if not one.marker:
        return True
    windows = demand.system == "windows"
    bare = python.rstrip("t")
    environment = {
        "python_version": bare,
        "python_full_version": f"{bare}.0",
        "sys_platform": "win32" if windows else "linux",
        "platform_system": "Windows" if windows else "Linux",
        "platform_machine": "AMD64" if windows else demand.arch,
        "os_name": "nt" if windows else "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "extra": "",
    }
    try:
        return Marker(one.marker).evaluate(environment)
    except (InvalidMarker, UndefinedEnvironmentName):
        return True


def _with_cuda_named(one: Wanted, demand: Demand) -> Wanted:
    """RAPIDS and TensorRT have their CUDA in their names: cudf-cu13 with a driver of CUDA 13."""
    driver = demand.driver_version
    new = bool(driver) and at_least(driver, _CUDA_13)
    if one.name == "tensorrt":
        old = bool(driver) and not (new or one.specifier)
        turing = all(at_least(card.capability, "7.5") for card in demand.gpus)
        ending = "-cu12" if old and turing else ""
    elif one.url or is_planned(one.name) or not is_guest(f"{one.name}-cu12"):
        return one
    else:
        ending = "-cu13" if new and is_guest(f"{one.name}-cu13") else "-cu12"
    return msgspec.structs.replace(one, name=one.name + ending)


def is_left(one: Wanted) -> bool:
    """Whether a package is left to the installer: a URL, or a package or release nobody read."""
    if one.url or not is_planned(one.name):
        return True
    versions = known_versions(planned_as(one.name)) if one.specifier else ()
    return bool(versions) and not any(allows(one.specifier, version) for version in versions)


# A set that fits


def _choice(demand: Demand, market: Market, found: Found) -> Choice:
    order = {name: number for number, name in enumerate(market.asked)}
    every = sorted(found.chosen.values(), key=lambda one: order.get(one.root, len(order)))
    libraries = {**found.libraries, **{c.root: c for c in every if c.role == "library"}}
    doubts = {
        one.root: verdict.doubt
        for name in found.chosen
        for one, verdict in market.of(name)
        if one is found.chosen[name]
    }
    doubts["torch"] = doubts.get("torch", "") or _unread_pins(every)
    picks = tuple(
        _pick(one, demand, market, doubts.get(one.root, ""))
        for one in every
        if one.role != "library"
    )
    held = {name: why for name, one in libraries.items() if (why := _held(one, every, market))}
    others = _others(market, found)
    removes = _rivals_brought(every)
    return Choice(
        demand,
        _verdicts(market, picks, libraries, demand, held),
        found.python,
        _common_pythons(every),
        picks,
        tuple(
            _pick(one, demand, market, "", asked=name in market.asked or name in held)
            for name, one in sorted(libraries.items())
            if "[" not in name
        ),
        _bounds(every),
        _needs(every, demand),
        _environment(every, found.python),
        tuple(p for p in market.passed() if _newer(p.package, p.versions, found)),
        others,
        removes,
        tuple(_notes(market, found, every, {libraries[name]: why for name, why in held.items()})),
    )


def _unread_pins(every: Sequence[Candidate]) -> str:
    """That a build of PyTorch's own index pins wheels nobody read, where others bring some too."""
    torch = next((one for one in every if one.index), None)
    beside = [
        f"{one.row.name} {one.row.version}"
        for one in every
        if one is not torch and any(is_library(name) for name, _ in one.needs)
    ]
    if torch is None or not beside or torch.row.platform.startswith("windows"):
        return ""
    cuda = torch.row.cuda
    return (
        f"which of NVIDIA's wheels the build for CUDA {cuda} pins was not read, and "
        f"{beside[0]} brings some too"
    )


def _newer(root: str, versions: Sequence[str], found: Found) -> bool:
    """Whether releases that were passed over are newer than the chosen one."""
    one = found.chosen.get(root)
    return one is None or parsed(versions[0]) > parsed(one.row.version)


def _pick(
    one: Candidate, demand: Demand, market: Market, doubt: str, asked: bool | None = None
) -> Pick:
    row = one.row
    needs = floors(row.name, row.version)
    cuda = row.cuda if isinstance(row.cuda, str) else ""
    how = (how_it_runs(row, card) for card in demand.gpus if one.role == "framework")
    own = bool(one.index)
    return Pick(
        package="jax" if one.root == "jax" else row.name,
        version=row.version,
        requirement=one.requirement,
        role=one.role,
        asked=one.root in market.asked if asked is None else asked,
        file="" if own else row.file,
        backend=one.index,
        cuda=cuda,
        cudnn=row.cudnn if isinstance(row.cudnn, str) else "",
        driver=least_driver(cuda, demand.system) if cuda else "",
        runs=next((code for code in how if code), ""),
        pythons=tuple(sorted((p for p in one.pythons if p[-1] != "t"), key=parsed)),
        glibc=one.glibc,
        system=one.system,
        build=row.platform == "source" and any(need.builds for need in needs),
        sdist=row.platform == "source",
        needs_first=tuple(dict.fromkeys(name for need in needs for name in need.builds)),
        variables=tuple(pair for need in needs for pair in need.variables),
        cured=flaw_of(row.name, row.version) is not None,
        doubt=doubt,
        notes=tuple(_own_notes(one)),
        source=torch_builds.listed_in(row.version, demand.arch) if own else _evidence(one, "cuda"),
        code_source=torch_builds.source("scripts") if own else _evidence(one, "sass"),
    )


def _evidence(one: Candidate, field: str) -> Source | None:
    return evidence_of(one.row, field) if field in one.row.evidence else None


def _verdicts(
    market: Market,
    picks: Sequence[Pick],
    libraries: Mapping[str, Candidate],
    demand: Demand,
    held: Mapping[str, str],
) -> tuple[Verdict, ...]:
    """One for each named package."""
    by_root = {planned_as(pick.package): pick for pick in picks}
    out: dict[str, Verdict] = {}
    for one in market.held:
        if one.constraint:
            continue
        name = one.name or one.url
        pick = by_root.get(planned_as(one.name))
        if pick is None and one.name in libraries:
            pick = _pick(libraries[one.name], demand, market, "", asked=True)
        out[name] = Verdict(name, pick, planned=not is_left(one) or one.name in BOUNDED)
    return tuple(out.values())


def _common_pythons(every: Sequence[Candidate]) -> tuple[str, ...]:
    common = frozenset.intersection(*(one.pythons for one in every)) if every else frozenset()
    return tuple(sorted((one for one in common if one[-1] != "t"), key=parsed))


def _held(one: Candidate, every: Sequence[Candidate], market: Market) -> str:
    """Why an installer, left alone, would take a newer wheel that does not work here."""
    specs = ",".join(
        sorted({spec for o in every for name, spec in o.needs if name == one.root and spec})
    )
    for other, verdict in market.of(one.root):
        if verdict.kind == "libc":  # an installer reads the same tag
            continue
        if allows(specs, other.row.version) and not parsed(other.row.version).is_prerelease:
            newer = parsed(other.row.version) > parsed(one.row.version)
            return verdict.why if newer else ""
    return ""


def _bounds(every: Sequence[Candidate]) -> tuple[Bound, ...]:
    """The limits that releases need and do not state."""
    compiles = any(need.compiler for o in every for need in floors(o.row.name, o.row.version))
    out: dict[str, Bound] = {}
    for one in every:
        who = f"{one.row.name} {one.row.version}"
        rows = [*caps(titled(one.root), one.row.version)]
        rows += caps_to_compile(titled(one.root), one.row.version) if compiles else ()
        for row in rows:
            out[row.requirement] = Bound(row.requirement, f"{who}: {row.because}", row.source)
        for need in floors(one.row.name, one.row.version):
            for text in need.adds:
                why = f"{who} needs it and does not ask for it"
                out[text] = Bound(text, why, need.source)
    return tuple(out.values())


def _needs(every: Sequence[Candidate], demand: Demand) -> tuple[Needed, ...]:
    """CUDA and cuDNN of the system, a compiler, and the driver where none is known."""
    out: list[Needed] = []
    for one in every:
        who = f"{one.row.name} {one.row.version}"
        if one.system and isinstance(one.row.cuda, str):
            out.append(Needed("CUDA", one.row.cuda, f"{who} brings no CUDA libraries"))
            if isinstance(one.row.cudnn, str) and one.root != "cupy":
                out.append(Needed("cuDNN", one.row.cudnn, f"{who} was compiled with it"))
        rows = floors(one.row.name, one.row.version)
        when = next((need.compiler for need in rows if need.compiler), "")
        if when:
            torch = next((o for o in every if o.root == "torch"), None)
            cuda = torch.row.cuda if torch and isinstance(torch.row.cuda, str) else ""
            out.append(Needed("nvcc", cuda, f"{who} is compiled {when}"))
    built = [(one.row, str(one.row.cuda)) for one in every if one.role == "framework"]
    least = [(least_driver(cuda, demand.system), row) for row, cuda in built if numbers(cuda)]
    driver, row = max(least, key=lambda pair: parsed(pair[0]), default=("", None))
    if driver and row and not demand.driver_version:
        why = f"{row.name} {row.version} is built for CUDA {row.cuda}"
        out.append(Needed("driver", driver, why))
    return tuple(out)


def _environment(every: Sequence[Candidate], python: str) -> tuple[tuple[str, str], ...]:
    """Variables without which a release does not find its own wheels."""
    flaws = [flaw_of(one.row.name, one.row.version) for one in every]
    site = f"$VIRTUAL_ENV/lib/python{python}/site-packages/nvidia"
    folders = [f"{site}/{flaw.cure}/lib" for flaw in flaws if flaw and flaw.cure]
    return (("LD_LIBRARY_PATH", ":".join(folders)),) if folders else ()


def _others(market: Market, found: Found) -> tuple[Wanted, ...]:
    """What is left to the installer; what is numbered after TensorFlow is held to its series."""
    tensorflow = found.chosen.get("tensorflow")
    series = major_minor(tensorflow.row.version) if tensorflow else ""
    out = []
    for one in market.held:
        if not is_left(one):
            continue
        if series and one.name in NUMBERED_ALIKE and not one.specifier and not one.url:
            pin = f"=={series}.*"
            one = msgspec.structs.replace(one, specifier=pin, text=f"{one.name}{pin}")
        out.append(one)
    return tuple(out)


def _rivals_brought(every: Sequence[Candidate]) -> tuple[str, ...]:
    """Packages without CUDA that something of the set asks for and that own the same files."""
    mine = {own.module for o in every if o.root in FRAMEWORKS and (own := flavour(o.row.name))}
    asked = sorted({name for one in every for name, _ in one.needs} & _WITHOUT)
    return tuple(name for name in asked if (own := flavour(name)) and own.module in mine)


_WITHOUT = frozenset({"onnxruntime", "tensorflow-cpu", "tensorflow-intel"})


def _notes(
    market: Market, found: Found, every: Sequence[Candidate], held: Mapping[Candidate, str]
) -> Iterator[str]:
    """What was exchanged, and what is worth knowing of the set."""
    names = [one.name for one in market.held if not one.constraint]
    yield from dict.fromkeys(SWAPPED[name] for name in names if name in SWAPPED)
    tensorflow = found.chosen.get("tensorflow")
    if tensorflow:
        own, version = tensorflow.row.name, tensorflow.row.version
        if "tensorflow-gpu" in names and own == "tensorflow":
            yield "tensorflow-gpu ended with 2.12; since 2.1 tensorflow is the same build"
        if "tensorflow" in names and own == "tensorflow-gpu":
            yield f"tensorflow {version} is built without CUDA: tensorflow-gpu takes its place"
    mxnet = found.chosen.get("mxnet")
    if mxnet and "mxnet" in names:
        yield f"mxnet is built without CUDA: {mxnet.row.name} takes its place"
    for name, beside, since, text in notes().beside:
        other = found.chosen.get(beside)
        if other and any(c.row.name.startswith(name) for c in every):
            yield from [text] if at_least(other.row.version, since) else []
    for library, why in held.items():
        yield f"{why}: {library.row.version} is the newest that works here"
    for one in every:
        yield from _own_notes(one)
    python = market.demand.python
    if python and found.python != python:
        yield f"Python {python} has no wheels of this set: Python {found.python} is needed"
    yield from _newer_on_own_index(market, found)


def _newer_on_own_index(market: Market, found: Found) -> Iterator[str]:
    """A newer torch that runs here too, from PyTorch's own index."""
    torch = found.chosen.get("torch")
    alone = [root for root in found.chosen if root in FRAMEWORKS] == ["torch"]
    if torch is None or torch.index or not alone or market.limits.get("torch") or market.near:
        return
    newest = max(
        (c for c, v in market.of("torch") if c.index and not v.kind and not v.doubt),
        key=lambda one: parsed(one.row.version),
        default=torch,
    )
    if parsed(newest.row.version) <= parsed(torch.row.version):
        return
    pin = Wanted("torch", f"=={newest.row.version}", constraint=True)
    again = Market(market.demand, [*market.held, pin])
    if isinstance(search(again), Found):
        version = newest.row.version
        yield f"torch {version} for CUDA {newest.row.cuda} runs here too: ask for torch=={version}"


def _own_notes(one: Candidate) -> Iterator[str]:
    """What is said of one release beside its requirement."""
    who = f"{one.row.name} {one.row.version}"
    flaw = flaw_of(one.row.name, one.row.version)
    if flaw:
        yield f"{who} {flaw.text}: LD_LIBRARY_PATH cures it"
    if titled(one.root) in PRELOADS and "[" in one.requirement:
        call = PRELOADS[titled(one.root)]
        yield f"{one.row.name} finds these wheels only after {call} or import torch"
    if one.index:
        yield f"torch {one.row.version} for CUDA {one.row.cuda} is on PyTorch's own index alone"
    if one.shares:
        yield f"{who} without its extra and-cuda: it uses the CUDA libraries that torch brings"
    if one.row.platform == "source" and one.role == "companion":
        yield f"{who} has no wheel: it is built where it is installed"
    for need in floors(one.row.name, one.row.version):
        if need.note:
            yield need.note


# Nothing fits


def _refused(demand: Demand, market: Market, clash: Clash, no_driver: str) -> Choice:
    reason = no_driver or why_not(demand, market, clash, _possible)
    must = "driver" if no_driver else ""
    change = nearest(demand, market.held, proposed, must)
    return Choice(
        demand,
        tuple(
            Verdict(w.name or w.url, why_not=reason, planned=not is_left(w) or w.name in BOUNDED)
            for w in market.held
            if not w.constraint
        ),
        passed=market.passed(),
        why_not=reason,
        nearest=change,
        migration=migration(market, change),
        beside=beside_the_index(demand),
    )


def _possible(demand: Demand) -> bool:
    return isinstance(attempt(demand)[1], Found)
