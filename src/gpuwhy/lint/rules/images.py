"""Rules on images against what is installed in them: CUDA, cuDNN, nvcc, drivers, stubs, conda's libraries."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.knowledge.installs import gpu_requirement
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.catalogue import mistake
from gpuwhy.lint.scope import TENSORFLOW, Scope, is_pinned
from gpuwhy.lint.sheet import Command, Pin
from gpuwhy.lint.versions import allows
from gpuwhy.model.fact import Source
from gpuwhy.model.lint import Mistake, Place
from gpuwhy.model.release import Release
from gpuwhy.model.version import at_least, major_minor, numbers

_ACTIVE = re.compile(
    r"-D(GGML_CUDA|LLAMA_CUBLAS|LLAMA_CUDA|WHISPER_CUDA|GGML_CUBLAS|USE_CUDA|WITH_CUDA)=(on|1|yes|true)", re.IGNORECASE
)
_EXTENSION = source("torch.utils.cpp_extension", "it refuses an nvcc of another CUDA major than torch's")
_OVER = source("pip", "replaces the image's build with the one from the index")
_CONDA = source("requirements of the wheels", "pip's builds bring or open their own CUDA, whatever conda installed")


def needs_system(scope: Scope, pin: Pin) -> Release | None:
    """The release that opens CUDA libraries which nothing in Python brings; None where it is not so, or not known."""
    if pin.reference or pin.origin != "pip" or pin.limits or scope.has_wheels("nvidia-cudnn", "nvidia-cublas"):
        return None
    if pin.name in ("tensorflow", "tensorflow-gpu") and "and-cuda" not in pin.extras:
        return scope.taken(pin)
    if pin.name == "onnxruntime-gpu" and not pin.extras and not scope.environment.other_index:
        return None if {"torch", "pytorch"} & scope.names.keys() else scope.taken(pin)
    if pin.name == "jax" and any(extra.endswith("-local") for extra in pin.extras):
        return scope.taken(pin, f"jax-{pin.extras[0][:6]}-plugin")
    return None


def base_image(scope: Scope) -> Iterator[Mistake]:
    """The CUDA image that runs, against every framework that opens the system's CUDA."""
    base = scope.base
    if base.family != "cuda" or not base.cuda or not scope.environment.runs:
        return
    for pin in [*scope.pins, *scope.environment.carried]:
        row = needs_system(scope, pin)
        unfit = _unfit(scope, row) if row and isinstance(row.cuda, str) else ""
        if row and unfit:
            text = f"{pin.name} {row.version} {unfit}"
            exact = "error" if is_pinned(pin) or pin.name == "tensorflow-gpu" else "warning"
            image = scope.environment.image
            place = image.place if image else pin.place
            yield mistake("base-image", place, text, evidence_of(row, "cuda"), _fitting(pin, row), exact)  # type: ignore[arg-type]
            return


def _unfit(scope: Scope, row: Release) -> str:
    base, cuda, apt = scope.base, str(row.cuda), " ".join(scope.environment.apt)
    if any(containers.LIBRARY_PACKAGES.match(name) for name in scope.environment.apt) or "conda" in apt:
        return ""
    same = numbers(base.cuda)[:1] == numbers(cuda)[:1]
    if not same or (not at_least(cuda, "11") and major_minor(base.cuda) != major_minor(cuda)):
        return f"is built for CUDA {cuda}; image {base.name} holds CUDA {base.cuda}"
    if base.variant == "base":
        return f"opens cuBLAS, cuFFT and others of CUDA {cuda}; image {base.name} holds libcudart alone"
    if isinstance(row.cudnn, str) and not any(containers.CUDNN_PACKAGES.match(n) for n in scope.environment.apt):
        wanted = str(numbers(row.cudnn)[0])
        if base.cudnn == "none":
            return f"opens cuDNN {wanted}; image {base.name} holds none"
        if base.cudnn and base.cudnn != wanted:
            return f"is built for cuDNN {row.cudnn}; image {base.name} holds cuDNN {base.cudnn}"
    return ""


def _fitting(pin: Pin, row: Release) -> str:
    """An image of that CUDA, or the wheels."""
    cudnn = numbers(row.cudnn)[0] if isinstance(row.cudnn, str) else 0
    tag = f"cudnn{'' if cudnn >= 9 else cudnn}-" if cudnn else ""
    image = f"start from an nvidia/cuda image with CUDA {row.cuda} whose tag has {tag}runtime"
    if pin.name == "onnxruntime-gpu":
        wheels = gpu_requirement("onnxruntime", pin.name, row.version, None)
        return f'{image}, or write "{wheels}"' if "[" in wheels else image
    if pin.name.startswith("tensorflow") and at_least(row.version, "2.14"):
        return f'{image}, or write "tensorflow[and-cuda]=={row.version}"'
    return image


def no_system_cuda(scope: Scope) -> Iterator[Mistake]:
    """A framework that opens the system's CUDA on an image that has none, where a GPU is meant."""
    base, stage = scope.base, scope.environment
    if base.family not in ("python", "distro") or not stage.runs or base.windows or base.musl or _brought(scope):
        return
    for pin in scope.pins:
        meant = (
            pin.name in ("tensorflow-gpu", "onnxruntime-gpu")
            or any(e.endswith("-local") for e in pin.extras)
            or scope.gpu_meant
        )
        row = needs_system(scope, pin) if meant else None
        if row and isinstance(row.cuda, str) and row.platform != "source":
            cudnn = f" and cuDNN {row.cudnn}" if isinstance(row.cudnn, str) else ""
            text = (
                f"{pin.name} {row.version} opens CUDA {row.cuda}{cudnn} from the system; image {base.name} has no CUDA"
            )
            yield mistake("no-system-cuda", pin.place, text, evidence_of(row, "cuda"), _fitting(pin, row))
            return


def _brought(scope: Scope) -> bool:
    """CUDA that comes another way: apt, conda, a copied folder, a search path."""
    stage = scope.environment
    path = stage.variables.get("LD_LIBRARY_PATH")
    return bool(
        any(re.match(r"cuda|libcud|libcublas|nvidia-cuda", name) for name in stage.apt)
        or any(pin.origin == "conda" for pin in stage.pins)
        or (path and re.search(r"cuda|nvidia|conda", path.value))
        or any(
            re.search(r"cuda|conda|nvidia", c.text)
            for c in stage.commands
            if c.words and c.words[0] in ("COPY", "wget", "curl", "sh", "bash", "conda", "mamba")
        )
    )


def no_nvcc(scope: Scope) -> Iterator[Mistake]:
    """CUDA code compiled in an image whose tag says that it has no compiler."""
    base, stage = scope.base, scope.environment
    if base.variant not in ("base", "runtime") or any(containers.NVCC_PACKAGES.match(name) for name in stage.apt):
        return
    if any(
        pin.name in ("cuda-nvcc", "cuda-toolkit", "nvidia-cuda-nvcc-cu12", "nvidia-cuda-nvcc") for pin in stage.pins
    ):
        return
    found = _compiles(scope)
    if found:
        place, what, sure = found
        text = f"{what}, and image {base.name} has no nvcc"
        know = containers.TAGS if base.family == "cuda" else containers.PYTORCH_TAGS
        fix = f"compile it in a stage from {base.name.replace('-' + base.variant, '-devel')} and copy the result"
        yield mistake("no-nvcc", place, text, know, fix, "error" if sure else "warning")


def _compiles(scope: Scope) -> tuple[Place, str, bool] | None:
    """What is compiled, where, and whether it surely is."""
    path = scope.environment.path
    for command in scope.environment.commands:
        line = command.lines[0] if command.lines else 0
        if command.words and command.words[0] == "nvcc" and "||" not in command.then:
            return Place(path, line), "nvcc is called", True
        told = _ACTIVE.search(" ".join([command.text, *(v for _, v in command.assigned)]))
        if told and re.match(r"(pip|python|cmake|make|uv)", command.words[0] if command.words else ""):
            return Place(path, line or 1), f"{told[0]} compiles CUDA code", True
    for pin in scope.pins:
        if pin.name in containers.COMPILED and not (pin.reference and pin.version):
            return pin.place, containers.COMPILED[pin.name], pin.name not in containers.PREBUILT
    return None


def build_mismatch(scope: Scope) -> Iterator[Mistake]:
    """An extension compiled with the image's nvcc for a torch of another CUDA major."""
    torch = scope.names.get("torch")
    if scope.base.family != "cuda" or scope.base.variant != "devel" or torch is None or torch.variant == "cpu":
        return
    compiled = next((p for p in scope.pins if p.name in containers.COMPILED and not (p.reference and p.version)), None)
    cuda, know = _torch_cuda(scope, torch)
    if compiled and cuda and numbers(cuda)[:1] != numbers(scope.base.cuda)[:1]:
        base = scope.base
        text = f"{compiled.name} is compiled with CUDA {base.cuda} of {base.name}; torch is built for CUDA {cuda}"
        fix = f"start from a devel image with CUDA {cuda}, or take torch for CUDA {major_minor(base.cuda)}"
        yield mistake(
            "build-cuda-mismatch",
            compiled.place,
            text,
            know,
            fix,
            "error" if is_pinned(torch) or torch.variant else "warning",
        )


def _torch_cuda(scope: Scope, torch: Pin) -> tuple[str, Source]:
    found = re.fullmatch(r"cu(\d+)(\d)", torch.variant)
    if found:
        return f"{found[1]}.{found[2]}", _EXTENSION
    row = scope.taken(torch) if not torch.variant and not scope.environment.other_index else None
    return (str(row.cuda), evidence_of(row, "cuda")) if row and isinstance(row.cuda, str) else ("", _EXTENSION)


def overridden(scope: Scope) -> Iterator[Mistake]:
    """Another build of the framework that the image was made for."""
    base = scope.base
    if base.family not in ("ngc", "pytorch", "tensorflow") or not base.framework:
        return
    for pin in scope.environment.pins:
        if pin.name != base.framework or pin.limits or pin.origin != "pip":
            continue
        if base.version and allows(pin.specifier.split("+")[0], base.version) and not pin.local:
            continue
        if base.family != "ngc" and not base.version:
            continue
        if base.family == "ngc" and not pin.specifier:
            continue
        own = f"{base.framework} {base.version}" if base.version else f"a {base.framework} of its own"
        text = f"image {base.name} holds {own}, and {pin.name}{pin.specifier} is installed over it"
        fix = f"remove {pin.name} from what is installed, or start from a plain image" + (
            " (pip install --constraint keeps the image's build)" if base.family == "ngc" else ""
        )
        yield mistake("image-overridden", pin.place, text, _OVER, fix)


def image_tag(scope: Scope) -> Iterator[Mistake]:
    """nvidia/cuda without a tag."""
    image = scope.environment.image
    if image and scope.base.family == "cuda" and scope.base.untagged:
        text = f"image {image.text}: nvidia/cuda has no tag latest, so the pull fails"
        yield mistake(
            "image-tag",
            image.place,
            text,
            containers.NO_LATEST,
            "name a version, such as nvidia/cuda:12.6.3-cudnn-runtime-ubuntu24.04",
        )


def driver_in_image(scope: Scope) -> Iterator[Mistake]:
    """apt packages that hold a driver."""
    for name, line in scope.environment.apt.items():
        if containers.DRIVER_PACKAGES.match(name):
            text = f"{name} puts a driver into the image; a container uses the host's, and the two must not differ"
            toolkit = re.fullmatch(r"cuda-(\d+-\d+)", name)
            fix = f"install cuda-toolkit-{toolkit[1]}, which has no driver" if toolkit else f"remove {name}"
            yield mistake("driver-in-image", Place(scope.environment.path, line), text, containers.MOUNTED, fix)


def stubs(scope: Scope) -> Iterator[Mistake]:
    """The stub libcuda on the search path of the image that runs."""
    path = scope.environment.variables.get("LD_LIBRARY_PATH")
    if scope.base.variant in ("base", "runtime"):  # stubs come with the devel images alone
        return
    if scope.environment.runs and path and re.search(r"/stubs(/|:|$)", path.value):
        text = "LD_LIBRARY_PATH has a folder of stubs: its libcuda.so answers every call with an error"
        fix = "set it in the RUN line that links (LIBRARY_PATH is enough), not with ENV"
        yield mistake("stubs", path.place, text, containers.STUBS, fix)


def compat(scope: Scope) -> Iterator[Mistake]:
    """cuda-compat's libcuda on the search path of the image that runs, whatever driver the host has."""
    path = scope.environment.variables.get("LD_LIBRARY_PATH")
    if (
        scope.environment.runs
        and path
        and re.search(r"/(cuda[^/:]*/compat|cuda-compat[^/:]*)(/(?!lib\b)|:|$)", path.value)
    ):
        text = (
            "LD_LIBRARY_PATH has a folder of cuda-compat: its libcuda hides the host's, and fails under a newer driver"
        )
        fix = "leave it out: the NVIDIA runtime brings cuda-compat in by itself where it is needed"
        yield mistake("compat-first", path.place, text, containers.MOUNTED, fix)


def hidden(scope: Scope) -> Iterator[Mistake]:
    """Variables of the image that runs which hide every GPU from its containers."""
    if not scope.environment.runs or not (scope.gpu_framework() or scope.base.gpu):
        return
    for name, values in _HIDING.items():
        variable = scope.environment.variables.get(name)
        if variable and variable.value.strip().strip("\"'") in values:
            text = f"{name}={variable.value} in the image hides every GPU from its containers"
            yield mistake("gpus-hidden", variable.place, text, containers.TOOLKIT, f"remove {name}")


_HIDING = {"NVIDIA_VISIBLE_DEVICES": ("void", "none"), "CUDA_VISIBLE_DEVICES": ("-1", "")}


def at_build(scope: Scope) -> Iterator[Mistake]:
    """Commands that fail without a GPU."""
    for command in scope.environment.commands:
        if _needs_gpu(command):
            place = Place(scope.environment.path, command.lines[0])
            name = command.words[0].rsplit("/", 1)[-1]
            text = f"{name} runs while the image is built, where there is no GPU and no driver"
            yield mistake(
                "gpu-at-build", place, text, containers.BUILDS, "run it when the container starts (CMD, ENTRYPOINT)"
            )


def _needs_gpu(command: Command) -> bool:
    if not command.words or command.then == "||":
        return False
    name = command.words[0].rsplit("/", 1)[-1]
    asserts = bool(re.search(r"assert\s+torch\.cuda\.is_available\(\)", command.text))
    return name == "nvidia-smi" or (name.startswith("python") and asserts)


def capabilities(scope: Scope) -> Iterator[Mistake]:
    """NVIDIA_DRIVER_CAPABILITIES of the image that runs."""
    variable = scope.environment.variables.get("NVIDIA_DRIVER_CAPABILITIES")
    if scope.environment.runs and variable and (scope.gpu_framework() or scope.base.gpu):
        yield from lacking_compute(variable.value, variable.place)


def lacking_compute(value: str, place: Place) -> Iterator[Mistake]:
    """A list of capabilities without the one that brings libcuda."""
    listed = {part.strip() for part in value.lower().split(",") if part.strip()}
    if listed and not listed & {"all", "compute", "graphics", "display"} and "$" not in value:
        text = f"NVIDIA_DRIVER_CAPABILITIES={value} lacks compute: the container gets no libcuda.so.1"
        fix = f"write NVIDIA_DRIVER_CAPABILITIES=compute,{value}"
        yield mistake("driver-capabilities", place, text, containers.TOOLKIT, fix)


def conda_mix(scope: Scope) -> Iterator[Mistake]:
    """conda's CUDA beside pip's builds: unused by torch, and of the wrong major for TensorFlow."""
    toolkit = next((p for p in scope.pins if p.origin == "conda" and p.name in _TOOLKITS), None)
    if toolkit is None or scope.environment.locked:
        return
    for pin in scope.pins:
        row = (
            scope.taken(pin) if pin.origin == "pip" and pin.name in ("torch", *TENSORFLOW) and not pin.variant else None
        )
        if row and isinstance(row.cuda, str):
            brings = isinstance(row.requires, dict) and (pin.name == "torch" or "and-cuda" in pin.extras)
            yield from (_unused if brings else _other_major)(scope, pin, row, toolkit)


_TOOLKITS = ("cudatoolkit", "cuda-toolkit", "pytorch-cuda", "cuda-version")


def _other_major(scope: Scope, pin: Pin, row: Release, toolkit: Pin) -> Iterator[Mistake]:
    told, cuda = toolkit.specifier.lstrip("=").rstrip(".*"), str(row.cuda)
    if told and numbers(told) and numbers(told)[:1] != numbers(cuda)[:1] and pin.name != "torch":
        at = toolkit.place.line
        text = f"{pin.name} {row.version} opens CUDA {cuda}; conda installs {toolkit.name} {told} (line {at})"
        fix = f"write {toolkit.name}={major_minor(cuda)}"
        yield mistake("conda-pip-mix", pin.place, text, evidence_of(row, "cuda"), fix, "error")


def _opened_by_another(scope: Scope, pin: Pin) -> bool:
    """Whether another framework beside it takes CUDA from the system."""
    others = [
        p for p in scope.pins if p is not pin and p.origin == "pip" and p.name in (*TENSORFLOW, "onnxruntime-gpu")
    ]
    return any(not p.extras for p in others)


def _unused(scope: Scope, pin: Pin, row: Release, toolkit: Pin) -> Iterator[Mistake]:
    compiles = any("nvcc" in name for name in scope.names) or toolkit.name not in ("cudatoolkit", "pytorch-cuda")
    if not compiles and not _opened_by_another(scope, pin):
        said = f"{toolkit.name}{toolkit.specifier} (line {toolkit.place.line})"
        text = f"pip's {pin.name} {row.version} brings CUDA {row.cuda} itself; conda's {said} is not used"
        fix = f"remove {toolkit.name}, or take {pin.name} from conda too"
        yield mistake("conda-pip-mix", pin.place, text, _CONDA, fix)
