"""Package ways: which package a file, a module or a message belongs to, and how that very package is put right."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.companions import going_with
from gpuwhy.knowledge.drivers import cuda_of_driver
from gpuwhy.knowledge.extensions import BUILT_BY, package_of
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.ending import USER
from gpuwhy.model.version import numbers
from gpuwhy.rooms.shared.commands import torch_with_cuda
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.pins import pin
from gpuwhy.rooms.text.program_ways import newest, owner_of
from gpuwhy.rooms.text.ways import elsewhere, own_ways, tried
from gpuwhy.rooms.text.wheels import extra_gone
from gpuwhy.rooms.text.where import at_spot, told_release

_EGG = Later(r"(?:site|dist)-packages[\\/]([A-Za-z][\w.]*?)-\d[\w.]*-py\d[\w.-]*\.egg")
_IN = Later(r"(?:site|dist)-packages[\\/]([A-Za-z]\w*)(?:[\\/]|(?:_cuda|_C|_ext)?\.c(?:python|p3))")
_IMPORTED = Later(r"^(?:from|import) +\.?([A-Za-z]\w*)")
_OF_PYG = ("torch_scatter", "torch_sparse", "torch_cluster", "torch_spline_conv", "pyg_lib")


_COMPILED = Later(r"(?:site|dist)-packages[\\/](\w+?)\.c(?:python|p3)")
_BARE = Later(r"from (\w+)(?:\.\w+)* import _\w*C?|import (\w+?)(?:_cuda|_C|_ext)\b")


def _by_path(text: str) -> str:
    """The package that a path belongs to; an egg has its whole name."""
    alone = [package_of(one) for one in _COMPILED.findall(text)]
    if any(alone):
        return next(filter(None, reversed(alone)))
    for found in (_EGG.findall(text), [package_of(one) or one for one in _IN.findall(text)]):
        kept = [one for one in found if one not in ("torch", "nvidia", "tensorflow", "")]
        if kept:
            return kept[-1]
    return ""


def named_package(case: Asked) -> str:
    """The package whose compiled file a message names: by an egg, by its folder, by what the last frame imports."""
    files = "\n".join(line for line in case.text.splitlines() if ".so" in line or ".pyd" in line)
    if name := _by_path(case.lines) or _by_path(files):
        return name
    frames = [one for one in case.reading.ending.stack if _IMPORTED.match(one.code.strip())]
    if frames and frames[-1].owner not in ("", USER, "python", "torch"):
        return frames[-1].owner
    bare = _BARE.search(case.text)
    return next(filter(None, bare.groups()), "") if bare else ""


_XFORMERS = Later(r"xformers was built for[^\0]{0,120}?you have (\d+\.\d+\.\d+)(?:\+(cu\d+))?", re.IGNORECASE)


def _xformers(case: Asked) -> Iterator[Fix]:
    """xFormers names the PyTorch that it was built for, and the one that is there."""
    if found := _XFORMERS.search(case.text):
        wanted = going_with("xformers", found[1])
        index = f" --index-url https://download.pytorch.org/whl/{found[2]}" if found[2] else ""
        if wanted:
            yield tried(f"Install the xformers that was built for PyTorch {found[1]}", f"pip install --no-deps xformers=={wanted}{index}")  # fmt: skip
        yield tried("Or do without it: programs fall back to PyTorch's own attention (leave --xformers out)", "pip uninstall -y xformers")  # fmt: skip


def compiled_again(case: Asked) -> Iterator[Fix]:
    """An extension of another framework release: built again, from where it came."""
    name, told = named_package(case), case.version.partition("+")[0]
    if built := tuple(_xformers(case)):
        yield from built
        return
    if re.search(r"THPVariableClass|libc10(?:_cuda)?\.so: cannot open|libtorch\w*\.so: cannot open", case.text):
        yield tried("Import torch before the extension: it brings the libraries that the extension needs", on.code(f"import torch; import {name or 'EXTENSION'}"))  # fmt: skip
    if name in _OF_PYG:
        version = told or "2.8.0"
        yield tried(f"Install {name} for torch {version}, from its own list of builds", f"pip install --force-reinstall --no-cache-dir {name} -f https://data.pyg.org/whl/torch-{version}+{case.version.partition('+')[2] or 'cu126'}.html")  # fmt: skip
    elif name in BUILT_BY:
        yield tried(f"Install {name} again for the installed PyTorch; its release page has a build for each", BUILT_BY[name])  # fmt: skip
    elif name and (_EGG.search(case.text) or not _IN.search(case.text)):
        yield tried(f"Build {name} again against the installed PyTorch, from its source folder, after deleting what was built before", on.linux("rm -rf build *.egg-info && pip install --no-build-isolation --force-reinstall --no-deps ."))  # fmt: skip
    elif name:
        dashed = name.replace("_", "-")
        yield tried(f"Install or build {dashed} again for the installed framework", f"pip install --force-reinstall --no-cache-dir --no-build-isolation --no-deps {dashed}")  # fmt: skip
    if name and "git+" not in BUILT_BY.get(name, "") and case.framework in ("torch", ""):
        dashed = name.replace("_", "-")
        yield tried(f"Or install the PyTorch that this {dashed} was built for: its release notes or README name it; torch and its companions in one command", f"pip install --upgrade {dashed} torch torchvision")  # fmt: skip


_BY_CONDA = Later(r"pytorch-mutex|cpuonly|py3\.?\d+_cpu_|conda list|_cpu_(?:mkl|generic)|cpu_py3", re.IGNORECASE)


def with_cuda(case: Asked) -> Iterator[Fix]:
    """A build with CUDA: the application's way; of PyTorch the release that is told, for its Python and driver."""
    yield from _built_oneself(case)
    yield from own_ways(case, "cuda")
    yield from elsewhere(case)
    if "map_location" in case.text:
        yield tried(f"Where no GPU is meant to be used: load the file for the CPU{at_spot(case.frame)}", on.code("torch.load(PATH, map_location='cpu')"))  # fmt: skip
    old = bool(case.python) and numbers(case.python) < (3, 9)
    if case.framework == "torch" and _BY_CONDA.search(case.text):
        yield tried("conda's build is the one for the CPU: replace it by conda's build with CUDA", "conda remove -y pytorch\nconda install -c conda-forge pytorch-gpu torchvision")  # fmt: skip
    if case.framework == "torch":
        yield from _torch_with_cuda(case, old)
    elif case.framework == "jax" and old and not case.windows:
        yield tried("JAX for an old Python, with the CUDA 11 that its wheels bring", 'pip install --upgrade "jax[cuda11_pip]==0.4.13" -f https://storage.googleapis.com/jax-releases/jax_cuda_releases.html')  # fmt: skip


_ASKED_FOR = Later(r"-D ?(?:USE|WITH|GGML|LLAMA|BUILD|ENABLE)_\w*CU(?:DA|BLAS)\w* ?= ?(?:ON|1|on|TRUE|true)")


_TOLD_TO = re.compile(r"(?:recompile|rebuild|compile|build|install)[^\n]{0,40}(?:with|using) (?:the )?(?:CMake )?(?:option|flag)s?[^\n]*", re.IGNORECASE)  # fmt: skip
"""What a message says to build with is not what somebody built with."""


def _built_oneself(case: Asked) -> Iterator[Fix]:
    """The text shows a build with CUDA: then another copy than that one is what runs."""
    found = _ASKED_FOR.search(_TOLD_TO.sub("", case.text))
    name = next((one.name for one in case.programs if one.tongue == "python"), "")
    if found and name:
        yield tried(f"It was built with CUDA ({found[0]}), so Python imports another copy: remove every copy (repeat until none is left), and install from the folder of that build", on.linux(f"pip uninstall -y {name}; pip uninstall -y {name}\ncd python-package && pip install --no-cache-dir .\ncd / && python -c 'import {name}; print({name}.__file__)'"))  # fmt: skip


def _torch_with_cuda(case: Asked, old: bool) -> Iterator[Fix]:
    told = case.version.partition("+")[0]
    speaks = case.speaks or cuda_of_driver(case.driver) or ""
    if speaks or old:
        if found := pin(case, speaks=speaks):
            yield found.fix(f"which this driver, of CUDA {speaks}, runs" if speaks else f"the newest for Python {case.python}")  # fmt: skip
    elif told:
        yield tried(f"Install the same PyTorch {told} with CUDA; uv asks the driver which build fits", torch_with_cuda(told))  # fmt: skip


_FROM = Later(r"cannot import name ['\"](\w+)['\"] from (?:partially initialized module )?['\"]([\w.]+)['\"]|module ['\"]([\w.]+)['\"] has no attribute ['\"](\w+)['\"]|No module named ['\"]([\w.]+)['\"]")  # fmt: skip


def agreeing_releases(case: Asked) -> Iterator[Fix]:
    """Two packages that do not fit: the one whose code asks, and the one that lacks what it asks for."""
    yield from extra_gone(case.text)
    found = _FROM.search(case.text)
    lacking = next(filter(None, (found[2], found[3], found[5])), "").split(".")[0] if found else ""
    owner = owner_of(case) or case.reading.ending.owner
    asker = owner if owner not in ("", USER, "python", lacking) else ""
    torch = told_release(case.reading, "torch").partition("+")[0]
    for companion in ("torchvision", "torchaudio"):
        told = told_release(case.reading, companion).partition("+")[0]
        fits = going_with(companion, torch) if torch and told else ""
        if fits and fits != told:
            yield tried(f"torch {torch} and {companion} {told} are no pair: install the {companion} that belongs to this torch", f'pip install --force-reinstall "torch=={torch}" "{companion}=={fits}"')  # fmt: skip
    if asker and lacking:
        yield tried(f"{asker} asks {lacking} for what this release of it does not have: install both anew in one command, so that their pins choose", f"pip install --upgrade {asker} {lacking}")  # fmt: skip
        version = case.reading.told.version(lacking)
        older = f'"{lacking}<{version}"' if version else f"{lacking}==OLDER"
        yield tried(
            f"Or, where {asker} is the newest: an older {lacking}, of the time of {asker}", f"pip install {older}"
        )
    elif asker:
        yield tried(f"Install {asker} anew with what it asks for", f"pip install --upgrade --force-reinstall {asker}")


_MODEL = Later(r"([\w./\\-]+\.(?:pt|pth|ckpt|safetensors|bin|gguf|onnx|h5|engine))\b|PytorchStreamReader|invalid header|HeaderTooLarge|central directory", re.IGNORECASE)  # fmt: skip
_PLACE = Later(r"(/usr/local/cuda[\w.-]*|/usr/lib/x86_64-linux-gnu|/usr/lib64)/\S*?(lib\w+)[\w.-]*\.so[\d.]*")
_OF_CUDNN = Later(r"cudnn", re.IGNORECASE)


def whole_again(case: Asked) -> Iterator[Fix]:
    """A damaged file: which one it is, and what brings it whole."""
    text = case.lines
    if found := _PLACE.search(text):
        if _OF_CUDNN.search(found[2]):
            yield tried(f"Copy cuDNN's files anew from its archive, links kept (cp -P): {found[2]} in {found[1]} is cut or damaged", on.linux(f"sudo cp -P cudnn-*/lib/libcudnn* {found[1]}{'/lib64' if 'cuda' in found[1] else ''}/ && sudo ldconfig"), root=True)  # fmt: skip
            yield tried("Or, where it was installed as a package: install that again", on.linux("sudo apt install --reinstall libcudnn8"), root=True)  # fmt: skip
        else:
            yield tried(f"{found[2]} in {found[1]} is damaged: install the package that holds it again", on.linux(f"sudo apt install --reinstall $(dpkg -S {found[2]} | cut -d: -f1 | sort -u)"), root=True)  # fmt: skip
    yield from own_ways(case, "newest")
    if found := _MODEL.search(text):
        which = f" {found[1]}" if found[1] else ""
        yield tried(f"The model's file{which} is cut or damaged: delete it and download it again (its size and checksum are on its page)")  # fmt: skip
    name = named_package(case) or owner_of(case)
    if name:
        yield tried(f"Install {name} again, past the cache", f"pip install --force-reinstall --no-cache-dir {name.replace('_', '-')}")  # fmt: skip


_COMPILER = Later(r"inductor|dynamo|torch\.compile|TorchRuntimeError|BackendCompilerFailed|triton", re.IGNORECASE)
_DNN = Later(r"cudnn", re.IGNORECASE)


_WORKS = Later(r"(?:fine|works?|worked|ok|okay|good)\b[^\n.]{0,12}?\b(?:with|on|in|under|for)\b (?:\w+[ -=]*){0,2}?[rv]?(\d+\.\d+(?:\.\d+)?)|(?:downgrad\w+|revert\w*|going back)[^\n.]{0,20}? to (?:\w+[ -=]*){0,2}?[rv]?(\d+\.\d+(?:\.\d+)?)[^\n]{0,30}(?:fix|work|solv|help)", re.IGNORECASE)  # fmt: skip
_PIP = {"torch": "torch", "tensorflow": "tensorflow", "jax": "jax", "onnxruntime": "onnxruntime-gpu"}


def _said_to_work(case: Asked) -> Iterator[Fix]:
    """The release that the text says works."""
    if case.framework in _PIP and (works := _WORKS.search(case.text)):
        number = works[1] or works[2]
        spec = number if number.count(".") > 1 else f"{number}.*"
        yield tried(f"Go back to {case.title} {number}, which the text says works", f'pip install "{_PIP[case.framework]}=={spec}"')  # fmt: skip


def _go_around(case: Asked) -> Iterator[Fix]:
    """The part that fails left out."""
    if case.framework == "torch" and _COMPILER.search(case.text):
        yield tried("Go around it: run without the compiler", "export TORCH_COMPILE_DISABLE=1 TORCHDYNAMO_DISABLE=1")
    elif case.framework == "torch" and _DNN.search(case.text):
        yield tried("Go around it: leave cuDNN's tuning, or cuDNN, out", on.code("torch.backends.cudnn.benchmark = False    # then: torch.backends.cudnn.enabled = False"))  # fmt: skip
    elif case.framework in ("jax", "tensorflow") and re.search(r"autotun|fusion|triton|gemm", case.text, re.IGNORECASE):
        yield tried("Go around it: let XLA neither tune nor use Triton", "export XLA_FLAGS='--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false'")  # fmt: skip


def other_release(case: Asked) -> Iterator[Fix]:
    """A bug of a release: the one that is said to work, the newest one, the way around, the one before."""
    back = tuple(_said_to_work(case))
    yield from back
    if case.framework == "tensorflow" and re.search(
        r"jit_compile|XLA_GPU_JIT|unsupported operations when|xla_ops", case.text
    ):
        yield tried("Leave XLA out for this model: an operation of it has no XLA kernel (cuDNN's LSTM and others)", on.code("model.compile(optimizer, loss, jit_compile=False)    # or LSTM(UNITS, use_cudnn=False)"))  # fmt: skip
    old = case.framework == "tensorflow" and any("==1." in fix.command for fix in back)
    yield from () if old else newest(case, "where this may be mended")
    yield from _go_around(case)
    told = case.version.partition("+")[0]
    if case.framework and told:
        package = "jax" if case.framework == "jax" else case.framework
        yield tried(f"Or take the release before {told}, where it worked", f'pip install "{package}<{told}"')
