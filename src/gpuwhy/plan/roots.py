"""Roots: the releases of each framework and companion as the resolver sees them, with what each one demands."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from gpuwhy.knowledge import installs, variants
from gpuwhy.knowledge.caps import PAIRS
from gpuwhy.knowledge.releases import family, projects
from gpuwhy.model.plan import Machine, Role
from gpuwhy.model.release import Release
from gpuwhy.model.version import at_least, numbers
from gpuwhy.plan.candidates import oldest_glibc, pythons_of, rows_of
from gpuwhy.plan.names import COMPANIONS

FRAMEWORKS = ("tensorflow", "torch", "jax", "onnxruntime-gpu", "cupy")
TOOLKIT = "cuda-toolkit"
_TITLE = {"onnxruntime-gpu": "onnxruntime"}
_PART = re.compile(r"([\w.-]+)\[([\w,-]+)\]")
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


def framework_of(root: str) -> str:
    """The name under which installs, platforms and cudnn_rules know it."""
    return _TITLE.get(root, root)


def candidates(root: str, machine: Machine) -> list[Candidate]:
    """Every release of a root on the machine's platform, best first."""
    makers = {"tensorflow": _tensorflow, "torch": _torch, "jax": _jax, "onnxruntime-gpu": _onnxruntime, "cupy": _cupy}
    if root in makers:
        return list(makers[root](machine))
    if root.startswith(TOOLKIT):
        return list(_toolkits(root))
    role: Role = "companion" if root in COMPANIONS else "library"
    return [_plain(root, row, role) for row in rows_of(root, machine.platform)]


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
        yield _make("tensorflow", chosen, requirement, brings=installs.brings_libraries("tensorflow", row.version))


def _torch(machine: Machine) -> Iterator[Candidate]:
    """The package index first; then the builds that only PyTorch's own index has."""
    rows = rows_of("torch", machine.platform)
    for row in rows:
        if row.cuda is not None:
            yield _make("torch", row, f"torch=={row.version}", brings=isinstance(row.requires, dict))
    code = _code_by_cuda()
    for row in rows if machine.machine == "x86_64" else ():
        for variant in variants.variants(row.version):
            if variant.cuda == row.cuda:
                continue
            sass = variant.code or code.get(variant.cuda)
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


def _code_by_cuda() -> dict[str, tuple[str, ...]]:
    """The GPU code that torch's Linux wheels have for a CUDA release, for builds that nobody read."""
    known = family("torch")
    rows = [row for row in known.rows if row.platform == "linux-x86_64"] if known else []
    return {row.cuda: row.sass for row in rows if isinstance(row.cuda, str) and isinstance(row.sass, tuple)}


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
        requirement = f"{row.name}[ctk]=={row.version}" if brings else f"{row.name}=={row.version}"
        yield _make("cupy", row, requirement, brings=brings)


def _plain(root: str, row: Release, role: Role) -> Candidate:
    pairs = row.pairs if isinstance(row.pairs, dict) else PAIRS.get((row.name, row.version), {})
    needs = (*pairs.items(), *(_needs(row) if role == "library" else ()))
    major = str(numbers(row.cuda)[0]) if root == "xformers" and isinstance(row.cuda, str) else ""
    glibc = oldest_glibc(row.systems)
    return Candidate(root, row, f"{root}=={row.version}", role, pythons_of(row), tuple(needs), major, glibc=glibc)


def _needs(row: Release) -> Iterator[tuple[str, str]]:
    """NVIDIA's wheels that a release asks for; cuda-toolkit keeps its extras, which name the wheels behind it."""
    for name, spec in (row.requires if isinstance(row.requires, dict) else {}).items():
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
