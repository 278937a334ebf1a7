"""Caps: what a release needs of other packages and does not state, and releases that are themselves broken.

Every row was seen to fail here without it and to work with it, or names its source.
"""

from __future__ import annotations

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least, numbers
from gpuwhy.knowledge.installs import LOST_FOLDERS
from gpuwhy.knowledge.tables import source

NEWEST_MINOR = {9: 2, 10: 2, 11: 8, 12: 9, 13: 4}
"""The last minor release of each CUDA major, where a package names the major alone."""


class CapRow(msgspec.Struct, frozen=True):
    """Releases [since, until) of a framework need `requirement`, which their own metadata does not demand."""

    framework: str
    since: str
    until: str
    requirement: str
    because: str
    source: Source
    stops: bool = True  # the package cannot be imported, or not be used
    always: bool = False  # it is needed, not only limited where it is there
    importers: tuple[
        str, ...
    ] = ()  # what imports the package whenever it is imported itself: bitsandbytes<0.45
    late: bool = False  # and only a part of it that many never use needs it: told where a program ended there


def _tried(what: str) -> Source:
    return source("installed and imported, Linux x86_64, November 2026", what)


CAPS: tuple[CapRow, ...] = (
    CapRow(
        "triton",
        "2.1",
        "3.3",
        "setuptools>=40",
        "it imports setuptools to compile, and so does what imports it",
        _tried(
            "the files of 2.1.0, 2.2.0, 3.0.0, 3.1.0 and 3.2.0; bitsandbytes 0.42.0 on 3.2.0 fails in its import"
        ),
        always=True,
        importers=("bitsandbytes<0.45",),
        late=True,
    ),
    CapRow(
        "tensorflow-hub",
        "0.13",
        "0.17",
        "setuptools<82",
        "it imports pkg_resources, which setuptools had up to release 81",
        _tried("the files of 0.13.0 to 0.16.1, and of setuptools 81.0.0 and 82.0.0"),
        always=True,
    ),
    CapRow(
        "tensorflow",
        "1.0",
        "2.6",
        "protobuf<3.21",
        "its generated code does not load under protobuf 4 and newer, which its metadata lets in",
        _tried(
            "1.15.5 and 2.0.4 to 2.5.3, the last of each minor, fail with protobuf 4.24 to 6.33; 2.6.5 asks for <3.20"
        ),
    ),
    CapRow(
        "tensorflow",
        "2.7",
        "2.12",
        "numpy<2",
        "it was compiled for NumPy 1, and its metadata lets NumPy 2 in",
        _tried(
            "2.7.4, 2.8.4, 2.9.3, 2.10.1 and 2.11.1 fail with NumPy 2.0 and 2.2; 2.12.1 asks for <1.24 itself"
        ),
    ),
    CapRow(
        "torch",
        "1.0",
        "2.3",
        "numpy<2",
        "it was compiled for NumPy 1, and its metadata lets NumPy 2 in",
        _tried(
            "torch 1.13.1: tensors do not become NumPy 2 arrays; PyTorch 2.3 is the first built for NumPy 2"
        ),
        stops=False,
    ),
    CapRow(
        "torch",
        "1.10",
        "1.11",
        "setuptools<82",
        "it imports pkg_resources, which setuptools had up to release 81, and does not ask for it",
        _tried("1.10.2 fails in its import without setuptools and works with 81"),
        always=True,
    ),
    *(
        CapRow(
            "cupy",
            since,
            until,
            "setuptools<82",
            "it imports pkg_resources, which setuptools had up to release 81, and does not ask for it",
            _tried(f"{since} to {until}, one of each minor: the import fails without setuptools"),
            always=True,
        )
        for since, until in (("4.0", "6.7"), ("7.0", "7.1"))
    ),
    CapRow(
        "cupy",
        "4.0",
        "9.2",
        "numpy<1.24",
        "it uses names that NumPy 1.24 and 2.0 removed, and its metadata lets them in",
        _tried(
            "6.6.0 to 9.1.0, one of each minor, fail with NumPy 1.24.4 or 2.0.2 and work with 1.23 (stand-in CUDA)"
        ),
    ),
    CapRow(
        "jax",
        "0.1",
        "0.4.24",
        "scipy<1.13",
        "it uses scipy.linalg.tril and triu, which SciPy 1.13 removed",
        _tried(
            "0.4.20 fails with SciPy 1.14.1 and works with 1.12.0; the wheels up to 0.4.23 name tril, 0.4.24 does not"
        ),
    ),
    CapRow(
        "jax",
        "0.4.35",
        "0.4.36",
        "nvidia-cuda-nvcc-cu12<12.9",
        "it asks for the place of nvidia/cuda_nvcc/__init__.py, which the wheels have no longer since 12.9",
        _tried(
            "0.4.35 fails in its import with 12.9.86; the files of jax 0.4.34, 0.4.36 and nvcc 12.8.93, 12.9.41"
        ),
    ),
    CapRow(
        "jax",
        "0.1",
        "0.4.26",
        "numpy<2",
        "it uses parts of NumPy that 2.0 and 2.4 removed, and its metadata lets them in",
        _tried(
            "0.4.13, 0.4.20 and 0.4.23 fail with the newest NumPy 2, 0.4.26 and newer import; 0.4.24 and 0.4.25 untried"
        ),
    ),
    *(
        CapRow(
            name,
            "0.1",
            until,
            "numpy<2",
            "it was compiled for NumPy 1, and its metadata lets NumPy 2 in",
            _tried(f"{fails} fails with NumPy 2.1.3, {works} works"),
        )
        for name, until, fails, works in (
            ("onnxruntime", "1.18.1", "1.18.1, which asks for <2 itself,", "1.19"),
            ("onnxruntime-gpu", "1.18.1", "onnxruntime 1.18.1, which asks for <2 itself,", "1.19"),
            ("opencv-python", "4.10", "opencv-python-headless 4.9.0.80", "4.10"),
            ("opencv-python-headless", "4.10", "4.9.0.80", "4.10"),
            ("h5py", "3.11", "3.10.0", "3.11"),
        )
    ),
    CapRow(
        "torchvision",
        "0.2.1",
        "0.5",
        "pillow<7",
        "it imports PILLOW_VERSION, which Pillow 7 removed",
        _tried("the files and the metadata of 0.2.0 to 0.5.0: 0.4.2 asks for pillow>=4.1.1"),
        always=True,
    ),
    CapRow(
        "torchtext",
        "0.18",
        "0.19",
        "torch<2.4",
        "its libraries were compiled for PyTorch 2.3, and its metadata lets newer ones in",
        _tried("0.18.0, the last one, misses symbols in PyTorch 2.6.0"),
    ),
)


class Flaw(msgspec.Struct, frozen=True):
    """A release that does not work as published; '' as cure when nothing but another release helps."""

    package: str
    version: str
    text: str
    source: Source
    cure: str = ""
    pythons: tuple[str, ...] = ()  # only on these; () = on all


_NOT_FOUND = source(
    "the wheels' libtensorflow_framework.so.2, cp311 linux x86_64; tensorflow/tensorflow issue 63362",
    "the RUNPATH of 2.16.1 has nvidia/cuda_runtime/lib alone, those of 2.15.1, 2.16.2 and 2.17.0 all of the folders",
)
_TENSORRT = source(
    "uv pip compile of that release, November 2026",
    "its tensorrt wheels are not on the package index for this Python",
)


class Flaws:
    """The known flaws, asked by package and release."""

    def __init__(self, rows: tuple[Flaw, ...]) -> None:
        self.rows = rows

    def find(self, package: str, version: str) -> Flaw | None:
        """The flaw of a release on every Python."""
        return next(
            (
                r
                for r in self.rows
                if (r.package, r.version) == (package, version) and not r.pythons
            ),
            None,
        )

    def pythons(self, package: str, version: str) -> frozenset[str]:
        """The Pythons on which a release is broken."""
        return frozenset(
            p for r in self.rows if (r.package, r.version) == (package, version) for p in r.pythons
        )


BROKEN = Flaws((
    *(
        Flaw(
            row.framework,
            row.version,
            f"does not find {row.library} in its own wheel's folder",
            row.source,
            f"{row.library.split('.')[0].removeprefix('lib')}",
        )
        for row in LOST_FOLDERS
    ),
    *(
        Flaw("tensorrt", version, "asks for tensorrt-bindings that this Python has not",
             source("the files of tensorrt-bindings 8.6.1 on the package index", "cp36 to cp311"),
             pythons=("3.12", "3.13", "3.14", "3.15"))
        for version in ("8.6.1", "8.6.1.post1")
    ),
    Flaw("tensorflow", "2.16.1", "does not find the libraries that its and-cuda extra brings", _NOT_FOUND, "cudnn"),
    Flaw("tensorflow", "2.15.0", "has an and-cuda extra that asks for uninstallable TensorRT wheels", _TENSORRT),
    *(
        Flaw("tensorflow", version, "asks for TensorRT wheels that this Python has not (and-cuda)", _TENSORRT,
             pythons=("3.11",))
        for version in ("2.14.0", "2.14.1")
    ),
))  # fmt: skip


class PtxTrouble(msgspec.Struct, frozen=True):
    """Releases [since, until) of a package whose PTX was seen to fail on GPUs from a capability on."""

    package: str
    since: str
    until: str
    capability: str
    text: str
    source: Source


PTX_TROUBLES: tuple[PtxTrouble, ...] = (
    PtxTrouble(
        "tensorflow",
        "2.14",
        "2.22",
        "10.0",
        "has no machine code for Blackwell, and its PTX was seen to fail there (CUDA_ERROR_INVALID_PTX); NVIDIA's "
        "container nvcr.io/nvidia/tensorflow:25.02-tf2-py3 has TensorFlow built for it",
        source("tensorflow#89272, #99592 and #101746"),
    ),
)


def ptx_trouble(package: str, version: str, capability: str) -> PtxTrouble | None:
    """The row of a release whose PTX is known to fail on a GPU."""
    for row in PTX_TROUBLES:
        inside = at_least(version, row.since) and not at_least(version, row.until)
        if row.package == package and inside and at_least(capability, row.capability):
            return row
    return None


PAIRS: dict[tuple[str, str], dict[str, str]] = {("torchaudio", "2.11.0"): {"torch": ">=2.11"}}
"""Companions whose metadata names no torch: torchaudio 2.11.0 (vllm 0.32.0 pins it together with torch 2.13.0)."""


COMPILING: tuple[CapRow, ...] = (
    CapRow(
        "torch",
        "1.8",
        "2.2",
        "setuptools<70",
        "its torch.utils.cpp_extension takes packaging out of pkg_resources, which setuptools 70 no longer has",
        source(
            "torch/utils/cpp_extension.py of the wheels; flash-attention#981",
            "1.8.1, 1.11.0, 1.12.1, 1.13.1, 2.0.1 and 2.1.2 have the import, 2.2.0, 2.2.2 and 2.3.0 do not",
        ),
    ),
)
"""What a release needs where something is compiled against it, at its installation or at its first use."""


def caps_to_compile(framework: str, version: str) -> tuple[CapRow, ...]:
    """The caps of one release under which extensions of it are compiled."""
    return tuple(
        row
        for row in COMPILING
        if row.framework == framework
        and at_least(version, row.since)
        and not at_least(version, row.until)
    )


def caps(framework: str, version: str) -> tuple[CapRow, ...]:
    """The caps of one release."""
    return tuple(
        row
        for row in CAPS
        if row.framework == framework
        and at_least(version, row.since)
        and not at_least(version, row.until)
    )


def states(framework: str, version: str) -> dict[str, str]:
    """What a release's own metadata demands of packages that people pin beside it."""
    if framework != "tensorflow" or not at_least(version, "2.6"):
        return {}
    major, minor = numbers(version)[:2]
    return {"keras": ">=3" if minor >= 16 else f">={major}.{minor}.0rc0,<{major}.{minor + 1}"}
