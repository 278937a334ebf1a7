"""Versions: "which CUDA do I need for PyTorch 2.3" is answered by the rows of that release."""

from __future__ import annotations

from gpuwhy.knowledge import naming, releases
from gpuwhy.knowledge.drivers import Floor, floor
from gpuwhy.knowledge.installs import brings_libraries
from gpuwhy.model.guide import Guide, Next
from gpuwhy.model.release import Release
from gpuwhy.spoken.heard import Heard

_PROJECTS = {
    "torch": ("torch",),
    "tensorflow": ("tensorflow", "tensorflow-gpu"),
    "jax": ("jax-cuda12-plugin", "jaxlib"),
    "onnxruntime": ("onnxruntime-gpu",),
}
_LINUX = "linux-x86_64"


def versions(heard: Heard) -> Guide:
    """What a release was built for, or the driver that a CUDA needs; without a release, the command that tells."""
    if heard.cuda and not heard.framework and (need := floor(heard.cuda)):
        return _driver_of(heard.cuda, need)
    projects = _PROJECTS.get(heard.framework, ())
    row = next((found for name in projects if (found := _row(name, heard.version, heard.cuda))), None)
    if row is None and heard.cuda and not heard.version and heard.framework:
        return _none_for(projects[0], heard.cuda)
    if row is None or not isinstance(row.cuda, str):
        return _unnamed(projects[0] if projects else "torch", heard.version)
    cudnn = f" and cuDNN {row.cudnn}" if isinstance(row.cudnn, str) else ""
    about = f"{row.name} {row.version} (Linux) was built for CUDA {row.cuda}{cudnn}"
    brings = brings_libraries(heard.framework, row.version)
    note = (
        "Its wheels bring CUDA and cuDNN: only a new enough NVIDIA driver is needed, and no toolkit"
        if brings
        else "It needs exactly these installed beside it: its wheel brings neither CUDA nor cuDNN"
    )
    return Guide("versions", about, (), _steps(row.name, row.version), note)


def _driver_of(cuda: str, need: Floor) -> Guide:
    windows = floor(cuda, "windows")
    about = f"CUDA {cuda} needs NVIDIA driver {need.driver} or newer on Linux" + (
        f", {windows.driver} on Windows" if windows else ""
    )
    note = "The driver that is there: nvidia-smi shows its version, and as “CUDA Version” the newest CUDA that it runs"
    return Guide("versions", about, (), (Next("gpuwhy check", "the driver here, and what each framework needs"),), note)


def _none_for(name: str, cuda: str) -> Guide:
    about = f"The default package index has no {name} that is built for CUDA {cuda}"
    own = "PyTorch's own index has builds for several CUDAs (plan names it). " if name == "torch" else ""
    note = f"{own}A newer driver runs a build for an older CUDA of the same or an older major version: the toolkit need not be the same"
    return Guide("versions", about, (), _steps(name, ""), note)


def _row(name: str, version: str, cuda: str = "") -> Release | None:
    """The newest fitting release with CUDA on Linux; without a version, of those that were built for this CUDA."""
    known = releases.family(name)
    if known is None:
        return None
    rows = [row for row in known.rows if row.platform == _LINUX and isinstance(row.cuda, str)]
    if cuda and not version:
        rows = [row for row in rows if f"{row.cuda}.".startswith(f"{cuda}.")]
    chosen, _ = naming.chosen(version, list(dict.fromkeys(row.version for row in rows)))
    kept = [row for row in rows if row.version in chosen[-1:]]
    return kept[-1] if kept else None


def _steps(name: str, version: str) -> tuple[Next, ...]:
    spec = f" {version}" if version else ""
    wish = f'"{name}=={version}"' if version else name
    return (
        Next(f"gpuwhy releases {name}{spec}", "CUDA, cuDNN, Pythons and GPUs of the release, with the files that show it"),
        Next(f"gpuwhy plan {wish}", "what to install for it on this machine; --gpu and --driver describe another"),
    )  # fmt: skip


def _unnamed(name: str, version: str) -> Guide:
    about = "Which versions go together depends on the framework's release: releases tells it, plan chooses"
    return Guide("versions", about, (), _steps(name, version))
