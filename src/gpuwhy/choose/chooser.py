"""choose: which releases go together on a machine; by tables, no process and no network."""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from gpuwhy.choose.candidates import Candidate, known_versions, title
from gpuwhy.choose.choice import FITS, Bound, Choice, Needed, Pick
from gpuwhy.choose.demand import Demand, Wanted, allows, parsed
from gpuwhy.choose.hardware import drives, how_it_runs, least_driver
from gpuwhy.choose.names import FRAMEWORKS, NAMES, framework, is_library, is_planned, planned_as
from gpuwhy.choose.nearest import beside_the_index, nearest, pinned, why_not
from gpuwhy.choose.search import Clash, Found, attempt, search
from gpuwhy.choose.verdicts import Market, meets
from gpuwhy.facts.version import at_least, major_minor
from gpuwhy.knowledge import torch_builds
from gpuwhy.knowledge.flaws import flaw as flaw_of
from gpuwhy.knowledge.floors import floors, notes
from gpuwhy.knowledge.guests import is_guest
from gpuwhy.knowledge.installs import PRELOADS
from gpuwhy.knowledge.needs import caps, caps_to_compile, limits
from gpuwhy.knowledge.packages import flavour
from gpuwhy.knowledge.pairs import stated
from gpuwhy.knowledge.platforms import crossed
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
    reason = no_driver or why_not(demand, market, clash)
    change = nearest(demand, market.held, proposed, "driver" if no_driver else "")
    moves: dict[str, None] = {}  # what changes in a program
    for one in market.held:
        pick = change.to.pick(one.name) if change and framework(one.name) else None
        if pick and one.specifier:
            borders = crossed(framework(one.name), pinned(one), pick.version)
            moves |= {row.text: None for row in borders}
    return Choice(
        demand,
        _unplanned(market),
        passed=market.passed(),
        why_not=reason,
        nearest=change,
        migration=tuple(moves),
        beside=beside_the_index(demand),
    )


def proposed(demand: Demand, near: Mapping[str, str] | None = None) -> Choice | None:
    """The choice where there is a set; nothing else is tried."""
    market, found = attempt(demand, near)
    return _choice(demand, market, found) if isinstance(found, Found) else None


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


def _unplanned(market: Market) -> tuple[str, ...]:
    """The named packages that the installer chooses, within limits that are not all known."""
    left = [w for w in market.held if _is_left(w) and not w.constraint]
    return tuple(dict.fromkeys(w.name or w.url for w in left if w.name not in NAMES.bounded))


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
    wheels = tuple(
        _pick(one, demand, name in market.asked or name in held, one.verdict.doubt)
        for name, one in libraries.items()
        if "[" not in name
    )
    common = frozenset.intersection(*(one.pythons for one in every)) if every else frozenset()
    limits = [
        f"{why}: {libraries[name].version} is the newest that works here"
        for name, why in held.items()
    ]
    newer = (  # than what was chosen
        one
        for one in market.passed()
        if (own := found.chosen.get(one.package)) is None
        or parsed(one.versions[0]) > parsed(own.version)
    )
    cures = [flaw.cure for one in every if (flaw := flaw_of(one.row.name, one.version))]
    site = f"$VIRTUAL_ENV/lib/python{found.python}/site-packages/nvidia"
    folders = ":".join(f"{site}/{cure}/lib" for cure in cures if cure)
    rivals = {flavour(one.row.name) for one in every if one.root in FRAMEWORKS}
    modules = {one.module for one in rivals if one}
    asked = sorted({name for one in every for name, _ in one.needs} & NAMES.same_files)
    return Choice(
        demand,
        _unplanned(market),
        found.python,
        _plain(common),
        picks,
        wheels,
        _bounds(every),
        tuple(_needs(every, demand)),
        (("LD_LIBRARY_PATH", folders),) if folders else (),
        tuple(newer),
        tuple(_others(market, found)),
        tuple(name for name in asked if (rival := flavour(name)) and rival.module in modules),
        (*_notes(market, found, every), *limits, *_own_notes(market, found, every)),
    )


def _plain(pythons: frozenset[str]) -> tuple[str, ...]:
    """Oldest first, without those that are free-threaded."""
    return tuple(sorted((one for one in pythons if one[-1] != "t"), key=parsed))


def _doubt(one: Candidate, every: Sequence[Candidate]) -> str:
    """What is not known of a release; of a build of PyTorch's own index, which wheels it pins."""
    beside = (o for o in every if o is not one and any(is_library(name) for name, _ in o.needs))
    other = next(beside, None) if one.index else None
    if one.verdict.doubt or other is None or one.row.platform.startswith("windows"):
        return one.verdict.doubt
    pins = f"which of NVIDIA's wheels the build for CUDA {one.row.cuda} pins was not read"
    return f"{pins}, and {other.called} brings some too"


def _known(value: object) -> str:
    return value if isinstance(value, str) else ""


def _pick(one: Candidate, demand: Demand, asked: bool, doubt: str) -> Pick:
    row, cuda, own = one.row, _known(one.row.cuda), bool(one.index)
    needs, source = floors(row.name, row.version), row.platform == "source"
    how = (how_it_runs(row, card) for card in demand.gpus if one.role == "framework")
    read = {field: evidence_of(row, field) for field in ("cuda", "sass") if field in row.evidence}
    if own:
        read = {
            "cuda": torch_builds.listed_in(row.version, demand.arch),
            "sass": torch_builds.source("scripts"),
        }
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
        pythons=_plain(one.pythons),
        glibc=one.glibc,
        system=one.system,
        build=source and any(need.builds for need in needs),
        sdist=source,
        needs_first=tuple(dict.fromkeys(name for need in needs for name in need.builds)),
        variables=tuple(pair for need in needs for pair in need.variables),
        cured=flaw_of(row.name, row.version) is not None,
        doubt=doubt,
        notes=tuple(_notes_of(one)),
        source=read.get("cuda"),
        code_source=read.get("sass"),
    )


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
    compiles = any(need.compiler for one in every for need in floors(one.row.name, one.version))
    out: dict[str, Bound] = {}
    for one in every:
        rows = [*caps(title(one.root), one.version)]
        said = stated(one.row.name, one.version)
        for row in limits(one.row.name, one.version) if one.role == "framework" else ():
            # without it the release cannot be imported, and its metadata lets more in
            beyond = f">={row.requirement.partition('<')[2]}"
            wishes = (wish.partition(";")[0].strip() for wish in said.get(row.other, ()))
            if row.stops and not row.late and "<" in row.requirement:
                rows += [row] if any(meets(wish, beyond) for wish in wishes) else []
        rows += caps_to_compile(title(one.root), one.version) if compiles else ()
        for row in rows:
            why = f"{one.called}: {row.because}"
            out[row.requirement] = Bound(row.requirement, why, row.source)
        for need in floors(one.row.name, one.version):
            why = f"{one.called} needs it and does not ask for it"
            out |= {text: Bound(text, why, need.source) for text in need.adds}
    return tuple(out.values())


def _needs(every: Sequence[Candidate], demand: Demand) -> Iterator[Needed]:
    """CUDA and cuDNN of the system, a compiler, and the driver where none is known."""
    torch = next((_known(one.row.cuda) for one in every if one.root == "torch"), "")
    oldest: tuple[str, str] = ("", "")
    for one in every:
        cuda, cudnn = _known(one.row.cuda), _known(one.row.cudnn)
        if one.system and cuda:
            yield Needed("CUDA", cuda, f"{one.called} brings no CUDA libraries")
            if cudnn and one.root != "cupy":
                yield Needed("cuDNN", cudnn, f"{one.called} was compiled with it")
        compilers = [need.compiler for need in floors(one.row.name, one.version) if need.compiler]
        if compilers:
            yield Needed("nvcc", torch, f"{one.called} is compiled {compilers[0]}")
        driver = least_driver(cuda, demand.system) if one.role == "framework" and cuda else ""
        if parsed(driver) > parsed(oldest[0]):
            oldest = (driver, f"{one.called} is built for CUDA {cuda}")
    if oldest[0] and not demand.driver_version:
        yield Needed("driver", *oldest)


def _others(market: Market, found: Found) -> Iterator[Wanted]:
    """What is left to the installer; what is numbered after TensorFlow is held to its series."""
    tensorflow = found.chosen.get("tensorflow")
    for one in filter(_is_left, market.held):
        alike = one.name in NAMES.numbered_alike and not one.specifier and not one.url
        pin = f"=={major_minor(tensorflow.version)}.*" if tensorflow and alike else ""
        text = f"{one.name}{pin}"
        yield msgspec.structs.replace(one, specifier=pin, text=text) if pin else one


# Notes


def _notes(market: Market, found: Found, every: Sequence[Candidate]) -> Iterator[str]:
    """What was exchanged, and what is worth knowing of packages beside each other."""
    names = [one.name for one in market.held if not one.constraint]
    for name, instead, text in NAMES.swapped:
        one = next((one for one in every if re.fullmatch(instead, one.row.name)), None)
        if one and name in names:
            yield text.format(name=one.row.name, version=one.version)
    for name, beside, since, text in notes().beside:
        other = found.chosen.get(beside)
        here = any(one.row.name.startswith(name) for one in every)
        if other and here and at_least(other.version, since):
            yield text


def _own_notes(market: Market, found: Found, every: Sequence[Candidate]) -> Iterator[str]:
    """What is worth knowing of each release; a newer torch of its own index that runs here too."""
    for one in every:
        yield from _notes_of(one)
    python = market.demand.python
    if python and found.python != python:
        yield f"Python {python} has no wheels of this set: Python {found.python} is needed"
    torch = found.chosen.get("torch")
    alone = [root for root in found.chosen if root in FRAMEWORKS] == ["torch"]
    if torch is None or torch.index or not alone or market.limits.get("torch") or market.near:
        return
    own = [one for one in market.of("torch") if one.index and one.verdict == FITS]
    newest = max((torch, *own), key=lambda one: parsed(one.version))
    pin = Wanted("torch", f"=={newest.version}", constraint=True)
    if newest is torch:
        return
    if isinstance(search(Market(market.demand, [*market.held, pin])), Found):
        release = f"torch {newest.version} for CUDA {newest.row.cuda}"
        yield f"{release} runs here too: ask for torch=={newest.version}"


def _notes_of(one: Candidate) -> Iterator[str]:
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
    yield from (need.note for need in floors(one.row.name, one.version) if need.note)
