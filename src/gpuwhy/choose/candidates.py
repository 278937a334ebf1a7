"""Candidates: the releases of a framework or a companion, each with what it asks for."""

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from gpuwhy.choose.choice import FITS, Judged, Role
from gpuwhy.choose.demand import PYTHONS, parsed, specifier
from gpuwhy.choose.names import NAMES, is_library
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge import installs, torch_builds, tried
from gpuwhy.knowledge.flaws import flawed_on
from gpuwhy.knowledge.floors import floors
from gpuwhy.knowledge.guests import brought, guests, is_guest, requires_python
from gpuwhy.knowledge.needs import caps, split
from gpuwhy.knowledge.needs import floor as compared_with
from gpuwhy.knowledge.pairs import stated, unstated
from gpuwhy.knowledge.releases import Release, family, has_python, projects

TOOLKIT = "cuda-toolkit"
_LINUX = "linux-x86_64"
_PART = re.compile(r"([\w.-]+)\[([\w,-]+)\]")
_MONTHS, _DAYS = 120, 7
"""Days that a companion may be older than its framework, and newer than torch on its index."""
_LEGACY = {"manylinux1": "2.5", "manylinux2010": "2.12", "manylinux2014": "2.17"}


class Candidate(msgspec.Struct, frozen=True, eq=False):
    """One release that may be chosen."""

    root: str  # the framework, or the package itself
    row: Release
    requirement: str
    role: Role
    pythons: frozenset[str]
    needs: tuple[tuple[str, str], ...] = ()  # (package, specifier)
    cuda_major: str = ""  # of the libraries it shares with others; "" = none
    index: str = ""  # cu126: on PyTorch's own index alone
    system: bool = False  # CUDA and cuDNN must be on the system
    glibc: str = ""  # the oldest that its wheels need
    shares: bool = False  # takes the CUDA libraries that torch brings
    here: bool = True  # False: has no wheel for this platform
    verdict: Judged = FITS

    @property
    def version(self) -> str:
        """Its release: 2.20.0."""
        return self.row.version

    @property
    def called(self) -> str:
        """Its package and its release: tensorflow 2.20.0."""
        return f"{self.row.name} {self.row.version}"


def title(root: str) -> str:
    """The name under which caps, installs and platforms know a framework."""
    return "onnxruntime" if root == "onnxruntime-gpu" else root


@lru_cache(maxsize=512)
def candidates(root: str, platform: str, driver_known: bool) -> tuple[Candidate, ...]:
    """Every release of a root on a platform, best first."""
    if root in NAMES.builds:
        return tuple(_builds(root, platform, driver_known))
    if root in ("tensorflow", "torch"):
        return tuple(_tensorflow(platform) if root == "tensorflow" else _torch(platform))
    if root == "jax":
        return tuple(_jax(platform, driver_known))
    if root.startswith(TOOLKIT):
        return tuple(_toolkits(root))
    found = tuple(_other(root, row) for row in rows_of(root, platform))
    elsewhere = () if found else _newest_rows(root)[:1]
    return found or tuple(replace(_other(root, row), here=False) for row in elsewhere)


@lru_cache(maxsize=256)
def sources(root: str) -> tuple[Candidate, ...]:
    """The releases of a companion that are published as source alone, newest first."""
    rows = [row for row in _all_rows(root) if row.platform == "source"]
    rows.sort(key=lambda row: parsed(row.version), reverse=True)
    return tuple(_other(root, row) for row in rows)


# Rows


@lru_cache(maxsize=512)
def rows_of(name: str, platform: str) -> tuple[Release, ...]:
    """The rows that install on a platform, newest first; sources where it never has wheels."""
    rows = [row for row in _all_rows(name) if row.platform in (platform, "any", "source")]
    if any(row.platform != "source" for row in _newest_rows(name)):
        rows = [row for row in rows if row.platform != "source"]
    kept = {row.version: row for row in rows}
    return tuple(sorted(kept.values(), key=lambda row: parsed(row.version), reverse=True))


@lru_cache(maxsize=256)
def _all_rows(name: str) -> tuple[Release, ...]:
    """The rows of a package; where only its metadata was read, they are made of that."""
    known = family(name)
    if known:
        return known.rows
    return tuple(
        Release(
            *(name, one.version, where, one.tags or ("3",), (), "", "", {}, one.uploaded),
            pairs=msgspec.UNSET if one.asks is None else one.asks,
        )
        for one in guests(name)
        for where in one.platforms
    )


@lru_cache(maxsize=256)
def _newest_rows(name: str) -> tuple[Release, ...]:
    """The rows of the newest final release, on any platform."""
    every = _all_rows(name)
    finals = [row for row in every if not parsed(row.version).is_prerelease] or every
    newest = max((row.version for row in finals), key=parsed, default="")
    return tuple(row for row in finals if row.version == newest)


def known_versions(root: str) -> tuple[str, ...]:
    """Every release of a root on any platform, oldest first."""
    names = {root, *_builds_of(root), *NAMES.parts.get(root, ())}
    return tuple(sorted({r.version for name in names for r in _all_rows(name)}, key=parsed))


def _builds_of(root: str) -> list[str]:
    return [name for name in projects() if re.fullmatch(NAMES.builds.get(root, "-"), name)]


# Pythons and the C library


def _pythons(root: str, row: Release) -> frozenset[str]:
    """The Pythons a release installs on: by its tags, by the index, and with what it needs."""
    name, version = row.name, row.version
    demanded = requires_python(name, version)
    if is_guest(name) and family(name) is None:
        demanded = next((one.python for one in guests(name) if one.version == version), "")
    needs = floors(name, version)
    bounds = [cap.requirement for cap in caps(title(root), version)]
    bounds += [text for need in needs for text in need.adds]
    last = min((NAMES.newest_python.get(text, 99) for text in bounds), default=99)
    source = row.platform == "source"
    tagged = frozenset(PYTHONS) if source else _tagged(row.pythons, "-py3" in row.file)
    takes = [specifier(text) for text in (demanded, *(need.python for need in needs)) if text]
    return frozenset(
        python
        for python in tagged - flawed_on(name, version)
        if numbers(python.rstrip("t"))[1:] <= (last,)
        and all(one.contains(f"{python.rstrip('t')}.99") for one in takes)
    )


@lru_cache(maxsize=1024)
def _tagged(tags: tuple[str, ...], pure: bool) -> frozenset[str]:
    if pure:
        tags = tuple(f"{t}+" if t.startswith("3.") and t[-1] not in "+t" else t for t in tags)
    row = Release("", "", "", tags, (), "", "", {})
    every = (*PYTHONS, "2.7", "3.3", "3.4", *(tag for tag in tags if tag.endswith("t")))
    return frozenset(python for python in every if has_python(row, python))


def _glibc(row: Release) -> str:
    """The glibc that the least demanding wheel needs, and those that it pins: vllm's xformers."""
    asks = stated(row.name, row.version).items()
    pins = [(name, re.match(r"==([\w.]+)", wishes[0])) for name, wishes in asks]
    exact = [(n, pin[1]) for n, pin in pins if pin and n in projects() and not is_library(n)]
    beside = [r for n, version in exact for r in rows_of(n, row.platform) if r.version == version]
    return max((_oldest_glibc(one.systems) for one in (row, *beside)), key=numbers)


@lru_cache(maxsize=512)
def _oldest_glibc(systems: tuple[str, ...]) -> str:
    """By the tags of the wheels (PEP 600)."""
    bare = (_LEGACY.get(tag, tag.removeprefix("manylinux_").replace("_", ".")) for tag in systems)
    return min((tag for tag in bare if numbers(tag)), key=numbers, default="")


# Frameworks


def _major(cuda: object) -> str:
    """12 of 12.9; "" where no CUDA is known."""
    return str(numbers(cuda)[0]) if isinstance(cuda, str) and numbers(cuda) else ""


def _make(root: str, row: Release, requirement: str, *, brings: bool, index: str = "") -> Candidate:
    inside = root == "torch" and not brings  # has its libraries inside
    return Candidate(
        root,
        row,
        requirement,
        "framework",
        _pythons(root, row),
        tuple(_wheels(row.requires)) if brings and not index else (),
        "" if inside else _major(row.cuda),
        index,
        not brings and not inside and row.cuda is not None,
        _oldest_glibc(row.systems),
    )


def _tensorflow(platform: str) -> Iterator[Candidate]:
    """TensorFlow; releases whose package of that name is without CUDA have it as tensorflow-gpu."""
    gpu = {r.version: r for r in rows_of("tensorflow-gpu", platform) if r.platform != "source"}
    for row in rows_of("tensorflow", platform):
        chosen = gpu.get(row.version, row) if row.cuda is None else row
        brings = installs.brings_libraries("tensorflow", row.version)
        extra = "[and-cuda]" if chosen is row and brings else ""
        pin = f"{chosen.name}{extra}=={row.version}"
        yield _make("tensorflow", chosen, pin, brings=brings)
        if brings and isinstance(row.cuda, str) and isinstance(row.cudnn, str):
            # without its extra it finds the wheels that torch brings, if their cuDNN fits
            made = _make("tensorflow", chosen, f"tensorflow=={row.version}", brings=True)
            until = numbers(row.cudnn)[0] + 1
            cudnn = (f"nvidia-cudnn-cu{_major(row.cuda)}", f">={major_minor(row.cudnn)},<{until}")
            yield replace(made, needs=(cudnn,), shares=True)


def _torch(platform: str) -> Iterator[Candidate]:
    """The package index first; then the builds that only PyTorch's own index has."""
    rows = rows_of("torch", platform)
    for row in rows:
        if row.cuda is not None:
            brings = isinstance(row.requires, dict)
            yield _make("torch", row, f"torch=={row.version}", brings=brings)
    unset = msgspec.UNSET
    for row in rows:
        ninth = isinstance(row.cudnn, str) and numbers(row.cudnn)[0] >= 9
        for one in torch_builds.variants(row.version, platform.split("-")[1]):
            if one.cuda == row.cuda:
                continue
            code = tuple(sm for sm in one.code if not (ninth and sm.startswith("sm_3"))) or unset
            built = replace(row, cuda=one.cuda, cudnn=unset, sass=code, ptx=(), requires=unset)
            pin = f"torch=={row.version}+{one.backend}"  # pip fails rather than take another build
            yield _make("torch", built, pin, brings=True, index=one.backend)
    for row in rows:
        if row.cuda is None:
            yield _make("torch", row, f"torch=={row.version}", brings=True)


def _jax(platform: str, driver_known: bool) -> Iterator[Candidate]:
    libs = {row.version: row for row in rows_of("jaxlib", platform)}
    majors = ("13", "12")
    plugins = [(m, row) for m in majors for row in rows_of(f"jax-cuda{m}-plugin", platform)]
    first = "13" if driver_known else "12"
    plugins.sort(key=lambda pair: (numbers(pair[1].version), pair[0] == first), reverse=True)
    for major, row in plugins:
        lib = libs.get(row.version)
        if lib is None or not at_least(row.version, installs.FIRST_JAX):
            continue
        extra = f"jax[cuda{major}]"
        made = _make("jax", row, f"{extra}=={row.version}", brings=True)
        needs = made.needs or tuple(_wheels(brought(extra, row.version)))
        both = made.pythons & _pythons("jax", lib)
        glibc = max(made.glibc, _oldest_glibc(lib.systems), key=numbers)
        yield replace(made, needs=needs, pythons=both, glibc=glibc)
    if not plugins:
        for row in libs.values():
            yield _make("jax", row, f"jax=={row.version}", brings=True)


def _builds(root: str, platform: str, driver_known: bool) -> Iterator[Candidate]:
    """A framework that is published under a name for each CUDA release, or under one alone."""
    rows = [row for name in _builds_of(root) for row in rows_of(name, platform)]
    rows.sort(key=lambda row: (parsed(row.version), numbers(str(row.cuda))), reverse=True)
    if not driver_known:  # the CUDA release that most drivers run
        rows.sort(key=lambda r: (parsed(r.version), r.name.endswith("cuda12x")), reverse=True)
    for row in rows:
        own = installs.brings_libraries(title(root), row.version)
        pin = installs.gpu_requirement(title(root), row.name, row.version, None)
        built = row if own else _with_known_cuda(row)
        yield _make(root, built, pin or f"{row.name}=={row.version}", brings=own)


# Companions and libraries


def _other(root: str, row: Release) -> Candidate:
    """A companion of frameworks, or one of NVIDIA's wheels."""
    pin, pythons = f"{root}=={row.version}", _pythons(root, row)
    if is_library(root):
        pairs = row.pairs if isinstance(row.pairs, dict) else {}
        needs = (*pairs.items(), *_wheels(row.requires))
        return Candidate(root, row, pin, "library", pythons, needs, glibc=_glibc(row))
    row = _with_known_cuda(row)
    asked = _asked(row)
    major = _major(row.cuda) if re.fullmatch(NAMES.with_wheels, row.name) else ""
    if not major and row.name == "vllm":  # compiled against one torch of the package index
        torch = asked.get("torch", "").removeprefix("==")
        rows = (one for one in rows_of("torch", _LINUX) if one.version == torch)
        major = next((_major(one.cuda) for one in rows), "")
    system = bool(installs.OPENS_SYSTEM.fullmatch(row.name)) and isinstance(row.cuda, str)
    needs = (*asked.items(), *_wheels(brought(row.name, row.version)))
    made = Candidate(root, row, pin, "companion", pythons, needs, major)
    return replace(made, system=system, glibc=_glibc(row))


def _with_known_cuda(row: Release) -> Release:
    """A row with the CUDA that is known without having been read."""
    known = [need.cuda for need in floors(row.name, row.version) if need.cuda]
    unread = row.cuda is msgspec.UNSET or (isinstance(row.cuda, str) and "." not in row.cuda)
    return replace(row, cuda=known[-1]) if known and unread else row


def _asked(row: Release) -> dict[str, str]:
    """What a release asks of others: by its metadata, and what is known without it."""
    name, version = row.name, row.version
    stated_pairs = row.pairs if isinstance(row.pairs, dict) else unstated(name, version)
    asks = [*stated_pairs.items()]
    asks += [pair for need in floors(name, version) for pair in need.asks.items()]
    asks += [split(known.requirement)] if (known := compared_with(name, version)) else []
    asks += [(host, broken.wants) for host, broken in tried.limits_of(name, version)]
    out: dict[str, str] = {}
    for other, spec in asks:
        clauses = [*out.get(other, "").split(","), *spec.split(",")]
        out[other] = ",".join(dict.fromkeys(filter(None, clauses)))
    if name == "triton":
        beside = [one.version for one in rows_of("torch", _LINUX) if _pins(one.version, version)]
        return out | ({"torch": f">={beside[-1]},<={beside[0]}"} if beside else {})
    if row.platform in ("any", "source") or family(name):
        return out
    for other in ("torch", "tensorflow"):  # metadata seldom says how far a compiled one goes
        if other in out and not set("<=~") & set(out[other].replace(">=", "")):
            newest = _last_until(other, row.uploaded, _MONTHS)
            out[other] = f"{out[other]},<={major_minor(newest) or '0.0'}.99".lstrip(",")
    return out


def _pins(torch: str, triton: str) -> bool:
    wishes = stated("torch", torch).get("triton", ())
    return any(wish.partition(";")[0].strip() == f"=={triton}" for wish in wishes)


@lru_cache(maxsize=512)
def newest_with(name: str, torch: str) -> str:
    """The newest companion published with a torch or before it: its index has no later build."""
    days = (row.uploaded for row in rows_of("torch", _LINUX) if row.version == torch)
    day = max(days, default="")
    return _last_until(name, day, _DAYS) if day else ""


@lru_cache(maxsize=512)
def _last_until(name: str, day: str, more: int) -> str:
    """The newest release some days after a day."""
    limit = (date.fromisoformat(day) + timedelta(days=more)).isoformat() if day else "9"
    known = (parsed(row.version) for row in rows_of(name, _LINUX) if row.uploaded <= limit)
    return str(max((one for one in known if not one.is_prerelease), default=""))


def _wheels(asked: Mapping[str, str] | msgspec.UnsetType) -> Iterator[tuple[str, str]]:
    """NVIDIA's wheels that are known; cuda-toolkit keeps its extras, which name wheels."""
    for name, spec in asked.items() if isinstance(asked, Mapping) else ():
        bare = name.partition("[")[0]
        if bare in projects():
            yield (name if bare == TOOLKIT else bare), spec


def _toolkits(root: str) -> Iterator[Candidate]:
    """The releases of cuda-toolkit with some extras: each needs its wheels."""
    found = _PART.fullmatch(root)
    extras = found[2].split(",") if found else []
    wanted = {f"nvidia-{NAMES.toolkit_extras.get(extra, extra)}" for extra in extras}
    for row in rows_of(TOOLKIT, "any"):
        wheels = (
            (name, spec)
            for name, spec in (row.requires or {}).items()
            if re.sub(r"-cu\d+$", "", name) in wanted and name in projects()
        )
        pin = f"{TOOLKIT}=={row.version}"
        needs = ((TOOLKIT, f"=={row.version}"), *wheels) if found else ()
        yield Candidate(root, row, pin, "library", frozenset(PYTHONS), needs)
