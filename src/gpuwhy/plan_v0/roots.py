"""Roots: the releases of each framework and companion as the resolver sees them, with what each one demands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from functools import cache, lru_cache

import msgspec

from gpuwhy.knowledge import installs, variants
from gpuwhy.knowledge.asked import asks
from gpuwhy.knowledge.brought import brought
from gpuwhy.knowledge.caps import PAIRS
from gpuwhy.knowledge.floors import floors
from gpuwhy.knowledge.limits import floor as unstated
from gpuwhy.knowledge.neighbours import limits_of
from gpuwhy.knowledge.pairs import stated
from gpuwhy.knowledge.releases import family, projects
from gpuwhy.model.plan import Machine, Role, System
from gpuwhy.model.release import Release
from gpuwhy.model.version import at_least, major_minor, numbers
from gpuwhy.plan_v0.candidates import elsewhere, oldest_glibc, parsed, pythons_of, rows_of, sources_of
from gpuwhy.plan_v0.names import FRAMEWORKS as FRAMEWORKS

TOOLKIT = "cuda-toolkit"
_TITLE = {"onnxruntime-gpu": "onnxruntime"}
_PART = re.compile(r"([\w.-]+)\[([\w,-]+)\]")
_LIBRARY = re.compile(r"nvidia-(?!tensorrt|dali).+|cuda-toolkit.*|cutensor.*")
_EXTRAS = {"cudart": "cuda-runtime", "cupti": "cuda-cupti", "nvrtc": "cuda-nvrtc", "nvcc": "cuda-nvcc"}


class Candidate(msgspec.Struct, frozen=True):
    """One release that may be chosen for a root."""

    root: str  # what the resolver calls it: tensorflow, also for tensorflow-gpu
    row: Release
    requirement: str
    role: Role
    pythons: frozenset[str]
    needs: tuple[tuple[str, str], ...]  # (package, specifier)
    cuda_major: str = ""
    backend: str = ""
    system: bool = False  # CUDA and cuDNN must be on the system
    guessed: bool = False  # its GPU code was read from a sibling, not from itself
    glibc: str = ""  # the oldest that its wheels need
    shares: bool = False  # takes the CUDA libraries that torch brings
    here: bool = True  # False: has no wheel for this platform


def framework_of(root: str) -> str:
    """The name under which installs, platforms and cudnn_rules know it."""
    return _TITLE.get(root, root)


def candidates(root: str, machine: Machine) -> list[Candidate]:
    """Every release of a root on the machine's platform, best first."""
    return list(_candidates(root, machine.system, machine.machine, machine.driver))


@lru_cache(maxsize=512)
def _candidates(root: str, system: System, cpu: str, driver: str) -> tuple[Candidate, ...]:
    """What is asked of a machine here is its platform, and whether its driver is known."""
    return tuple(_made(root, Machine(system, cpu, driver)))


def _made(root: str, machine: Machine) -> list[Candidate]:
    makers = {"tensorflow": _tensorflow, "torch": _torch, "jax": _jax, "onnxruntime-gpu": _onnxruntime, "cupy": _cupy}
    if root in makers:
        return list(makers[root](machine))
    if root.startswith(TOOLKIT):
        return list(_toolkits(root))
    role: Role = "library" if _LIBRARY.fullmatch(root) else "companion"
    found = [_plain(root, row, role) for row in rows_of(root, machine.platform)]
    return found or [msgspec.structs.replace(_plain(root, row, role), here=False) for row in elsewhere(root)[:1]]


@lru_cache(maxsize=256)
def sources(root: str) -> tuple[Candidate, ...]:
    """The releases of a companion that are published as source alone, newest first."""
    return tuple(_plain(root, row, "companion") for row in sources_of(root))


def _make(
    root: str, row: Release, requirement: str, *, brings: bool, backend: str = "", guessed: bool = False
) -> Candidate:
    major = str(numbers(row.cuda)[0]) if isinstance(row.cuda, str) and numbers(row.cuda) else ""
    own = backend != "" or (root == "torch" and not brings)  # carries its libraries inside, under names of its own
    return Candidate(
        root,
        row,
        requirement,
        "framework",
        pythons_of(row),
        tuple(_needs(row)) if brings and not backend else (),
        "" if root == "torch" and own and not backend else major,
        backend,
        not brings and not own and row.cuda is not None,
        guessed,
        oldest_glibc(row.systems),
    )


def _tensorflow(machine: Machine) -> Iterator[Candidate]:
    rows = {row.version: row for row in rows_of("tensorflow-gpu", machine.platform) if row.platform != "source"}
    mine = rows_of("tensorflow", machine.platform)
    for row in mine:
        other = rows.get(row.version)
        chosen = other if row.cuda is None and other is not None else row
        if chosen is row and at_least(row.version, "2.14"):
            requirement = f"tensorflow[and-cuda]=={row.version}"
        else:
            requirement = f"{chosen.name}=={row.version}"
        brings = installs.brings_libraries("tensorflow", row.version)
        yield _make("tensorflow", chosen, requirement, brings=brings)
        if brings and isinstance(row.cuda, str) and isinstance(row.cudnn, str):
            yield _sharing(chosen)


def _sharing(row: Release) -> Candidate:
    """TensorFlow without its extra: it finds the wheels that torch brings, if their cuDNN is new enough."""
    cuda, cudnn = numbers(str(row.cuda))[0], numbers(str(row.cudnn))
    made = _make("tensorflow", row, f"tensorflow=={row.version}", brings=True)
    needs = ((f"nvidia-cudnn-cu{cuda}", f">={'.'.join(map(str, cudnn[:2]))},<{cudnn[0] + 1}"),)
    return msgspec.structs.replace(made, needs=needs, shares=True)


def _torch(machine: Machine) -> Iterator[Candidate]:
    """The package index first; then the builds that only PyTorch's own index has."""
    rows = rows_of("torch", machine.platform)
    for row in rows:
        if row.cuda is not None:
            yield _make("torch", row, f"torch=={row.version}", brings=isinstance(row.requires, dict))
    for row in rows:
        for variant in variants.variants(row.version, machine.machine):
            if variant.cuda == row.cuda:
                continue
            sass = _known_to_cudnn(variant.code, row)
            built = msgspec.structs.replace(
                row, cuda=variant.cuda, cudnn=msgspec.UNSET, sass=sass or msgspec.UNSET, ptx=(), requires=msgspec.UNSET
            )
            guessed = not variant.code
            exact = (
                f"torch=={row.version}+{variant.backend}"  # fails without that index, instead of taking another build
            )
            yield _make("torch", built, exact, brings=True, backend=variant.backend, guessed=guessed)
    for row in rows:
        if row.cuda is None:
            yield _make("torch", row, f"torch=={row.version}", brings=True)


def _known_to_cudnn(code: tuple[str, ...], row: Release) -> tuple[str, ...]:
    """The code for GPUs that the cuDNN beside it knows too: cuDNN 9, with torch since 2.4, begins with Maxwell."""
    ninth = isinstance(row.cudnn, str) and numbers(row.cudnn)[0] >= 9
    return tuple(one for one in code if not (ninth and one.startswith("sm_3")))


def _jax(machine: Machine) -> Iterator[Candidate]:
    libs = {row.version: row for row in rows_of("jaxlib", machine.platform)}
    plugins = [(major, row) for major in ("13", "12") for row in rows_of(f"jax-cuda{major}-plugin", machine.platform)]
    first = "13" if machine.driver else "12"
    plugins.sort(key=lambda pair: (numbers(pair[1].version), pair[0] == first), reverse=True)
    for major, row in plugins:
        lib = libs.get(row.version)
        if lib is None or not at_least(row.version, installs.FIRST_JAX):
            continue
        made = _make("jax", row, f"jax[cuda{major}]=={row.version}", brings=True)
        if not made.needs:  # of old releases it is the extra of jax that asks, not the plugin
            made = msgspec.structs.replace(made, needs=tuple(_wheels(brought(f"jax[cuda{major}]", row.version))))
        glibc = max(made.glibc, oldest_glibc(lib.systems), key=numbers)
        yield msgspec.structs.replace(made, pythons=made.pythons & pythons_of(lib), glibc=glibc)
    if not plugins:
        for row in libs.values():
            yield _make("jax", row, f"jax=={row.version}", brings=True)


def _onnxruntime(machine: Machine) -> Iterator[Candidate]:
    for row in rows_of("onnxruntime-gpu", machine.platform):
        brings = installs.brings_libraries("onnxruntime", row.version)
        requirement = installs.gpu_requirement("onnxruntime", row.name, row.version, None)
        yield _make("onnxruntime-gpu", row, requirement, brings=brings)


def _cupy(machine: Machine) -> Iterator[Candidate]:
    names = [name for name in projects() if name.startswith("cupy-cuda")]
    rows = [row for name in names for row in rows_of(name, machine.platform)]
    rows.sort(key=lambda row: (numbers(row.version), numbers(str(row.cuda))), reverse=True)
    if not machine.driver:
        rows.sort(key=lambda row: (numbers(row.version), row.name == "cupy-cuda12x"), reverse=True)
    for row in rows:
        brings = installs.brings_libraries("cupy", row.version)
        row = _floored(row) if not brings else row
        requirement = f"{row.name}[ctk]=={row.version}" if brings else f"{row.name}=={row.version}"
        yield _make("cupy", row, requirement, brings=brings)


def _plain(root: str, row: Release, role: Role) -> Candidate:
    row = _floored(row) if role == "companion" else row
    needs = (*_asked(row).items(), *(_needs(row) if role == "library" else _wheels(brought(row.name, row.version))))
    major = (_major(row) or _of_torch(row)) if role == "companion" else ""
    glibc = oldest_glibc(row.systems)
    pin = _requirement(root, row)
    system = bool(installs.OPENS_SYSTEM.fullmatch(row.name)) and isinstance(row.cuda, str)
    return Candidate(root, row, pin, role, pythons_of(row), needs, major, glibc=glibc, system=system)


def _requirement(root: str, row: Release) -> str:
    """A pin; the newest release of a package that is all Python is left to the installer, which takes it anyway."""
    newest = row.platform == "any" and row.version == _newest(root)
    return root if newest and not row.file else f"{root}=={row.version}"


@lru_cache(maxsize=256)
def _newest(root: str) -> str:
    return max((row.version for row in elsewhere(root)), key=parsed, default="")


def _floored(row: Release) -> Release:
    """A row with the CUDA that is known without having been read."""
    told = [floor.cuda for floor in floors(row.name, row.version) if floor.cuda]
    unread = row.cuda is msgspec.UNSET or (isinstance(row.cuda, str) and "." not in row.cuda)
    return msgspec.structs.replace(row, cuda=told[-1]) if told and unread else row


def _asked(row: Release) -> dict[str, str]:
    """What a release asks of others: by its metadata, and what is known without it."""
    out = dict(row.pairs if isinstance(row.pairs, dict) else PAIRS.get((row.name, row.version)) or _by_table(row))
    for floor in floors(row.name, row.version):
        for name, spec in floor.asks.items():
            out[name] = ",".join(filter(None, (out.get(name, ""), spec)))
    _add_unstated(row, out)
    return out if row.platform in ("any", "source") or family(row.name) else _of_its_time(row, out)


def _by_table(row: Release) -> dict[str, str]:
    """What its metadata asks of PyTorch, where the row itself was written without it."""
    wishes = asks(row.name, row.version).get("torch", ()) if row.platform != "source" and row.name != "torch" else ()
    return {"torch": wishes[0]} if len(wishes) == 1 and ";" not in wishes[0] else {}


def _add_unstated(row: Release, out: dict[str, str]) -> None:
    """What a release compares with when it is imported, and which torch pins a triton to this release."""
    known = unstated(row.name, row.version)
    if known and known.other in out:
        out[known.other] = ",".join(filter(None, (out[known.other], f">={known.floor}")))
    elif known:
        out[known.other] = f">={known.floor}"
    for host, broken in limits_of(row.name, row.version):
        out[host] = ",".join(filter(None, (out.get(host, ""), broken.wants)))
    if row.name == "triton" and (with_it := _torches().get(row.version)):
        out["torch"] = f">={with_it[0]},<={with_it[-1]}"


@cache
def _torches() -> dict[str, list[str]]:
    """triton → the torch releases that pin it, oldest first."""
    out: dict[str, list[str]] = {}
    for row in sorted(rows_of("torch", "linux-x86_64"), key=lambda row: parsed(row.version)):
        for wish in stated("torch", row.version).get("triton", ()):
            if found := re.match(r"==([\d.]+)", wish):
                out.setdefault(found[1], []).append(row.version)
    return out


def _of_its_time(row: Release, asked: dict[str, str]) -> dict[str, str]:
    """A compiled guest goes with the frameworks of its time; its metadata seldom says how far."""
    for name in ("torch", "tensorflow"):
        if name in asked and not set("<=~") & set(asked[name].replace(">=", "")):
            asked[name] = ",".join(filter(None, (asked[name], f"<={newest_by(name, row.uploaded)}.99")))
    return asked


@lru_cache(maxsize=512)
def newest_by(name: str, day: str) -> str:
    """The minor release of a framework that was the newest some months after a day: 2.3."""
    limit = (date.fromisoformat(day) + timedelta(days=_MONTHS * 30)).isoformat() if day else "9"
    known = [row.version for row in rows_of(name, "linux-x86_64") if row.uploaded <= limit]
    return major_minor(max((v for v in known if not parsed(v).is_prerelease), key=parsed, default="0.0"))


_MONTHS = 4
MIRRORED = ("torchvision", "torchaudio")
"""What PyTorch's own index has for each CUDA, built with the torch of the same days."""


@lru_cache(maxsize=512)
def newest_with(name: str, torch: str) -> str:
    """The newest companion that was published with a torch or before it: for that CUDA there is no later build."""
    day = max((row.uploaded for row in rows_of("torch", "linux-x86_64") if row.version == torch), default="")
    limit = (date.fromisoformat(day) + timedelta(days=_DAYS)).isoformat() if day else ""
    known = [row.version for row in rows_of(name, "linux-x86_64") if row.uploaded <= limit]
    return max((v for v in known if not parsed(v).is_prerelease), key=parsed, default="")


_DAYS = 7


def _of_torch(row: Release) -> str:
    """The CUDA major of a companion that was compiled against one torch of the package index, and exists for that."""
    pin = re.fullmatch(r"==([\d.]+)", _asked(row).get("torch", "")) if row.name in _COMPILED_ONCE else None
    built = next((r for r in rows_of("torch", "linux-x86_64") if pin and r.version == pin[1]), None)
    return str(numbers(built.cuda)[0]) if built and isinstance(built.cuda, str) else ""


_COMPILED_ONCE = frozenset({"vllm"})
_WITH_WHEELS = re.compile(r"xformers|ctranslate2|vllm|(cu(df|ml|graph|cim)|cuquantum-python)-cu\d+")


def _major(row: Release) -> str:
    """The CUDA major whose wheels a companion needs beside it; '' where it carries its own, or takes torch's."""
    known = isinstance(row.cuda, str) and numbers(row.cuda)
    return str(numbers(str(row.cuda))[0]) if known and _WITH_WHEELS.fullmatch(row.name) else ""


def _needs(row: Release) -> Iterator[tuple[str, str]]:
    """NVIDIA's wheels that a release asks for."""
    return _wheels(row.requires if isinstance(row.requires, dict) else {})


def _wheels(asked: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Those wheels of NVIDIA's that are known; cuda-toolkit keeps its extras, which name the wheels behind it."""
    for name, spec in asked.items():
        found = _PART.fullmatch(name)
        bare = found[1] if found else name
        if bare in projects():
            yield (name if bare == TOOLKIT else bare), spec


def _toolkits(root: str) -> Iterator[Candidate]:
    """The releases of cuda-toolkit with some extras, as pip sees them: each needs its wheels, and itself with none."""
    found = _PART.fullmatch(root)
    wanted = {f"nvidia-{_EXTRAS.get(extra, extra)}" for extra in (found[2].split(",") if found else ())}
    for row in rows_of(TOOLKIT, "any"):
        requires = row.requires if isinstance(row.requires, dict) else {}
        wheels = [(n, s) for n, s in requires.items() if re.sub(r"-cu\d+$", "", n) in wanted and n in projects()]
        needs = ((TOOLKIT, f"=={row.version}"), *wheels) if found else ()
        yield Candidate(root, row, f"{TOOLKIT}=={row.version}", "library", pythons_of(row), needs)
