"""Other packages with CUDA: any whose compiled modules need its libraries, and those that open them by name.

Where PyTorch or JAX is installed, the process has their libraries already: such packages are then judged with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from gpuwhy.host.base import Host
from gpuwhy.knowledge.sonames import cuda_of
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, known, value_or
from gpuwhy.model.facts import Distribution, Framework, Opened
from gpuwhy.observe.built import CUDA_LIBRARY, NO_CUDNN, NOT_READ, Built, Installed, gpu_code, without_gpu

Needed = Callable[[Host, Iterable[str]], Fact[tuple[Opened, ...]]]

_OTHERS = re.compile(
    r"(?:.+-)?(?:gpu|cuda|cu\d{2,3}|cuda\d{2,3}x?)(?:-.+)?|faiss|llama-cpp-python|xgboost|lightgbm|catboost|pycuda"
    r"|k2|dgl|stable-diffusion-cpp-python|pywhispercpp|open3d|exllamav2|spacy-transformers"
)
_NOT = re.compile(
    r"nvidia-.*|cuda-.*|numba-cuda|jax-cuda.*|tensorrt.*|cupy.*|torch.*|tensorflow.*|onnxruntime.*|mxnet.*|paddle.*"
)
_BINDINGS = re.compile(r"cuda-(bindings|python|core)|nvmath-python|numba-cuda")
_HOSTS = ("torch", "jax", "tensorflow", "paddle")  # bring CUDA's libraries into the process
_MOST = 24  # compiled files that are read of one package
_NAMED = r"(?:libcublas\.so\.\d+|cublas64_\d+\.dll)\b"
_LINKED_IN = re.compile(r"xgboost|lightgbm|catboost")
_INSIDE = Unknown("CUDA's libraries are linked into it, under no name that tells their release")
_COMPILES = Unknown("it compiles for the GPU at run time")


def others(
    host: Host, installed: Sequence[Distribution], known_ones: Sequence[Framework], needed: Needed
) -> Iterator[Framework]:
    """Packages that need CUDA's libraries, each as a framework of its own name."""
    if any(one.name in _HOSTS for one in known_ones):
        return
    if not known_ones:
        yield from _opened_by_pathfinder(host, installed)
    for dist in installed:
        if _OTHERS.fullmatch(dist.name) and not _NOT.fullmatch(dist.name):
            files = list(_compiled(host, dist))
            opens = needed(host, files)
            if value_or(opens, ()):
                yield _framework(host, dist, files, opens)
            elif _LINKED_IN.fullmatch(dist.name):
                yield from _with_code(host, dist, files)


def _with_code(host: Host, dist: Distribution, files: Sequence[str]) -> Iterator[Framework]:
    """A package into which CUDA's own libraries are linked: its GPU code tells, and the driver is all it opens."""
    for path in files:
        sass, ptx = gpu_code(host, path)
        if isinstance(sass, Known):
            yield Framework(
                name=dist.name, title=dist.name, distribution=dist.name, version=dist.version,
                path=path.rpartition("/")[0], gpu_build=known(True, "file", path, "holds GPU code"),
                built_for_cuda=_INSIDE, built_for_cudnn=NO_CUDNN, sass=sass, ptx=ptx,
                opens=known((), "file", path, "CUDA is linked in"),
            )  # fmt: skip
            return


def _opened_by_pathfinder(host: Host, installed: Sequence[Distribution]) -> Iterator[Framework]:
    """NVIDIA's own bindings open the libraries of its wheels, each where it lies."""
    user = next((one for one in installed if _BINDINGS.fullmatch(one.name)), None)
    files = sorted(_in_wheels(host, user), key=lambda path: bool(_COMMON.search(path))) if user else []
    if user is None or not files:
        return
    opens = tuple(Opened(path.rpartition("/")[2], path, True) for path in files)
    yield _framework(host, user, files, known(opens, "folder", "NVIDIA's wheels"))


_COMMON = re.compile(r"/lib(nvJitLink|cudart|cublasLt|cublas)\.")  # what others need is opened after them


def _in_wheels(host: Host, user: Distribution) -> Iterator[str]:
    """The libraries in nvidia/*/lib beside a package."""
    root = f"{user.location.rpartition('/')[0]}/nvidia"
    for part in value_or(host.list(root, r"[a-z]\w*$"), ()):
        folder = f"{root}/{part.name}/lib"
        names = [one.name for one in value_or(host.list(folder, r"lib.*\.so\.\d+$"), ())]
        yield from (f"{folder}/{name}" for name in names if CUDA_LIBRARY.match(name))


def _compiled(host: Host, dist: Distribution) -> Iterator[str]:
    """Its compiled modules and libraries, by RECORD."""
    site = dist.location.rpartition("/")[0]
    lines = value_or(host.lines(f"{dist.location}/RECORD", ".so", ".pyd,", ".dll,"), ())
    names = [line.split(",", 1)[0] for line in lines]
    inside = [
        name for name in names if re.search(r"\.(so(\.[\d.]+)?|pyd|dll)$", name) and not name.startswith(("/", ".."))
    ]
    yield from (f"{site}/{name}" for name in inside[:_MOST])


def _framework(host: Host, dist: Distribution, files: Sequence[str], opens: Fact[tuple[Opened, ...]]) -> Framework:
    first = value_or(opens, ())[0]
    return Framework(
        name=dist.name, title=dist.name, distribution=dist.name, version=dist.version,
        path=first.by.rpartition("/")[0], gpu_build=known(True, "file", first.by, f"needs {first.name}"),
        built_for_cuda=by_names(opens), built_for_cudnn=NO_CUDNN, sass=NOT_READ, ptx=NOT_READ, opens=opens,
    )  # fmt: skip


def by_names(opens: Fact[tuple[Opened, ...]]) -> Fact[str]:
    """The CUDA release that the name of a library tells."""
    told = ((cuda_of(one.name), one) for one in value_or(opens, ()) if not re.match(r"(?i)(lib)?cudnn", one.name))
    found = next(((cuda, one) for cuda, one in told if cuda), None)
    return (
        known(found[0], "file", found[1].by, f"needs {found[1].name}") if found else Unknown("no library name tells it")
    )


# ---------------------------------------------------------------- CTranslate2


def read_ctranslate2(needed: Needed, folder: str, pattern: str) -> Callable[[Installed], Built]:
    """CTranslate2 brings cuDNN's shim and opens cuBLAS by a name that stands in its library."""

    def read(package: Installed) -> Built:
        place = f"{package.site}/{folder}"
        listed = value_or(package.host.list(place, pattern), ())
        if not listed:
            return Built(Unknown(f"{place}: no compiled library found"))
        library = f"{place}/{listed[0].name}"
        linked = needed(package.host, [library])
        named = package.host.matching(library, _NAMED)
        if not isinstance(linked, Known) or not isinstance(named, Known):
            return Built(Unknown(f"{library} could not be read"))
        if not linked.value and not named.value:
            return without_gpu(Source("file", library, "it names no CUDA library"))
        by_name = tuple(Opened(one, library, False) for one in named.value)
        opens = Known((*linked.value, *by_name), linked.source)
        sass, ptx = gpu_code(package.host, library)
        return Built(known(True, "file", library), by_names(opens), NO_CUDNN, sass, ptx, opens)

    return read


# ---------------------------------------------------------------- Numba


def read_numba(name: str) -> Callable[[Installed], Built]:
    """Numba compiles with NVVM, which it does not bring. It is also a part of packages that use the CPU alone: only
    where nobody else asks for it, and no framework is there, is NVVM counted as needed."""

    def read(package: Installed) -> Built:
        none = Absent(Source("package", package.dist.name, "it compiles for the GPU at run time"))
        if not _by_itself(package):
            return Built(_COMPILES, none, none, _COMPILES, _COMPILES)
        by = f"{package.path}/cuda/cudadrv/nvvm.py"
        nvvm: tuple[Opened, ...] = (Opened(name, by, False),)
        opens = known(nvvm, "know", "numba.cuda", "opens NVVM by its own search")
        meant = known(True, "package", package.dist.name, "no other package asks for it")
        return Built(meant, none, none, _COMPILES, _COMPILES, opens)

    return read


_ALONE = 60  # packages whose metadata is asked


def _by_itself(package: Installed) -> bool:
    """Whether it was installed for its own sake: nothing else of the environment asks for it, nor uses a GPU."""
    rest = [one for one in package.others if one.name not in ("numba", "numba-cuda", "llvmlite")]
    if len(rest) > _ALONE or any(
        re.match(r"torch|tensorflow|jax|onnxruntime|cupy|cuml|cudf", one.name) for one in rest
    ):
        return False
    return not any(value_or(package.host.lines(f"{one.location}/METADATA", "Requires-Dist: numba"), ()) for one in rest)
