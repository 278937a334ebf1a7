"""What a question states: framework, release, CUDA, cuDNN, driver, card, system, Python."""

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
    find, data = known().expression, known().stated
    framework, version = "", ""
    for name in TITLES:  # the first that is named with a release, else the first that is named
        release = expression(rf"\b{data[name]}{data['between']}{data['number']}").search(words)
        found = release or expression(rf"\b{data[name]}\d?\b").search(words)
        if found and (release or not framework):
            framework = name
        if release:
            version = release.groups()[-1]
            break
    if framework and not version:  # it may stand apart: "does 2.3 of TensorFlow …"
        found = find("alone").search(words)
        if found and not find("taken").search(words[: found.start(1)]):
            version = found[1]
    cudas, cudnns = (tuple(dict.fromkeys(find(name).findall(words))) for name in ("cuda", "cudnn"))
    driver, python = (find(name).search(words) for name in ("driver", "python"))
    gpu, capability = _card(words)
    named = next((name for name in SYSTEMS if find(name).search(words)), "")
    return Stated(
        framework=framework or case.framework,
        version=version or case.framework_version,
        cuda=next(iter(cudas), ""),
        cudas=cudas,
        cudnn=next(iter(cudnns), ""),
        cudnns=cudnns,
        driver=next(filter(None, driver.groups()), "") if driver else "",
        gpu=gpu or next((one.name for one in case.gpus), ""),
        capability=capability or next((one.capability for one in case.gpus), ""),
        os=named or ("wsl" if case.wsl else case.os.value if case.os else ""),
        python=python[1] if python else "",
    )


def _card(words: str) -> tuple[str, str]:
    capability = known().expression("capability").search(words)
    if capability:
        digits = (capability[1] or capability[2]).replace(".", "")
        return "", f"{digits[:-1]}.{digits[-1]}"
    for found in known().expression("card").finditer(words):
        row = gpus.by_name(found[0].strip()) or gpus.by_name(f"RTX {found[0].strip()}")
        if row and row.capability:
            return row.name.removeprefix("NVIDIA ").removeprefix("GeForce "), row.capability
    return "", ""
