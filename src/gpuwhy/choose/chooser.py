"""choose: which releases go together on a machine; by tables, no process and no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from gpuwhy.choose.candidates import Candidate, known_versions, title
from gpuwhy.choose.choice import Bound, Choice, Needed, Pick, Verdict
from gpuwhy.choose.demand import Demand, Wanted
from gpuwhy.choose.market import Market, holds, meets
from gpuwhy.choose.names import FRAMEWORKS, NAMES, is_library, is_planned, planned_as
from gpuwhy.choose.nearest import beside_the_index, migration, nearest, why_not
from gpuwhy.choose.search import Clash, Found, search
from gpuwhy.choose.verdicts import allows, drives, how_it_runs, least_driver, parsed
from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least, major_minor
from gpuwhy.knowledge import torch_builds
from gpuwhy.knowledge.flaws import flaw as flaw_of
from gpuwhy.knowledge.floors import Floor, floors, notes
from gpuwhy.knowledge.guests import is_guest
from gpuwhy.knowledge.installs import PRELOADS
from gpuwhy.knowledge.needs import Need, caps, caps_to_compile, limits
from gpuwhy.knowledge.packages import flavour
from gpuwhy.knowledge.pairs import stated
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
    reason = no_driver or why_not(demand, market, clash, _possible)
    change = nearest(demand, market.held, proposed, "driver" if no_driver else "")
    return Choice(
        demand,
        tuple(
            Verdict(w.name or w.url, why_not=reason, planned=_is_planned(w))
            for w in market.held
            if not w.constraint
        ),
        passed=market.passed(),
        why_not=reason,
        nearest=change,
        migration=migration(market, change),
        beside=beside_the_index(demand),
    )


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
        held, market = again, Market(demand, again, near)
        found = search(market)
        if isinstance(found, Clash):
            break
        python = found.python
    return market, found


def proposed(demand: Demand, near: Mapping[str, str] | None = None) -> Choice | None:
    """The choice where there is a set; nothing else is tried."""
    market, found = attempt(demand, near)
    return _choice(demand, market, found) if isinstance(found, Found) else None


def _possible(demand: Demand) -> bool:
    return isinstance(attempt(demand)[1], Found)


def applies(one: Wanted, demand: Demand, python: str) -> bool:
    """Whether a requirement's marker holds on the machine; one that nobody can evaluate holds."""
    windows = demand.system == "windows"
    machine = {
        "sys_platform": "win32" if windows else "linux",
        "platform_system": "Windows" if windows else "Linux",
        "platform_machine": "AMD64" if windows else demand.arch,
        "os_name": "nt" if windows else "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    return not one.marker or holds(one.marker, python, machine) is not False


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


def _is_left(one: Wanted) -> bool:
    """Whether a package is left to the installer: a URL, or a package or release nobody read."""
    if one.url or not is_planned(one.name):
        return True
    versions = known_versions(planned_as(one.name)) if one.specifier else ()
    return bool(versions) and not any(allows(one.specifier, version) for version in versions)


def _is_planned(one: Wanted) -> bool:
    return not _is_left(one) or one.name in NAMES.bounded


# A set that fits


def _choice(demand: Demand, market: Market, found: Found) -> Choice:
    order = {name: number for number, name in enumerate(market.asked)}
    every = sorted(found.chosen.values(), key=lambda one: order.get(one.root, len(order)))
    named = {c.root: c for c in every if c.role == "library"}
    libraries = dict(sorted({**found.libraries, **named}.items()))
    held = {name: why for name, one in libraries.items() if (why := _held(one, every, market))}
    picks = tuple(
        _pick(one, demand, one.root in market.asked, _doubt(one, every))
        for one in every
        if one.role != "library"
    )
    wheels = {
        name: _pick(one, demand, name in market.asked or name in held)
        for name, one in libraries.items()
    }
    by_root = {**wheels, **{planned_as(pick.package): pick for pick in picks}}
    verdicts = {
        one.name or one.url: Verdict(
            one.name or one.url, by_root.get(planned_as(one.name)), planned=_is_planned(one)
        )
        for one in market.held
        if not one.constraint
    }
    common = frozenset.intersection(*(one.pythons for one in every)) if every else frozenset()
    limits = [
        f"{why}: {libraries[name].version} is the newest that works here"
        for name, why in held.items()
    ]
    return Choice(
        demand,
        tuple(verdicts.values()),
        found.python,
        tuple(sorted((one for one in common if one[-1] != "t"), key=parsed)),
        picks,
        tuple(pick for name, pick in wheels.items() if "[" not in name),
        _bounds(every),
        _needs(every, demand),
        _environment(every, found.python),
        tuple(p for p in market.passed() if _newer(p.package, p.versions, found)),
        tuple(_others(market, found)),
        _rivals_brought(every),
        tuple(_notes(market, found, every, limits)),
    )


def _doubt(one: Candidate, every: Sequence[Candidate]) -> str:
    """What is not known of a release; of a build of PyTorch's own index, which wheels it pins."""
    beside = (o for o in every if o is not one and any(is_library(name) for name, _ in o.needs))
    other = next(beside, None) if one.index else None
    if one.verdict.doubt or other is None or one.row.platform.startswith("windows"):
        return one.verdict.doubt
    pins = f"which of NVIDIA's wheels the build for CUDA {one.row.cuda} pins was not read"
    return f"{pins}, and {other.called} brings some too"


def _newer(root: str, versions: Sequence[str], found: Found) -> bool:
    """Whether releases that were passed over are newer than the chosen one."""
    one = found.chosen.get(root)
    return one is None or parsed(versions[0]) > parsed(one.version)


def _known(value: object) -> str:
    return value if isinstance(value, str) else ""


def _floors(one: Candidate) -> tuple[Floor, ...]:
    return floors(one.row.name, one.version)


def _pick(one: Candidate, demand: Demand, asked: bool, doubt: str = "") -> Pick:
    row, needs, cuda = one.row, _floors(one), _known(one.row.cuda)
    how = (how_it_runs(row, card) for card in demand.gpus if one.role == "framework")
    own, source = bool(one.index), row.platform == "source"
    return Pick(
        package="jax" if one.root == "jax" else row.name,
        version=row.version,
        requirement=one.requirement,
        role=one.role,
        asked=asked,
        file="" if own else row.file,
        backend=one.index,
        cuda=cuda,
        cudnn=_known(row.cudnn),
        driver=least_driver(cuda, demand.system) if cuda else "",
        runs=next(filter(None, how), ""),
        pythons=tuple(sorted((p for p in one.pythons if p[-1] != "t"), key=parsed)),
        glibc=one.glibc,
        system=one.system,
        build=source and any(need.builds for need in needs),
        sdist=source,
        needs_first=tuple(dict.fromkeys(name for need in needs for name in need.builds)),
        variables=tuple(pair for need in needs for pair in need.variables),
        cured=flaw_of(row.name, row.version) is not None,
        doubt=doubt,
        notes=tuple(_own_notes(one)),
        source=torch_builds.listed_in(row.version, demand.arch) if own else _source(one, "cuda"),
        code_source=torch_builds.source("scripts") if own else _source(one, "sass"),
    )


def _source(one: Candidate, field: str) -> Source | None:
    return evidence_of(one.row, field) if field in one.row.evidence else None


def _held(one: Candidate, every: Sequence[Candidate], market: Market) -> str:
    """Why an installer, left alone, would take a newer wheel that does not work here."""
    specs = ",".join(
        sorted({spec for o in every for name, spec in o.needs if name == one.root and spec})
    )
    for other in market.of(one.root):
        final = not parsed(other.version).is_prerelease
        # an installer reads the C library's tag itself
        if other.verdict.kind != "libc" and final and allows(specs, other.version):
            return other.verdict.why if parsed(other.version) > parsed(one.version) else ""
    return ""


def _bounds(every: Sequence[Candidate]) -> tuple[Bound, ...]:
    """The limits that releases need and do not state."""
    compiles = any(need.compiler for one in every for need in _floors(one))
    out: dict[str, Bound] = {}
    for one in every:
        rows = [*caps(title(one.root), one.version), *_let_in(one)]
        rows += caps_to_compile(title(one.root), one.version) if compiles else ()
        for row in rows:
            out[row.requirement] = Bound(
                row.requirement, f"{one.called}: {row.because}", row.source
            )
        for need in _floors(one):
            why = f"{one.called} needs it and does not ask for it"
            out |= {text: Bound(text, why, need.source) for text in need.adds}
    return tuple(out.values())


def _let_in(one: Candidate) -> Iterator[Need]:
    """Limits without which a release cannot be imported, where its metadata lets more in."""
    said = stated(one.row.name, one.version)
    for row in limits(one.row.name, one.version) if one.role == "framework" else ():
        beyond = f">={row.requirement.partition('<')[2]}"
        wishes = [wish.partition(";")[0].strip() for wish in said.get(row.other, ())]
        if row.stops and not row.late and "<" in row.requirement:
            yield from [row] if any(meets(wish, beyond) for wish in wishes) else ()


def _needs(every: Sequence[Candidate], demand: Demand) -> tuple[Needed, ...]:
    """CUDA and cuDNN of the system, a compiler, and the driver where none is known."""
    out: list[Needed] = []
    torch = next((_known(one.row.cuda) for one in every if one.root == "torch"), "")
    for one in every:
        cuda, cudnn = _known(one.row.cuda), _known(one.row.cudnn)
        if one.system and cuda:
            out.append(Needed("CUDA", cuda, f"{one.called} brings no CUDA libraries"))
            if cudnn and one.root != "cupy":
                out.append(Needed("cuDNN", cudnn, f"{one.called} was compiled with it"))
        when = next((need.compiler for need in _floors(one) if need.compiler), "")
        if when:
            out.append(Needed("nvcc", torch, f"{one.called} is compiled {when}"))
    built = [one for one in every if one.role == "framework" and _known(one.row.cuda)]
    least = [(least_driver(str(one.row.cuda), demand.system), one) for one in built]
    driver, last = max(least, key=lambda pair: parsed(pair[0]), default=("", None))
    if driver and last and not demand.driver_version:
        out.append(Needed("driver", driver, f"{last.called} is built for CUDA {last.row.cuda}"))
    return tuple(out)


def _environment(every: Sequence[Candidate], python: str) -> tuple[tuple[str, str], ...]:
    """Variables without which a release does not find its own wheels."""
    flaws = [flaw_of(one.row.name, one.version) for one in every]
    site = f"$VIRTUAL_ENV/lib/python{python}/site-packages/nvidia"
    folders = [f"{site}/{flaw.cure}/lib" for flaw in flaws if flaw and flaw.cure]
    return (("LD_LIBRARY_PATH", ":".join(folders)),) if folders else ()


def _others(market: Market, found: Found) -> Iterator[Wanted]:
    """What is left to the installer; what is numbered after TensorFlow is held to its series."""
    tensorflow = found.chosen.get("tensorflow")
    for one in filter(_is_left, market.held):
        alike = one.name in NAMES.numbered_alike and not one.specifier and not one.url
        if tensorflow and alike:
            pin = f"=={major_minor(tensorflow.version)}.*"
            yield msgspec.structs.replace(one, specifier=pin, text=f"{one.name}{pin}")
        else:
            yield one


def _rivals_brought(every: Sequence[Candidate]) -> tuple[str, ...]:
    """Packages without CUDA that something of the set asks for and that own the same files."""
    mine = {own.module for o in every if o.root in FRAMEWORKS and (own := flavour(o.row.name))}
    asked = sorted({name for one in every for name, _ in one.needs} & NAMES.same_files)
    return tuple(name for name in asked if (own := flavour(name)) and own.module in mine)


# Notes


def _notes(
    market: Market, found: Found, every: Sequence[Candidate], limits: Sequence[str]
) -> Iterator[str]:
    """What was exchanged, and what is worth knowing of the set."""
    names = [one.name for one in market.held if not one.constraint]
    yield from dict.fromkeys(NAMES.swapped[name] for name in names if name in NAMES.swapped)
    tensorflow, mxnet = found.chosen.get("tensorflow"), found.chosen.get("mxnet")
    own = tensorflow.row.name if tensorflow else ""
    if "tensorflow-gpu" in names and own == "tensorflow":
        yield "tensorflow-gpu ended with 2.12; since 2.1 tensorflow is the same build"
    if tensorflow and "tensorflow" in names and own == "tensorflow-gpu":
        without = f"tensorflow {tensorflow.version} is built without CUDA"
        yield f"{without}: tensorflow-gpu takes its place"
    if mxnet and "mxnet" in names:
        yield f"mxnet is built without CUDA: {mxnet.row.name} takes its place"
    for name, beside, since, text in notes().beside:
        other = found.chosen.get(beside)
        here = any(one.row.name.startswith(name) for one in every)
        if other and here and at_least(other.version, since):
            yield text
    yield from limits
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
    own = [one for one in market.of("torch") if one.index and not one.verdict.kind]
    sure = [one for one in own if not one.verdict.doubt]
    newest = max((torch, *sure), key=lambda one: parsed(one.version))
    if newest is torch:
        return
    pin = Wanted("torch", f"=={newest.version}", constraint=True)
    if isinstance(search(Market(market.demand, [*market.held, pin])), Found):
        release = f"torch {newest.version} for CUDA {newest.row.cuda}"
        yield f"{release} runs here too: ask for torch=={newest.version}"


def _own_notes(one: Candidate) -> Iterator[str]:
    """What is said of one release beside its requirement."""
    flaw = flaw_of(one.row.name, one.version)
    if flaw:
        yield f"{one.called} {flaw.text}: LD_LIBRARY_PATH cures it"
    if title(one.root) in PRELOADS and "[" in one.requirement:
        call = PRELOADS[title(one.root)]
        yield f"{one.row.name} finds these wheels only after {call} or import torch"
    if one.index:
        yield f"torch {one.version} for CUDA {one.row.cuda} is on PyTorch's own index alone"
    if one.shares:
        without = f"{one.called} without its extra and-cuda"
        yield f"{without}: it uses the CUDA libraries that torch brings"
    if one.row.platform == "source" and one.role == "companion":
        yield f"{one.called} has no wheel: it is built where it is installed"
    yield from (need.note for need in _floors(one) if need.note)
