"""What an import really maps against what the loader's model says: one framework release after the other, for real.

    python tools/preload_cases.py FOLDER TABLE.jsonl [torch==2.6.0 …]

Of each release the framework's own wheel is installed (never kept), and in place of NVIDIA's gigabytes stand-ins: tiny
libraries with the right names, in the wheels' folders, that export what the framework asks for and do nothing. The
framework is imported in each world of WORLDS under `LD_DEBUG=libs`, which names every file that was initialised;
`gpuwhy` is asked about the same world; both lists are compared. Which names need a stand-in is read in the framework's
files and in what the import asks the loader for while there is none: a name that gpuwhy does not know is noticed. Rows
of TABLE are kept, so that it goes on where it was stopped. A library that is opened only later (optional,
or a part of cuDNN) may be predicted and not be mapped. `PYTHONS` names a folder with one CPython per version.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from gpuwhy.formats.elf import read_elf
from gpuwhy.observe.built import CUDA_LIBRARY

PYTHONS = Path(os.environ.get("PYTHONS", str(Path.home() / ".pyenv/versions")))
SYMBOL = re.compile(r"(?:__cuda|cu[a-z]|cuFile|nccl|nvrtc|nvJitLink|__nvJitLink|nvtx|nvshmem|curand|nvml)\w*")
ANSWERS = {
    "cudaGetDeviceCount": "int cudaGetDeviceCount(int *n) { *n = 1; return 0; }",
    "cudaRuntimeGetVersion": "int cudaRuntimeGetVersion(int *n) { *n = 12090; return 0; }",
    "cudaDriverGetVersion": "int cudaDriverGetVersion(int *n) { *n = 13020; return 0; }",
    "cudaGetErrorString": 'const char *cudaGetErrorString(int n) { return "none"; }',
    "cudaGetErrorName": 'const char *cudaGetErrorName(int n) { return "none"; }',
}
"""Functions of a stand-in that a framework goes by before it opens the next library."""
DRIVER = re.compile(r"cu[A-Z]\w*")
TENSORRT = re.compile(r"libnv(infer|onnxparser|parsers)")  # another product, which a stand-in does not stand for
FOLDERS = {
    "cudart": "cuda_runtime", "cublas": "cublas", "cublasLt": "cublas", "cufft": "cufft", "cufftw": "cufft",
    "curand": "curand", "cusolver": "cusolver", "cusolverMg": "cusolver", "cusparse": "cusparse", "nvrtc": "cuda_nvrtc",
    "nvJitLink": "nvjitlink", "cupti": "cuda_cupti", "nvToolsExt": "nvtx", "cufile": "cufile", "nccl": "nccl",
    "cudnn": "cudnn", "cusparseLt": "cusparselt", "nvshmem_host": "nvshmem",
}  # fmt: skip
"""The folder below `nvidia/` that the wheel of a library has, up to CUDA 12."""
APART = ("cudnn", "nccl", "cusparseLt", "nvshmem_host")
"""Families that keep a folder of their own where CUDA 13's wheels share `nvidia/cu13`."""
NEEDS = {
    "cublas": ("cublasLt",), "cusparse": ("nvJitLink",), "cusolver": ("cublas", "cublasLt", "cusparse", "nvJitLink"),
}  # fmt: skip
"""What NVIDIA's libraries need of each other."""


class Kind(NamedTuple):
    """A framework: how it is installed, where its libraries are, and the code that makes it open CUDA."""

    name: str
    wheels: str
    beside: str
    code: str
    where: str  # glob below site-packages of the files that ask for CUDA libraries


TENSORFLOW = Kind("tensorflow", "{0}", "", "import tensorflow as tf; {1}",
                  "tensorflow/libtensorflow_framework.so* tensorflow/libtensorflow_cc.so.* "
                  "tensorflow/python/_pywrap_tensorflow_internal.so tensorflow/python/_pywrap_tensorflow.so "
                  "tensorflow_core/libtensorflow_framework.so* "
                  "tensorflow_core/python/_pywrap_tensorflow_internal.so")  # fmt: skip
CUPY = Kind("cupy", "{0}", "numpy<2.3 fastrlock", "import cupy\n{1}",
            "cupy_backends/cuda/libs/*.so cupy_backends/cuda/api/*.so cupy_backends/cuda/*.so cupy/cuda/*.so "
            "cupy/*.so")  # fmt: skip
CUPY_NUMPY = (((13, 2), "<2.3"), ((10,), "<1.27"), ((0,), "<1.20"))
"""The NumPy that each release of CuPy, and all after it, were made beside."""
JAX = Kind("jax", "jax=={0} jaxlib=={0} jax-cuda{1}-plugin=={0} jax-cuda{1}-pjrt=={0}",
           "numpy scipy ml-dtypes opt-einsum", "import jax; jax.devices()",
           "jax_plugins/*/*.so jax_cuda*_plugin/*.so")  # fmt: skip
CUPY_ALL = """
import importlib, pkgutil
try:
    from cupy_backends.cuda.libs import nvrtc
    nvrtc.getVersion()
except Exception as error:
    print(error)
for package in ("cupy_backends.cuda.libs", "cupy_backends.cuda.api", "cupy.cuda"):
    try:
        folders = importlib.import_module(package).__path__
    except ImportError:
        continue  # CuPy 7 has one of the three
    for one in pkgutil.iter_modules(folders):
        try:
            if not hasattr(importlib.import_module(package), one.name):
                importlib.import_module(package + "." + one.name)
        except Exception as error:
            print(package, one.name, error)
"""
"""CuPy opens most of its libraries at the first use of a module: every module is used, its compiler first."""
MXNET = Kind("mxnet", "", "numpy<1.24 requests graphviz<0.9", "import mxnet", "mxnet/libmxnet.so")
KINDS = {
    "torch": Kind("torch", "torch=={0}", "filelock typing-extensions sympy networkx jinja2 fsspec numpy<2",
                  "import torch", "torch/lib/*.so torch/_C*.so"),
    "jax": JAX,
    "jax-cuda13": JAX,
    "onnxruntime-gpu": Kind("onnxruntime", "onnxruntime-gpu=={0}",
                            "numpy<2 coloredlogs flatbuffers protobuf sympy packaging",
                            "import onnxruntime as o; o.InferenceSession(MODEL, providers=['CUDAExecutionProvider'])",
                            "onnxruntime/capi/*.so"),
    "tensorflow": TENSORFLOW,
    "tensorflow-gpu": TENSORFLOW,
    "ctranslate2": Kind("ctranslate2", "ctranslate2=={0}", "numpy<2 pyyaml setuptools<80",
                        "import ctranslate2; ctranslate2.get_cuda_device_count()",
                        "ctranslate2.libs/*.so* ctranslate2/*.so"),
}  # fmt: skip


def kind_of(package: str, version: str) -> Kind:
    """How a release is installed and made to open its libraries."""
    release = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if package.startswith("cupy"):
        newest = next(limit for since, limit in CUPY_NUMPY if release >= since)
        beside = CUPY.beside.replace("<2.3", newest) + (" cuda-pathfinder" if release >= (14,) else " six")
        return CUPY._replace(wheels=f"{package}=={version}", beside=beside, code=CUPY.code.format("", CUPY_ALL))
    if package.startswith("mxnet"):
        return MXNET._replace(wheels=f"{package}=={version}")
    kind = KINDS[package]
    if kind is JAX:
        beside = kind.beside.replace("numpy", "numpy<2", 1) if release < (0, 5) else kind.beside
        return kind._replace(wheels=JAX.wheels.format(version, package.partition("cuda")[2] or "12"), beside=beside)
    if kind is not TENSORFLOW:
        return kind._replace(wheels=kind.wheels.format(version))
    limits = (
        [" protobuf<3.21"] * (release < (2, 12))
        + [" numpy<1.24"] * (release < (2, 13))
        + [" numpy<2"] * (release < (2, 18))
    )
    if release < (1, 15):  # what these print of NumPy and of protobuf is of later years
        limits.append(" numpy<1.20")
    devices = (
        "tf.config.list_physical_devices('GPU')"
        if release >= (2, 1)
        else "from tensorflow.python.client import device_lib; device_lib.list_local_devices()"
    )
    if release < (
        1,
        12,
    ):  # they are linked with CUDA, or open it when imported; a stand-in's device they wait for forever
        devices = "tf.test"
    return kind._replace(wheels=f"{package}=={version}" + "".join(limits), code=kind.code.format("", devices))


WORLDS = ("plain", "others first", "cuDNN elsewhere", "runtime elsewhere", "nvJitLink elsewhere", "cuBLAS gone")
"""Wheels only; a second copy of all in LD_LIBRARY_PATH; one wheel's libraries in that folder only, or nowhere."""
MOVED = {"cuDNN elsewhere": "cudnn", "runtime elsewhere": "cudart", "nvJitLink elsewhere": "nvJitLink"}


def call(*argv: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run to the end; both outputs as text."""
    kept = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "PYTHONPATH", "LD_LIBRARY_PATH")}
    environ = {**kept, **more.pop("environ", {})}
    return subprocess.run(argv, capture_output=True, text=True, errors="replace", timeout=900, env=environ, **more)


def _field(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2, len(data)]) + data


def _model() -> bytes:
    """An ONNX model of one Identity, which ONNX Runtime wants before it opens its provider."""
    kind = _field(2, _field(1, b"\x08\x01" + _field(2, _field(1, b"\x08\x01"))))
    node = _field(1, _field(1, b"x") + _field(2, b"y") + _field(4, b"Identity"))
    ends = _field(11, _field(1, b"x") + kind) + _field(12, _field(1, b"y") + kind)
    return b"\x08\x08" + _field(7, node + _field(2, b"g") + ends) + _field(8, b"\x10\x0d")


MODEL = _model()


# ---------------------------------------------------------------- an environment with stand-ins


def environment(folder: Path, kind: Kind, python: str) -> Path:
    """The framework alone, without NVIDIA's wheels."""
    env = folder / "env"
    shutil.rmtree(env, ignore_errors=True)
    home = sorted(PYTHONS.glob(f"{python}.*"))[-1]
    good(call("uv", "venv", "-q", "-p", str(home / "bin/python"), str(env)))
    deps = [] if kind.name == "tensorflow" else ["--no-deps"]
    install = ["uv", "pip", "install", "-q", "-p", str(env / "bin/python"), *deps, *kind.wheels.split()]
    if call(*install, "--offline").returncode:  # what is in the cache is taken from it, and nothing is added to it
        good(call(*install, "--no-cache"))
    if kind.beside:
        built = ("--only-binary", ":all:")  # the newest that has a wheel for this Python
        good(call("uv", "pip", "install", "-q", "-p", str(env / "bin/python"), *built, *kind.beside.split()))
    return env


def good(done: subprocess.CompletedProcess[str]) -> None:
    """Raise with the last words of a command that failed."""
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, done.args))[:300]}: {(done.stderr or done.stdout)[-600:]}")


def site(env: Path) -> Path:
    """Its site-packages."""
    return next((env / "lib").glob("python*")) / "site-packages"


def askers(env: Path, kind: Kind) -> list[Path]:
    """The framework's files that ask for CUDA libraries."""
    return [path for pattern in kind.where.split() for path in sorted(site(env).glob(pattern))]


def wanted(env: Path, kind: Kind, asked: set[str]) -> tuple[dict[str, str], set[str]]:
    """Library names by family, and all symbols that these libraries may be asked for, versions included."""
    names: dict[str, str] = {}
    symbols: set[str] = set()
    for path in askers(env, kind):
        needed = [n for n in elf(path).needed if CUDA_LIBRARY.match(n) and not (path.parent / n).exists()]
        for name in needed:
            names[family_of(name)] = name
        if needed or kind.name in ("onnxruntime", "tensorflow"):
            symbols |= {one for one in undefined(path) if SYMBOL.match(one)}
    runtime = names.get("cudart", "").partition(".so.")[2].split(".")[0]
    if runtime.isdigit() and int(runtime) >= 12:
        names["nvJitLink"] = f"libnvJitLink.so.{runtime}"  # cuSPARSE's and cuSOLVER's own need
    for name in sorted(asked | set(opened(env, kind))):
        if not list(site(env).rglob(name)):
            names.setdefault(family_of(name), name)
    if "cublas" in names:
        names["cublasLt"] = names["cublas"].replace("cublas", "cublasLt")
    return names, symbols


def family_of(name: str) -> str:
    """libcudart.so.12 → cudart."""
    return re.sub(r"^lib|[-.].*", "", name)


def undefined(path: Path) -> set[str]:
    """The symbols that a file wants of others."""
    said = call("nm", "-D", "--undefined-only", str(path)).stdout
    return {line.split()[-1] for line in said.splitlines() if line.strip()}


def opened(env: Path, kind: Kind) -> list[str]:
    """The names that gpuwhy says are opened at run time: where a framework links none of them."""
    told = [o["name"] for o in facts(env, {})["opens"].get(kind.name, ())]
    return [name for name in told if CUDA_LIBRARY.match(name)]


def elf(path: Path) -> Any:
    """The headers of one file."""
    with path.open("rb") as file:
        size = path.stat().st_size

        return read_elf(lambda offset, length: os.pread(file.fileno(), length, offset), size)


def own_search(env: Path, kind: Kind) -> str:
    """The folders that the framework's files name themselves."""
    return " ".join(f"{one.rpath}:{one.runpath}" for one in (elf(path) for path in askers(env, kind))) + ":"


def places(env: Path, kind: Kind, names: dict[str, str]) -> dict[str, str]:
    """The folder of each library below site-packages: one of the usual ones that the framework's own files search."""
    searched = own_search(env, kind)
    major = names.get("cublas", names.get("cudart", "")).partition(".so.")[2].split(".")[0]
    out = {}
    for family in names:
        own = FOLDERS.get(family, family.lower())
        usual = (f"nvidia/cu{major}/lib", f"nvidia/{own}/lib", f"{own}/lib")
        usual = usual if int(major or 0) >= 13 and family not in APART else (usual[1], usual[2], usual[0])
        out[family] = next((one for one in usual if f"/{one}:" in searched or f"/{one} " in searched), usual[0])
    return out


def stand_ins(env: Path, names: dict[str, str], where: dict[str, str], symbols: set[str], second: Path) -> None:
    """One tiny library for each name, in its wheel's folder, and a second copy of all in one folder."""
    second.mkdir(parents=True, exist_ok=True)
    code = second / "all.c"
    plain = sorted({one.split("@")[0] for one in symbols} - set(ANSWERS))
    lines = [f"long {one}(void) {{ return 0; }}" for one in plain]
    lines += ANSWERS.values()
    code.write_text("\n".join(['#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"', *lines, ""]))
    core = second / "all.o"
    good(call("gcc", "-w", "-O0", "-fPIC", "-fno-builtin", "-c", str(code), "-o", str(core)))
    for node in {one.split("@")[-1] for one in symbols if "@" in one}:
        (second / f"{node}.map").write_text(f"{node} {{ global: *; }};\n")
    order = sorted(names, key=lambda family: len(NEEDS.get(family, ())))
    for family in order:
        place = site(env) / where[family]
        place.mkdir(parents=True, exist_ok=True)
        for target in (second, place):
            link(target / names[family], names, where, family, core, second)
    for left in (code, core, *second.glob("*.map")):
        left.unlink()


def link(path: Path, names: dict[str, str], where: dict[str, str], family: str, core: Path, second: Path) -> None:
    """Link one stand-in, with the needs and the RUNPATH that NVIDIA's own have."""
    others = [one for one in NEEDS.get(family, ()) if one in names]
    needs = [str(second / names[one]) for one in others]
    folders = ":".join(dict.fromkeys(f"$ORIGIN/../../{Path(where[one]).parts[-2]}/lib" for one in others))
    run = [f"-Wl,--enable-new-dtags,-rpath,$ORIGIN:{folders}"] if needs and path.parent != second else []
    script = second / f"{path.name}.map"
    run += [f"-Wl,--version-script={script}"] if script.exists() else []
    good(call("gcc", "-shared", "-nostdlib", "-Wl,--no-as-needed", f"-Wl,-soname,{path.name}", *run, str(core), *needs,
              "-o", str(path)))  # fmt: skip


def driver(folder: Path, env: Path, kind: Kind) -> None:
    """A stand-in driver with one device, and a stub for whatever else of it the framework links."""
    asked = {one.split("@")[0] for path in askers(env, kind) for one in undefined(path)}
    if kind.name == "tensorflow":  # it asks for the driver's functions by name
        asked |= {one for path in askers(env, kind) for one in call("strings", "-n", "6", str(path)).stdout.split("\n")}
    stubs = folder / "stubs.c"
    stubs.write_text(
        "".join(
            f"__attribute__((weak)) int {one}(void) {{ return 0; }}\n" for one in sorted(asked) if DRIVER.fullmatch(one)
        )
    )
    source, made = str(Path(__file__).with_name("lab_driver.c")), str(folder / "libcuda.so.1")
    good(call("gcc", "-w", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", source, str(stubs), "-o", made, "-ldl"))


# ---------------------------------------------------------------- the two answers


Files = set[tuple[str, str]]
"""Libraries by name and file: two files of one name can be loaded in one process."""


def imported(env: Path, kind: Kind, world: dict[str, str], folder: Path) -> tuple[list[str], str]:
    """What the loader says of an import, and how that ended."""
    for old in folder.glob("ld.*"):
        old.unlink()
    code = f"MODEL = {MODEL!r}\n{kind.code}"
    environ = {**world, "LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": str(folder / "ld"), "TF_CPP_MIN_LOG_LEVEL": "0",
               "FAKECUDA": "driver=13020;devices=1;cc=80"}  # fmt: skip
    done = call(str(env / "bin/python"), "-c", code, environ=environ)
    lines = [line for log in folder.glob("ld.*") for line in log.read_text(errors="replace").splitlines()]
    for log in folder.glob("ld.*"):
        log.unlink()
    said = done.stderr.strip().splitlines() or [""]
    last = next((line for line in reversed(said) if "cannot open shared object" in line), said[-1])
    return lines, "" if done.returncode == 0 else f"rc {done.returncode} {last[:160]}"


def mapped(env: Path, kind: Kind, world: dict[str, str], folder: Path) -> tuple[Files, str]:
    """The CUDA libraries that were initialised; and how the import ended."""
    lines, ended = imported(env, kind, world, folder)
    paths = [Path(line.split("init: ")[1]) for line in lines if "calling init: " in line]
    ours = [path for path in paths if CUDA_LIBRARY.match(path.name) and not TENSORRT.match(path.name)]
    return {(path.name, os.path.realpath(path)) for path in ours}, ended


def asked_for(env: Path, kind: Kind, world: dict[str, str], folder: Path) -> set[str]:
    """The CUDA libraries that an import asks the loader for, by name, while there is none."""
    lines, _ = imported(env, kind, world, folder)
    names = {line.split("find library=")[1].split(" ")[0] for line in lines if "find library=" in line}
    return {name for name in names if CUDA_LIBRARY.match(name) and not is_part(name) and not TENSORRT.match(name)}


_ASK = """
import json, sys
from gpuwhy.app import Options, Run, live_host
from gpuwhy.model.fact import Known, value_or
host = live_host()
facts = Run(host, Options(python=sys.argv[1])).facts
found = value_or(facts.loads.trees, ())
trees = {t.framework: {"libraries": [[l.name, host.path(l.path), l.via] for l in t.libraries],
                       "missing": [m.name for m in t.missing]} for t in found}
opens = {f.name: [{"name": o.name, "optional": o.optional} for o in value_or(f.opens, ())]
         for f in value_or(facts.target.frameworks, ())}
print(json.dumps({"trees": trees, "opens": opens}))
"""


def facts(env: Path, world: dict[str, str]) -> dict[str, Any]:
    """What gpuwhy sees of an environment in a world."""
    done = call(sys.executable, "-c", _ASK, str(env), environ=world)
    good(done)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def predicted(env: Path, kind: Kind, world: dict[str, str]) -> tuple[Files, set[str], list[str]]:
    """The CUDA libraries that would be loaded; the names of those that come late; those that are missed."""
    told = facts(env, world)
    tree = told["trees"].get(kind.name, {"libraries": [], "missing": []})
    late = {o["name"] for o in told["opens"].get(kind.name, ()) if o["optional"]}
    if kind.name == "jax":  # what the plugin opens by itself needs a GPU that answers
        late |= {name for name, _, via in tree["libraries"] if not via.startswith("preloaded")}
    if kind.name == "ctranslate2":  # cuBLAS, at the first product of matrices
        names = [*tree["missing"], *(name for name, _, _ in tree["libraries"])]
        late |= {name for name in names if name.startswith("libcublas")}
    listed = [(name, path) for name, path, _ in tree["libraries"] if not TENSORRT.match(name)]
    found = {(name, os.path.realpath(path)) for name, path in listed if CUDA_LIBRARY.match(name)}
    return found, late, tree["missing"]


NOT_LOADED = " is predicted, and not loaded"


def compared(real: Files, model: Files, late: set[str]) -> list[str]:
    """Where the two differ."""
    out = [f"{name}: {path} is loaded, and was not predicted" for name, path in sorted(real - model)]
    never = [(name, path) for name, path in sorted(model - real) if name not in late and not is_part(name)]
    return [*out, *(f"{name}: {path}{NOT_LOADED}" for name, path in never)]


def is_part(name: str) -> bool:
    """Whether it is a part of cuDNN, which cuDNN opens at its first use."""
    return name.startswith("libcudnn_")


def as_far(real: Files, model: Files, lost: list[str]) -> list[str]:
    """The model says that it fails: what is missing must not be there, and the rest be what was predicted."""
    out = [f"{name}: predicted as missing, and loaded from {path}" for name, path in sorted(real) if name in lost]
    return [*out, *(f"{name}: {path} is loaded, and was not predicted" for name, path in sorted(real - model))]


# ---------------------------------------------------------------- the table


def worlds(
    env: Path, names: dict[str, str], where: dict[str, str], second: Path, kind: Kind
) -> Iterator[tuple[str, dict[str, str]]]:
    """Each world, made and then unmade."""
    base = [str(second.parent / "driver")] if kind.name != "torch" else []
    yield "plain", {"LD_LIBRARY_PATH": ":".join(base)} if base else {}
    yield "others first", {"LD_LIBRARY_PATH": ":".join([*base, str(second)])}
    looks_into_wheels = kind.name == "jax" or "nvidia/" in own_search(env, kind)
    apart = [] if looks_into_wheels else [str(second)]
    for world, family in (*MOVED.items(), ("cuBLAS gone", "cublas")):
        if family not in names:
            continue
        only = second.parent / "only"
        shutil.rmtree(only, ignore_errors=True)
        only.mkdir()
        if world in MOVED:
            shutil.copy(second / names[family], only / names[family])
        with without(site(env) / where[family] / names[family]), without(second / names[family]):
            yield world, {"LD_LIBRARY_PATH": ":".join([*base, *apart, str(only)])}


@contextlib.contextmanager
def without(path: Path) -> Iterator[None]:
    """Take a file away for a while."""
    aside = path.with_name(f"aside-{path.name}.txt")
    path.rename(aside)
    yield
    aside.rename(path)


def score(folder: Path, release: str, python: str) -> Iterator[dict[str, Any]]:
    """One row for each world of a release."""
    kind = kind_of(*release.split("=="))
    env = environment(folder, kind, python)
    second = folder / "second"
    shutil.rmtree(second, ignore_errors=True)
    (folder / "driver").mkdir(exist_ok=True)
    driver(folder / "driver", env, kind)
    asked = asked_for(env, kind, {"LD_LIBRARY_PATH": str(folder / "driver")}, folder)
    names, symbols = wanted(env, kind, asked)
    stand_ins(env, names, places(env, kind, names), symbols, second)
    for more in asked_for(env, kind, {"LD_LIBRARY_PATH": f"{folder / 'driver'}:{second}"}, folder):
        names.setdefault(family_of(more), more)  # opened only after what is linked was found
    where = places(env, kind, names)
    stand_ins(env, names, where, symbols, second)
    for world, environ in worlds(env, names, where, second, kind):
        real, ended = mapped(env, kind, environ, folder)
        model, late, missing = predicted(env, kind, environ)
        lost = [one for one in missing if one not in late and not is_part(one)]
        if (
            kind.name == "tensorflow"
            and "tf.test" not in kind.code
            and not lost
            and {family_of(name) for name, _ in real} == {"cudart"}
        ):
            yield {"release": release, "python": python, "world": world,
                   "lab": "it stops after the CUDA runtime: the stand-in is no GPU to it"}  # fmt: skip
            continue
        wrong = as_far(real, model, lost) if lost else compared(real, model, late)
        if ended.startswith("rc -") and wrong and all(text.endswith(NOT_LOADED) for text in wrong):
            yield {"release": release, "python": python, "world": world,
                   "lab": f"killed before it had opened all: {ended}"}  # fmt: skip
            continue
        if not lost and "cannot open shared object" in ended:
            wrong.append(f"not predicted: {ended}")
        yield {"release": release, "python": python, "world": world, "mapped": len(real), "predicted": len(model),
               "ended": ended, "missing": lost[:4], "wrong": wrong, "date": time.strftime("%Y-%m-%d")}  # fmt: skip


def main(argv: list[str]) -> None:
    """Score the releases, each as PACKAGE==VERSION@PYTHON."""
    folder, table = Path(argv[0]).resolve(), Path(argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    lines = table.read_text().splitlines() if table.exists() else []
    done = {json.loads(line)["release"] for line in lines}
    for text in argv[2:]:
        release, _, python = text.partition("@")
        if release in done:
            continue
        try:
            rows = list(score(folder, release, python or "3.11"))
        except (RuntimeError, subprocess.TimeoutExpired, OSError, ValueError, IndexError) as error:
            rows = [{"release": release, "python": python, "world": "-", "lab": str(error)[-400:]}]
        with table.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        for row in rows:
            state = row.get("lab") or ("agrees" if not row["wrong"] else f"differs: {row['wrong'][:3]}")
            print(
                f"{release:28} {row['world']:20} {row.get('mapped', '-')!s:>3} {state} {row.get('ended', '')}",
                flush=True,
            )
        shutil.rmtree(folder / "env", ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])
