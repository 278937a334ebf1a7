"""What a question states: framework, release, CUDA, cuDNN, driver, card, system, Python."""

from __future__ import annotations

import re

import msgspec

from gpuwhy.ask.question import expression, known
from gpuwhy.knowledge import gpus
from gpuwhy.log.case import Case

TITLES = {
    "tensorflow": "TensorFlow",
    "torch": "PyTorch",
    "jax": "JAX",
    "onnxruntime": "ONNX Runtime",
    "cupy": "CuPy",
}
SYSTEMS = ("wsl", "windows", "macos", "linux")


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
    cudas, cudnns = (tuple(dict.fromkeys(_find(name).findall(words))) for name in ("cuda", "cudnn"))
    driver, python = (_find(name).search(words) for name in ("driver", "python"))
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


def _find(name: str) -> re.Pattern[str]:
    return known().expression(name)


def _framework(words: str) -> tuple[str, str, str]:
    """The framework that is named first with a release, else the first that is named."""
    named = ("", "", "")
    data = known().stated
    for name in TITLES:
        release = expression(rf"\b{data[name]}{data['between']}{data['number']}").search(words)
        found = release or expression(rf"\b{data[name]}\d?\b").search(words)
        if found:
            build = (found.groupdict().get("build") or "").strip("-_ ").lower()
            if release:
                return name, build, release.groups()[-1]
            named = named if named[0] else (name, build, "")
    return named


def _alone(words: str, framework: str) -> str:
    """A release that stands apart from its framework's name: "does 2.3 of TensorFlow …"."""
    found = _find("alone").search(words) if framework else None
    taken = found and _find("taken").search(words[: found.start(1)])
    return found[1] if found and not taken else ""


def _card(words: str) -> tuple[str, str]:
    capability = _find("capability").search(words)
    if capability:
        digits = (capability[1] or capability[2]).replace(".", "")
        return "", f"{digits[:-1]}.{digits[-1]}"
    for found in _find("card").finditer(words):
        row = gpus.by_name(found[0].strip()) or gpus.by_name(f"RTX {found[0].strip()}")
        if row and row.capability:
            return row.name.removeprefix("NVIDIA ").removeprefix("GeForce "), row.capability
    return "", ""


def _system(words: str, case: Case) -> str:
    said = (name for name in SYSTEMS if _find(name).search(words))
    return next(said, "wsl" if case.wsl else case.os.value if case.os else "")
