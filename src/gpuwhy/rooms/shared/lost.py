"""Libraries that are lost to a framework: fixes that point the loader at what is there, and install what is not."""

from __future__ import annotations

import re

from gpuwhy.knowledge.cudnn_rules import compiled
from gpuwhy.knowledge.installs import brings_libraries, gpu_requirement, lost_folder, preload_call, wheel_of
from gpuwhy.knowledge.libraries import is_cudnn
from gpuwhy.model import on
from gpuwhy.model.cause import Case, Fix
from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import Framework, NeededLibrary
from gpuwhy.model.version import at_least, major_minor, numbers
from gpuwhy.rooms.shared import needs
from gpuwhy.rooms.shared.commands import change, python_of, word
from gpuwhy.rooms.shared.windows import is_torch, on_windows, toolkit, torch_again
from gpuwhy.rooms.shared.winner import in_image


def pointing(case: Case, pick: needs.Pick) -> tuple[Fix, ...]:
    """For displaced libraries: have them found, or take the release that finds them."""
    found = needs.lost(case, pick, "displaced")
    if not found:
        return ()
    framework = needs.the(case)
    fix = [needs.export(case, needs.folders_of(case, found))]
    if call := preload_call(framework.name, framework.version):
        fix.insert(0, Fix(f"Call {call} at the start of the program, before the first session", safe=True))
    if row := lost_folder(framework.name, framework.version, found[0].name):
        wanted = gpu_requirement(framework.name, framework.distribution, row.last_good, None)
        text = f"Or install {framework.title} {row.last_good}, which finds it"
        fix.append(change(case.facts, text, wanted, because_of=framework.distribution))
    return tuple(fix)


def installing(case: Case, pick: needs.Pick) -> tuple[Fix, ...]:
    """For libraries that are not there: the framework's own requirement, the wheels by name, or an old toolkit."""
    found = needs.lost(case, pick, "nowhere", "other version")
    if not found:
        return ()
    framework = needs.the(case)
    if framework.name == "numba":
        return _nvvm(case)
    if framework.name == "tensorrt":
        return _tensorrt(case, framework)
    built_for = value_or(framework.built_for_cuda, "")
    major = numbers(built_for)[0] if numbers(built_for) else None
    if is_torch(case.facts, framework):
        return (torch_again(framework),)
    if brings_libraries(framework.name, framework.version):
        wanted = gpu_requirement(
            framework.name, framework.distribution, framework.version, major, python_of(case.facts)
        )
        text = "Install the CUDA libraries of this release"
        return (change(case.facts, text, wanted, because_of=framework.distribution),)
    if again := _its_package_again(case, found):
        return again
    wheels = list(dict.fromkeys(filter(None, (of_that_name(need.name, major) for need in found))))
    if wheels and not _passes_over_wheels(case):
        text = "Install the wheels that hold them, then check where they are looked for"
        return (change(case.facts, text, *wheels, because_of=framework.distribution),)
    if on_windows(case.facts):
        lost = [needs.required_lost(case, kind) for kind in (needs.is_cuda, needs.is_cudnn)]
        return toolkit(case.facts, framework, cuda=lost[0], cudnn=lost[1])
    return (_toolkit(case, built_for),)


def _its_package_again(case: Case, found: list[NeededLibrary]) -> tuple[Fix, ...]:
    """What a library of the system asks for lies beside it in its own package: another release would not do."""
    trees = [tree for tree in value_or(case.facts.loads.trees, ()) if tree.framework == needs.the(case).name]
    owners = {one.path: value_or(one.owner, "") for tree in trees for one in tree.libraries}
    packages = {owners.get(one.needed_by, "") for one in found}
    package = packages.pop()
    if packages or not package.endswith(" (dpkg)"):
        return ()
    name = package.split(" ")[0]
    text = f"Install {name} again, which holds {needs.listed(found)} beside {found[0].needed_by}"
    if in_image(case.facts):
        return (Fix(text, on.dockerfile(f"RUN apt-get update && apt-get install -y --reinstall {word(name)}")),)
    return (Fix(text, on.linux(f"sudo apt-get install --reinstall {word(name)}"), root=True),)


def of_that_name(library: str, cuda_major: int | None) -> str:
    """The wheel that ships a library; of cuDNN, which counts by itself, the releases that have that very name."""
    wheel, number = wheel_of(library, cuda_major), re.search(r"\.so\.(\d+)", library)
    return f"{wheel}=={number[1]}.*" if wheel and number and is_cudnn(library) else wheel


def _nvvm(case: Case) -> tuple[Fix, ...]:
    """NVVM, which Numba compiles with: from NVIDIA's wheels, from conda, or of a toolkit."""
    wheels = change(case.facts, "Install Numba's CUDA part with NVVM from NVIDIA's wheels", "numba-cuda[cu12]")
    if in_image(case.facts):
        return wheels, Fix("Or start from an nvidia/cuda image whose tag has devel: it has NVVM and libdevice")
    conda = Fix(
        "Or from conda, in the active environment", "conda install -c conda-forge cuda-nvcc cuda-nvrtc", safe=True
    )
    return wheels, conda, Fix("Or install the CUDA toolkit of NVIDIA: it has NVVM and libdevice")


def _tensorrt(case: Case, framework: Framework) -> tuple[Fix, ...]:
    """The wheel with the libraries has the release of its bindings; an archive's bindings come with their own."""
    name = framework.distribution.removesuffix("-bindings")
    if name == "nvidia-tensorrt" or not at_least(framework.version, "8.6"):
        return (Fix("Put the lib folder of TensorRT's archive on LD_LIBRARY_PATH, or install TensorRT's own wheels"),)
    text = "Install the wheel with TensorRT's libraries, of the release of its bindings"
    return (change(case.facts, text, f"{name}-libs=={framework.version}", because_of=framework.distribution),)


def _passes_over_wheels(case: Case) -> bool:
    """An old TensorFlow looks into no wheel's folder; on Windows nor does ONNX Runtime, before it can preload."""
    name = needs.the(case).name
    if name == "cupy" and on_windows(case.facts):
        return not at_least(needs.the(case).version, "14")
    return name == "tensorflow" or (name == "onnxruntime" and on_windows(case.facts))


def _toolkit(case: Case, built_for: str) -> Fix:
    framework = needs.the(case)
    row = compiled(framework.name, framework.version)
    cudnn = Known(row.cudnn, row.source) if row else framework.built_for_cudnn
    if built_for and in_image(case.facts):
        tag = f"cudnn{cudnn.value.split('.')[0]}-runtime" if isinstance(cudnn, Known) else "runtime"
        return Fix(f"Start from an nvidia/cuda image with CUDA {major_minor(built_for)} whose tag has {tag}")
    if not built_for:
        return Fix("Install the CUDA toolkit that this release was built for")
    also = f" cudnn={major_minor(cudnn.value)}" if isinstance(cudnn, Known) else " cudnn"
    return Fix(
        f"Install the CUDA {major_minor(built_for)} libraries beside it, and have them found",
        on.linux(
            f"conda install -c conda-forge cudatoolkit={major_minor(built_for)}{also}\n"
            "export LD_LIBRARY_PATH=$CONDA_PREFIX/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
        ),
    )
