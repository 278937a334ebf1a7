"""install.conflict in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.knowledge.installs import pip_newest
from gpuwhy.knowledge.messages import CPU_BUILD, NO_CUDNN, NO_GPU, NO_START, UNRESOLVED
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.signature import error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.common import providers_matter
from gpuwhy.rooms.text.conditions import all_of, field, no, whole, with_
from gpuwhy.rooms.text.env_ways import one_package
from gpuwhy.rooms.text.installing import jax_together
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.remedies import BAKED
from gpuwhy.rooms.text.room import Text


def _both_tensorflows(s: Symptom, r: Reading) -> bool:
    told = r.told.versions
    return len({"tensorflow", "tensorflow-gpu", "tensorflow-cpu"} & told.keys()) > 1


def _both_runtimes(s: Symptom, r: Reading) -> bool:
    return {"onnxruntime", "onnxruntime-gpu"} <= r.told.versions.keys()


_GPU_FILE = re.compile(
    r"nvidia|cuda|cudnn|nccl|tensorrt|lib(?:nv|cu|nccl|torch|tensorflow)|onnxruntime|mxnet|paddle|torch|tensorflow",
    re.IGNORECASE,
)


def of_gpus(s: Symptom, r: Reading) -> bool:
    """The packages or files are of the GPU stack."""
    return bool(_GPU_FILE.search(s.text))


_OF_CUDA = re.compile(r"-cu(1\d)$")


def _newest(name: str) -> int:
    """The CUDA in the name of a wheel of NVIDIA's."""
    found = _OF_CUDA.search(name)
    return int(found[1]) if found else 0


def _named(symptoms: Sequence[Symptom], reading: Reading) -> Iterator[Fix]:
    """The packages that are named together: all out, and the one for GPUs in."""
    said = next((one for one in symptoms if one.signature == "remark.both"), None)
    if said is None:
        return
    names = said.get("packages").split()
    keep = max(
        names, key=lambda one: (bool(re.search(r"-(?:gpu|cu\d|cuda)", one)), _newest(one))
    )  # of two CUDAs the later
    release = reading.told.version(keep) if _OF_CUDA.search(keep) else ""
    keep = f"{keep}=={release}" if release else keep
    text = f"Remove {' and '.join(names)}, which write the same files, then install one"
    yield Fix(text, f"pip uninstall -y {' '.join(names)}\npip install --no-cache-dir {keep}", safe=True)


def _made(case: Asked) -> Iterator[Fix]:
    if any(signature == "jax.plugin_abi" for signature, _, _ in case.behind):
        yield jax_together(case, "\n".join(line for _, line, _ in case.behind))


TEXT = Text(
    "install.conflict",
    signatures=(
        error("packages.clobber", r"\bclobber(?:error|warning)\b|incompatible packages due to a shared path", "clobber", "shared path"),
        error("packages.clash", r"\bfile \S{1,200} (?:from install of (?P<package>\S{1,120}) conflicts"
              r"|conflicts between attempted installs)"
              r"|trying to overwrite '(?P<path>[^'\n]{1,200})', which is also in package (?P<package2>\S{1,120})"
              r"|^\s*(?P<package3>\S{0,80}(?:nvidia|cuda|cudnn|nccl|libnv|libcu|tensorrt)\S{0,80}) ?: (?:conflicts"
              r"|breaks): |listed in both RECORD|both own \S{0,80}site-packages",
              "from install of", "between attempted installs", "trying to overwrite", "conflicts: ", "breaks: ",
              "in both record", "both own", covers=("title.", "else.apt", "packages.conflict")),
        error("ort.two_packages", r"multiple onnxruntime packages|onnxruntime packages are installed", "onnxruntime packages"),
        error("cupy.two_packages", r"multiple cupy packages are installed", "multiple cupy packages"),
        error("packages.uninstalled_over", r"successfully uninstalled (?P<package>tensorflow|torch|onnxruntime)[\w-]*", "successfully uninstalled"),
        error("title.two_packages", r"\b(?:tensorflow|onnxruntime|cupy|torch)\b[^\n]{0,30}\b(?:and|plus|alongside"
              r"|together with)\b[^\n]{0,10}\b(?:tensorflow-(?:gpu|cpu)|onnxruntime-gpu|cupy-cuda\w+)\b"
              r"|both (?:the )?(?:cpu and (?:the )?gpu|gpu and (?:the )?cpu) (?:versions?|packages?|builds?)",
              "tensorflow-gpu", "tensorflow-cpu", "onnxruntime-gpu", "cupy-cuda", "cpu and", "gpu and"),
    ),
    clues=(
        ("container.baked", 5.0, "the image carries files of a driver, where the runtime wants to put the host's own"),
        ("packages.clobber", 4.6, "two packages bring the same file", whole(r"cuda|cudnn|cublas|nvidia|nccl|torch|tensorflow|jax|triton|cupy|gpu|onnxruntime")),
        ("remark.both", 5.0, "{packages} are both installed: they write the same files"),
        ("packages.clash", 5.0, "two packages bring the same file: {path}", of_gpus),
        ("packages.partial", 2.4, "{name} is an empty shell; this happens after uninstalling one of two packages"),
        ("cupy.two_packages", 5.2, "two CuPy packages are installed over each other"),
        ("ort.two_packages", 5.0, "two onnxruntime packages are installed over each other"),
        ("tf.partial", 3.8, "tensorflow is an empty shell; this happens after uninstalling one of two packages"),
        ("ort.partial", 3.8, "onnxruntime is an empty shell; this happens after uninstalling one of two packages"),
        ("ort.not_available", 2.7, "the CPU package may have been installed over the GPU one", no(with_("windows.load_library", "ort.load_shared"))),
        ("ort.not_available", 4.0, "both onnxruntime packages are listed", _both_runtimes),
        ("ort.listed", 2.7, "the CPU package may have been installed over the GPU one", all_of(providers_matter, no(with_("windows.load_library", "ort.load_shared")))),
        ("ort.listed", 4.0, "both onnxruntime packages are listed", _both_runtimes),
        ("told.package", 2.9, "several tensorflow packages are listed", _both_tensorflows),
        ("told.package", 2.9, "both onnxruntime packages are listed", _both_runtimes),
        ("loader.undefined_symbol", 2.6, "{symbol} is missing: two wheels write one libnccl", field("symbol", r"p?nccl")),
        ("loader.undefined_symbol", 3.2, "{symbol} is missing: two wheels write one libnccl", all_of(field("symbol", r"p?nccl"), field("object", r".*libtorch"))),
        ("packages.no_suitable", 2.4, "installing pulls the CPU package over the GPU one"),
        ("jax.plugin_abi", 2.0, "the plug-in and jaxlib are of different releases"),
        ("packages.uninstalled_over", 1.6, "{package} was removed"),
        ("tf.old_api", 0.8, "the tensorflow that is imported is not the one that is expected"),
        ("title.two_packages", 2.5, "two packages that provide the same files are named together"),
    ),
    ladder=one_package,
    remedies=(
        meant("Remove the driver's files from the image: it carries libnvidia-ml and its kin, which the runtime wants to mount in their place", BAKED, said="container.baked"),
        meant("Two wheels bring NCCL, and the older one's file won: take all of them out, install PyTorch's own again, and leave the system's out of the search",
              on.linux("pip uninstall -y nvidia-nccl-cu11 nvidia-nccl-cu12 nvidia-nccl-cu13\npip install --force-reinstall --no-cache-dir nvidia-nccl-cu12 && unset LD_LIBRARY_PATH"),
              said="loader.undefined_symbol", line=r"undefined symbol: nccl", safe=True),
        meant("Remove all packages of TensorFlow, then install one", on.linux(f"pip uninstall -y tensorflow tensorflow-gpu tensorflow-cpu\n{pip_newest('tensorflow')}"),
              by="tensorflow", safe=True),
        meant("Remove all packages of ONNX Runtime, then install one", f"pip uninstall -y onnxruntime onnxruntime-gpu\n{pip_newest('onnxruntime')}", by="onnxruntime", safe=True),
        meant("Remove all packages of CuPy, then install the one for the CUDA of the environment",
              "pip uninstall -y cupy cupy-cuda11x cupy-cuda12x cupy-cuda13x\npip install cupy-cuda13x    # for CUDA 12: cupy-cuda12x",
              by="cupy", safe=True),
        meant("Check which packages of one family are installed together; remove them all, then install one", "pip list", safe=True, look=True),
    ),
    admitted_by=(*NO_GPU, *NO_CUDNN, *NO_START, *UNRESOLVED, *CPU_BUILD),
    made=_made,
    named=_named,
)  # fmt: skip
