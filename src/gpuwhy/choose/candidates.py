"""Candidates: the releases of a framework or a companion, each with what it asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from functools import cache, lru_cache

import msgspec

from gpuwhy.choose import verdicts
from gpuwhy.choose.choice import Role
from gpuwhy.choose.demand import PYTHONS, Demand
from gpuwhy.choose.names import FRAMEWORKS, planned_as
from gpuwhy.choose.verdicts import oldest_glibc, parsed, pythons_of, takes_python
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge import installs, torch_builds, tried
from gpuwhy.knowledge.floors import floors
from gpuwhy.knowledge.guests import Guest, brought, guests, is_guest, requires_python
from gpuwhy.knowledge.needs import caps, split
from gpuwhy.knowledge.needs import floor as compared_with
from gpuwhy.knowledge.pairs import stated, unstated
from gpuwhy.knowledge.releases import Release, family, projects

TOOLKIT = "cuda-toolkit"
_BUILDS = {
    "cupy": re.compile("cupy-cuda.+"),
    "mxnet": re.compile(r"mxnet-cu(80|90|91|92|100|101|102|110|112)"),  # newer: somebody else's
    "onnxruntime-gpu": re.compile("onnxruntime-gpu"),
}
"""Frameworks by the names of their builds."""
_PART = re.compile(r"([\w.-]+)\[([\w,-]+)\]")
_LIBRARY = re.compile(r"nvidia-(?!tensorrt|dali).+|cuda-toolkit.*|cutensor.*")
_TOOLKIT_EXTRAS = {
    "cudart": "cuda-runtime",
    "cupti": "cuda-cupti",
    "nvrtc": "cuda-nvrtc",
    "nvcc": "cuda-nvcc",
}
_COMPILED_FOR_TORCH = frozenset({"vllm"})
_WITH_WHEELS = re.compile(r"xformers|ctranslate2|vllm|(cu(df|ml|graph|cim)|cuquantum-python)-cu\d+")
"""Companions that use NVIDIA's wheels of their own CUDA major beside torch's."""
_NEWEST_PYTHON = {"numpy<1.24": 11, "numpy<2": 12, "scipy<1.13": 12, "pillow<7": 8}
"""The last Python 3 minor for which there is a wheel within a bound."""
_MONTHS, _DAYS = 4, 7


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
    glibc: str = ""
    shares: bool = False  # takes the CUDA libraries that torch brings
    here: bool = True  # False: has no wheel for this platform


def title(root: str) -> str:
    """The name under which caps, installs and platforms know a framework."""
    return "onnxruntime" if root == "onnxruntime-gpu" else root


def candidates(root: str, demand: Demand) -> tuple[Candidate, ...]:
    """Every release of a root on a platform, best first."""
    return _candidates(root, demand.platform, bool(demand.driver_version))


@lru_cache(maxsize=512)
def _candidates(root: str, platform: str, driver_known: bool) -> tuple[Candidate, ...]:
    if root in _BUILDS:
        return tuple(_builds(root, platform, driver_known))
    if root in ("tensorflow", "torch"):
        return tuple(_tensorflow(platform) if root == "tensorflow" else _torch(platform))
    if root == "jax":
        return tuple(_jax(platform, driver_known))
    if root.startswith(TOOLKIT):
        return tuple(_toolkits(root))
    role: Role = "library" if _LIBRARY.fullmatch(root) else "companion"
    found = [_plain(root, row, role) for row in rows_of(root, platform)]
    if found:
        return tuple(found)
    newest = [_plain(root, row, role) for row in _newest_rows(root)[:1]]
    return tuple(msgspec.structs.replace(one, here=False) for one in newest)


@lru_cache(maxsize=256)
def sources(root: str) -> tuple[Candidate, ...]:
    """The releases of a companion that are published as source alone, newest first."""
    rows = [row for row in _all_rows(root) if row.platform == "source"]
    rows.sort(key=lambda row: parsed(row.version), reverse=True)
    return tuple(_plain(root, row, "companion") for row in rows)


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
    known = family(name)
    if known:
        return known.rows
    return tuple(row for guest in guests(name) for row in _of_guest(name, guest))


def _of_guest(name: str, guest: Guest) -> Iterator[Release]:
    """The rows of a package of which only the metadata was read."""
    pairs = msgspec.UNSET if guest.asks is None else guest.asks
    tags = guest.tags or ("3",)
    for where in guest.platforms:
        yield Release(name, guest.version, where, tags, (), "", "", {}, guest.uploaded, pairs=pairs)


@lru_cache(maxsize=256)
def _newest_rows(name: str) -> tuple[Release, ...]:
    """The rows of the newest final release, on any platform."""
    every = _all_rows(name)
    finals = [row for row in every if not verdicts.is_preview(row.version)] or every
    newest = max((row.version for row in finals), key=parsed, default="")
    return tuple(row for row in finals if row.version == newest)


def known_versions(root: str) -> tuple[str, ...]:
    """Every release of a root on any platform, oldest first."""
    more = {"tensorflow": ["tensorflow-gpu"], "jax": ["jaxlib"], "onnxruntime-gpu": ["onnxruntime"]}
    pattern = _BUILDS.get(root)
    builds = [name for name in projects() if pattern and pattern.fullmatch(name)]
    names = {root, *builds, *more.get(root, [])}
    return tuple(sorted({r.version for name in names for r in _all_rows(name)}, key=parsed))


def demanded_python(name: str, version: str) -> str:
    """What a release demands of Python, by the index."""
    if is_guest(name) and family(name) is None:
        return _of_guests(name).get(version, "")
    return requires_python(name, version)


@lru_cache(maxsize=256)
def _of_guests(name: str) -> dict[str, str]:
    return {guest.version: guest.python for guest in guests(name)}


# Frameworks


def _make(root: str, row: Release, requirement: str, *, brings: bool, index: str = "") -> Candidate:
    major = str(numbers(row.cuda)[0]) if isinstance(row.cuda, str) and numbers(row.cuda) else ""
    inside = bool(index) or (root == "torch" and not brings)  # has its libraries inside
    return Candidate(
        root,
        row,
        requirement,
        "framework",
        _pythons(root, row),
        tuple(_wheels(row.requires)) if brings and not index and row.requires else (),
        "" if inside and root == "torch" and not index else major,
        index,
        not brings and not inside and row.cuda is not None,
        oldest_glibc(row.systems),
    )


def _pythons(root: str, row: Release) -> frozenset[str]:
    """The Pythons a release installs on, with what it needs beside it."""
    found = pythons_of(row, demanded_python(row.name, row.version))
    bounds = [cap.requirement for cap in caps(title(root), row.version)]
    needs = floors(row.name, row.version)
    bounds += [text for need in needs for text in need.adds]
    last = min((_NEWEST_PYTHON[text] for text in bounds if text in _NEWEST_PYTHON), default=99)
    return frozenset(
        one
        for one in found
        if numbers(one.rstrip("t"))[1:] <= (last,)
        and all(takes_python(n.python, one) for n in needs)
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
            yield _sharing(chosen)


def _sharing(row: Release) -> Candidate:
    """TensorFlow without its extra: it finds the wheels that torch brings, if their cuDNN fits."""
    cuda, cudnn = numbers(str(row.cuda))[0], numbers(str(row.cudnn))
    made = _make("tensorflow", row, f"tensorflow=={row.version}", brings=True)
    fits = f">={'.'.join(map(str, cudnn[:2]))},<{cudnn[0] + 1}"
    return msgspec.structs.replace(made, needs=((f"nvidia-cudnn-cu{cuda}", fits),), shares=True)


def _torch(platform: str) -> Iterator[Candidate]:
    """The package index first; then the builds that only PyTorch's own index has."""
    rows = rows_of("torch", platform)
    for row in rows:
        if row.cuda is not None:
            brings = isinstance(row.requires, dict)
            yield _make("torch", row, f"torch=={row.version}", brings=brings)
    for row in rows:
        for one in torch_builds.variants(row.version, platform.split("-")[1]):
            if one.cuda != row.cuda:
                yield _of_own_index(row, one)
    for row in rows:
        if row.cuda is None:
            yield _make("torch", row, f"torch=={row.version}", brings=True)


def _of_own_index(row: Release, one: torch_builds.Variant) -> Candidate:
    """A build of PyTorch's own index; its label makes pip fail rather than take another build."""
    ninth = isinstance(row.cudnn, str) and numbers(row.cudnn)[0] >= 9
    code = tuple(sm for sm in one.code if not (ninth and sm.startswith("sm_3")))
    built = msgspec.structs.replace(
        row,
        cuda=one.cuda,
        cudnn=msgspec.UNSET,
        sass=code or msgspec.UNSET,
        ptx=(),
        requires=msgspec.UNSET,
    )
    pin = f"torch=={row.version}+{one.backend}"
    return _make("torch", built, pin, brings=True, index=one.backend)


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
        made = _make("jax", row, f"jax[cuda{major}]=={row.version}", brings=True)
        needs = made.needs or tuple(_wheels(brought(f"jax[cuda{major}]", row.version)))
        both = made.pythons & _pythons("jax", lib)
        glibc = max(made.glibc, oldest_glibc(lib.systems), key=numbers)
        yield msgspec.structs.replace(made, needs=needs, pythons=both, glibc=glibc)
    if not plugins:
        for row in libs.values():
            yield _make("jax", row, f"jax=={row.version}", brings=True)


def _builds(root: str, platform: str, driver_known: bool) -> Iterator[Candidate]:
    """A framework that is published under a name for each CUDA release, or under one alone."""
    names = [name for name in projects() if _BUILDS[root].fullmatch(name)]
    rows = [row for name in names for row in rows_of(name, platform)]
    rows.sort(key=lambda row: (parsed(row.version), numbers(str(row.cuda))), reverse=True)
    if not driver_known:  # the CUDA release that most drivers run
        rows.sort(key=lambda r: (parsed(r.version), r.name.endswith("cuda12x")), reverse=True)
    brings = installs.brings_libraries
    for row in rows:
        own = brings(title(root), row.version)
        pin = installs.gpu_requirement(title(root), row.name, row.version, None)
        built = row if own else _with_known_cuda(row)
        yield _make(root, built, pin or f"{row.name}=={row.version}", brings=own)


# Companions and libraries


def _plain(root: str, row: Release, role: Role) -> Candidate:
    needs: tuple[tuple[str, str], ...]
    if role == "library":
        pairs = row.pairs if isinstance(row.pairs, dict) else {}
        needs = (*pairs.items(), *_wheels(row.requires or {}))
        major = ""
    else:
        row = _with_known_cuda(row)
        needs = (*_asked(row).items(), *_wheels(brought(row.name, row.version)))
        major = _shared_major(row) or _major_of_torch(row)
    return Candidate(
        root,
        row,
        f"{root}=={row.version}",
        role,
        _pythons(root, row),
        needs,
        major,
        system=bool(installs.OPENS_SYSTEM.fullmatch(row.name)) and isinstance(row.cuda, str),
        glibc=max(oldest_glibc(row.systems), _glibc_of_pins(row), key=numbers),
    )


def _glibc_of_pins(row: Release) -> str:
    """The glibc that what a release pins beside itself needs: vllm's xformers."""
    pins = (
        (n, wishes[0]) for n, wishes in stated(row.name, row.version).items() if n in projects()
    )
    exact = ((name, re.match(r"==([\w.]+)", wish)) for name, wish in pins if not is_library(name))
    rows = (r for n, pin in exact if pin for r in rows_of(n, row.platform) if r.version == pin[1])
    return max((oldest_glibc(one.systems) for one in rows), key=numbers, default="")


def _with_known_cuda(row: Release) -> Release:
    """A row with the CUDA that is known without having been read."""
    known = [need.cuda for need in floors(row.name, row.version) if need.cuda]
    unread = row.cuda is msgspec.UNSET or (isinstance(row.cuda, str) and "." not in row.cuda)
    return msgspec.structs.replace(row, cuda=known[-1]) if known and unread else row


def _asked(row: Release) -> dict[str, str]:
    """What a release asks of others: by its metadata, and what is known without it."""
    out = dict(row.pairs if isinstance(row.pairs, dict) else unstated(row.name, row.version))
    for need in floors(row.name, row.version):
        for name, spec in need.asks.items():
            _add(out, name, spec)
    known = compared_with(row.name, row.version)
    if known:
        _add(out, *split(known.requirement))
    for host, broken in tried.limits_of(row.name, row.version):
        _add(out, host, broken.wants)
    if row.name == "triton" and (beside := _torch_of_triton().get(row.version)):
        out["torch"] = f">={beside[0]},<={beside[-1]}"
    if row.platform in ("any", "source") or family(row.name):
        return out
    return _of_its_time(row, out)


def _add(out: dict[str, str], name: str, spec: str) -> None:
    clauses = [*out.get(name, "").split(","), *spec.split(",")]
    out[name] = ",".join(dict.fromkeys(filter(None, clauses)))


@cache
def _torch_of_triton() -> dict[str, list[str]]:
    """triton → the torch releases that pin it, oldest first."""
    out: dict[str, list[str]] = {}
    for row in reversed(rows_of("torch", "linux-x86_64")):
        for wish in stated("torch", row.version).get("triton", ()):
            if found := re.match(r"==([\d.]+)", wish):
                out.setdefault(found[1], []).append(row.version)
    return out


def _of_its_time(row: Release, asked: dict[str, str]) -> dict[str, str]:
    """A compiled companion goes with the frameworks of its time: metadata seldom says how far."""
    for name in ("torch", "tensorflow"):
        if name in asked and not set("<=~") & set(asked[name].replace(">=", "")):
            _add(asked, name, f"<={_newest_by(name, row.uploaded)}.99")
    return asked


@lru_cache(maxsize=512)
def _newest_by(name: str, day: str) -> str:
    """The minor release of a framework that was the newest some months after a day: 2.3."""
    return major_minor(_last_until(name, day, _MONTHS * 30)) or "0.0"


@lru_cache(maxsize=512)
def newest_with(name: str, torch: str) -> str:
    """The newest companion published with a torch or before it: its index has no later build."""
    rows = rows_of("torch", "linux-x86_64")
    day = max((row.uploaded for row in rows if row.version == torch), default="")
    return _last_until(name, day, _DAYS) if day else ""


def _last_until(name: str, day: str, more: int) -> str:
    limit = (date.fromisoformat(day) + timedelta(days=more)).isoformat() if day else "9"
    known = [row.version for row in rows_of(name, "linux-x86_64") if row.uploaded <= limit]
    return max((v for v in known if not verdicts.is_preview(v)), key=parsed, default="")


def _major_of_torch(row: Release) -> str:
    """The CUDA major of a companion that was compiled against one torch of the package index."""
    pin = re.fullmatch(r"==([\d.]+)", _asked(row).get("torch", ""))
    if row.name not in _COMPILED_FOR_TORCH or not pin:
        return ""
    cuda = next((r.cuda for r in rows_of("torch", "linux-x86_64") if r.version == pin[1]), None)
    return str(numbers(cuda)[0]) if isinstance(cuda, str) else ""


def _shared_major(row: Release) -> str:
    """The CUDA major whose wheels a companion needs beside it; "" where it has its own."""
    known = isinstance(row.cuda, str) and numbers(row.cuda)
    return str(numbers(str(row.cuda))[0]) if known and _WITH_WHEELS.fullmatch(row.name) else ""


def _wheels(asked: Mapping[str, str] | msgspec.UnsetType) -> Iterator[tuple[str, str]]:
    """NVIDIA's wheels that are known; cuda-toolkit keeps its extras, which name wheels."""
    for name, spec in asked.items() if isinstance(asked, Mapping) else ():
        found = _PART.fullmatch(name)
        bare = found[1] if found else name
        if bare in projects():
            yield (name if bare == TOOLKIT else bare), spec


def _toolkits(root: str) -> Iterator[Candidate]:
    """The releases of cuda-toolkit with some extras: each needs its wheels."""
    found = _PART.fullmatch(root)
    extras = found[2].split(",") if found else []
    wanted = {f"nvidia-{_TOOLKIT_EXTRAS.get(extra, extra)}" for extra in extras}
    for row in rows_of(TOOLKIT, "any"):
        requires = row.requires if isinstance(row.requires, dict) else {}
        wheels = [
            (name, spec)
            for name, spec in requires.items()
            if re.sub(r"-cu\d+$", "", name) in wanted and name in projects()
        ]
        needs = ((TOOLKIT, f"=={row.version}"), *wheels) if found else ()
        pin = f"{TOOLKIT}=={row.version}"
        yield Candidate(root, row, pin, "library", frozenset(PYTHONS), needs)


def is_library(name: str) -> bool:
    """Whether a package is one of NVIDIA's wheels, which frameworks bring."""
    return bool(_LIBRARY.fullmatch(name)) and planned_as(name) not in FRAMEWORKS
