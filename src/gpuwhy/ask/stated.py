"""What a question states: framework, release, CUDA, cuDNN, driver, card, system, Python."""

from __future__ import annotations

import re

import msgspec

from gpuwhy.knowledge import gpus
from gpuwhy.log.case import Case

TITLES = {
    "tensorflow": "TensorFlow",
    "torch": "PyTorch",
    "jax": "JAX",
    "onnxruntime": "ONNX Runtime",
    "cupy": "CuPy",
}
_FRAMEWORKS = {
    "tensorflow": r"(?:tensor[ -]?flow|tf|keras)(?P<build>[-_ ](?:gpu|cpu)\b)?",
    "torch": r"(?:py)?torch",
    "jax": r"jax(?:lib)?",
    "onnxruntime": r"(?:onnx ?runtime|ort)(?:-gpu)?",
    "cupy": r"cupy(?:-cuda\w+)?",
}
_BETWEEN = (
    r"(?:['’]s)?[ ,]*(?:=+|>=|version|release|v|toolkit|runtime|sdk|library|is|at|on)?[ =]*v?\.?"
)
_NUMBER = r"(\d+(?:\.\d+)*)(?:\.[x*])?(?![\w%])"
_CUDA = re.compile(rf"\bcuda(?: toolkit| runtime)?{_BETWEEN}{_NUMBER}", re.IGNORECASE)
_CUDNN = re.compile(rf"\bcudnn{_BETWEEN}{_NUMBER}", re.IGNORECASE)
_DRIVER = re.compile(
    rf"\bdrivers?\b{_BETWEEN}(\d{{3}}(?:\.\d+)*)\b|\b(\d{{3}}\.\d+(?:\.\d+)?)\b", re.IGNORECASE
)
_PYTHON = re.compile(r"\bpython ?v?(\d\.\d+)", re.IGNORECASE)
_CAPABILITY = re.compile(
    r"\bsm_?(\d{2,3})\b|compute(?: capability)? ?_?(\d{1,2}\.\d)\b", re.IGNORECASE
)
_CARD = re.compile(
    r"\b(?:(?:nvidia|geforce|quadro|tesla|titan|jetson|rtx|gtx|mx|gt)[ -]?)+[a-z]?\d*[a-z]*\w*"
    r"(?: (?:ti|super|ada|xp|v|rtx|nano|orin|xavier)\b)*"
    r"|\b[ahlvtkpb]\d{1,4}[a-z]{0,2}\b|\b[2345]0[5-9]0(?: ?ti| super)?\b",
    re.IGNORECASE,
)
_SYSTEMS = (
    ("wsl", r"\bwsl ?2?\b"),
    ("windows", r"\bwin(?:dows)? ?(?:7|8|10|11|server)?\b|\b[a-z]:\\|\.dll\b|%path%"),
    ("macos", r"\bmac ?os\b|\bmacbook|\bapple silicon"),
    ("linux", r"\blinux\b|\bubuntu|\bdebian|\bfedora|\bcentos|\brhel|\.so\b|ld_library_path"),
)


class Stated(msgspec.Struct, frozen=True, omit_defaults=True):
    """The names and numbers of a question; "" where it states none."""

    framework: str = ""
    build: str = ""  # "gpu" or "cpu" of tensorflow-gpu, tensorflow-cpu
    version: str = ""
    cuda: str = ""
    cudas: tuple[str, ...] = ()  # every CUDA that it names
    cudnn: str = ""
    cudnns: tuple[str, ...] = ()
    driver: str = ""
    gpu: str = ""
    capability: str = ""
    os: str = ""  # linux, windows, macos, wsl
    python: str = ""


def stated(case: Case, text: str) -> Stated:
    """What the reader found, and what a typed question says in fewer words."""
    words = " ".join(text.split())[:2000]
    framework, build, version = _framework(words)
    cudas = tuple(dict.fromkeys(_CUDA.findall(words)))
    cudnns = tuple(dict.fromkeys(_CUDNN.findall(words)))
    driver = _DRIVER.search(words)
    python = _PYTHON.search(words)
    gpu, capability = _card(words)
    return Stated(
        framework=framework or case.framework,
        build=build,
        version=version or _alone(words, framework) or case.framework_version,
        cuda=next(iter(cudas), ""),
        cudas=cudas,
        cudnn=next(iter(cudnns), ""),
        cudnns=cudnns,
        driver=next(filter(None, driver.groups()), "") if driver else "",
        gpu=gpu or next((one.name for one in case.gpus), ""),
        capability=capability or next((one.capability for one in case.gpus), ""),
        os=_system(words, case),
        python=python[1] if python else "",
    )


def _framework(words: str) -> tuple[str, str, str]:
    """The framework that is named first with a release, else the first that is named."""
    named = ("", "", "")
    for name, pattern in _FRAMEWORKS.items():
        release = re.search(rf"\b{pattern}{_BETWEEN}{_NUMBER}", words, re.IGNORECASE)
        found = release or re.search(rf"\b{pattern}\d?\b", words, re.IGNORECASE)
        if found:
            build = (found.groupdict().get("build") or "").strip("-_ ").lower()
            if release:
                return name, build, release.groups()[-1]
            named = named if named[0] else (name, build, "")
    return named


def _alone(words: str, framework: str) -> str:
    """A release that stands apart from its framework's name: "does 2.3 of TensorFlow …"."""
    if not framework:
        return ""
    found = re.search(
        r"(?:\b(?:version|release|does|with|for|of|the)|^) ?v?"
        r"(\d\.\d+(?:\.\d+)?)(?!\.?\d)(?! ?(?:gb|%))",
        words,
        re.IGNORECASE,
    )
    before = words[: found.start(1)].lower() if found else ""
    taken = re.search(r"(?:cuda|cudnn|python|capability|driver)\W*(?:\w+\W+)?$", before)
    return found[1] if found and not taken else ""


def _card(words: str) -> tuple[str, str]:
    capability = _CAPABILITY.search(words)
    if capability:
        digits = (capability[1] or capability[2]).replace(".", "")
        return "", f"{digits[:-1]}.{digits[-1]}"
    for found in _CARD.finditer(words):
        row = gpus.by_name(found[0].strip()) or gpus.by_name(f"RTX {found[0].strip()}")
        if row and row.capability:
            return row.name.removeprefix("NVIDIA ").removeprefix("GeForce "), row.capability
    return "", ""


def _system(words: str, case: Case) -> str:
    said = (name for name, pattern in _SYSTEMS if re.search(pattern, words, re.IGNORECASE))
    return next(said, "wsl" if case.wsl else case.os.value if case.os else "")
