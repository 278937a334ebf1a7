"""What a failing program asked for, as far as its text tells: library, framework, versions, system."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from gpuwhy.causes.clues.conditions import kind_of, wanted_major
from gpuwhy.knowledge.installs import brings_libraries
from gpuwhy.knowledge.sonames import cuda_of
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.model.version import major_minor, numbers

TITLES = {"tensorflow": "TensorFlow", "torch": "PyTorch", "jax": "JAX", "onnxruntime": "ONNX Runtime", "cupy": "CuPy"}
_WORDS = (
    ("onnxruntime", "onnxruntime"),
    ("jax", r"\bjax(?:lib)?\b"),
    ("tensorflow", r"tensorflow|stream_executor|dso_loader"),
    ("torch", r"torch\b|\bc10\b"),
    ("cupy", r"\bcupy"),
)
_SPEAKERS = {"ort": "onnxruntime", "jax": "jax", "tf": "tensorflow", "torch": "torch", "cupy": "cupy"}
_PACKAGES = {"onnxruntime": ("onnxruntime-gpu", "onnxruntime"), "jax": ("jax", "jaxlib"), "tensorflow": ("tensorflow", "tensorflow-gpu")}  # fmt: skip
_DLL = re.compile(r"(?:lib)?(\w+?)64_(\d+)(?:_\d+)?\.dll$", re.IGNORECASE)
_RUNTIME = re.compile(r"libcudart\.so\.(\d+\.\d+)|cudart64_(\d{2,3})\.dll|\bcu(\d{2})(\d)\b", re.IGNORECASE)


class Asked(msgspec.Struct, frozen=True):
    """What is asked for; "" and 0 where the text does not tell."""

    library: str = ""  # libcublasLt.so.13, cudart64_101.dll
    kind: str = ""  # of the library: cuda, cudnn, …
    major: int = 0  # in the library's name
    framework: str = ""
    version: str = ""  # of the framework
    cuda: str = ""  # the CUDA that is asked for: "10.1", or "11" where only the major is known
    newest: str = ""  # the last CUDA that has a library of this name
    driver: str = ""  # that the text tells of
    windows: bool = False
    folder: str = ""  # where a listing in the text shows the library
    fields: dict[str, str] = {}  # of the symptoms, the strongest first

    @property
    def title(self) -> str:
        """PyTorch; "the framework" where it is not known."""
        return TITLES.get(self.framework, "the framework")

    @property
    def cuda_major(self) -> int:
        """12 of 12.4; 0 where it is not known."""
        return next(iter(numbers(self.cuda)), 0)

    @property
    def brings(self) -> bool:
        """Whether this release of the framework brings its CUDA libraries as wheels."""
        if self.version and not (self.framework == "tensorflow" and self.windows):
            return brings_libraries(self.framework, self.version)
        if self.framework == "tensorflow" and self.windows:  # its wheels with CUDA are for Linux only
            return False
        newest = next(iter(numbers(self.newest)), 12)
        old = (self.kind == "cudnn" and self.major < 9) or (
            self.kind == "cuda" and min(newest, self.cuda_major or 12) < 12
        )
        return self.framework in TITLES and not old


def asked(symptoms: Sequence[Symptom], reading: Reading) -> Asked:
    """Read it off the symptoms behind a cause, strongest first, and off what the text tells besides."""
    naming = next((s for s in symptoms if s.get("library") and kind_of(s.get("library")) != "other"), None)
    library = re.split(r"[/\\]", naming.get("library"))[-1] if naming else ""
    framework = _framework(symptoms, reading)
    names = _PACKAGES.get(framework, (framework,))
    fields: dict[str, str] = {}
    for one in symptoms:
        fields = {**one.fields, **fields}
    return Asked(
        library=library,
        kind=kind_of(library) if library else "",
        major=wanted_major(naming) if naming else 0,
        framework=framework,
        version=next((v for name in names if (v := reading.told.version(name))), ""),
        cuda=_cuda(library, reading),
        newest=(_rows(library).split() or [""])[-1],
        driver=reading.told.version("driver"),
        windows=reading.told.os == "windows" or library.lower().endswith(".dll"),
        folder=_folder(library, reading),
        fields=fields,
    )


def _framework(symptoms: Sequence[Symptom], reading: Reading) -> str:
    """The framework that speaks: by the words of the deciding lines, by who speaks elsewhere, by what is installed."""
    for one in symptoms:
        if one.signature.startswith("loader.tf_"):
            return "tensorflow"
        for name, pattern in _WORDS:
            if re.search(pattern, one.text, re.IGNORECASE):
                return name
    speakers = [_SPEAKERS[s.speaker] for s in reading.symptoms if s.speaker in _SPEAKERS]
    told = [name for name in TITLES if reading.told.version(name)]
    return next(iter((*speakers, *told)), "")


def _cuda(library: str, reading: Reading) -> str:
    """The CUDA version that the asked library belongs to; a neighbour's exact number where it leaves a choice."""
    own = _rows(library)
    if re.fullmatch(r"[\d.]+", own):
        return own
    first, *_, last = own.split() or ["", ""]
    return _spoken(reading) or (first if numbers(first)[:1] == numbers(last)[:1] else "")


def _rows(library: str) -> str:
    """The CUDA versions that ship a library, of Linux or Windows: '10.1 to 11.0'."""
    match = _DLL.match(library)
    if match:
        number = int(match[2])
        suffix = f"{number // 10}.{number % 10}" if number >= 70 else str(number)
        library = f"lib{match[1]}.so.{suffix}"
    return cuda_of(library)


def _spoken(reading: Reading) -> str:
    for one in reading.symptoms:
        match = _RUNTIME.search(one.text)
        if match:
            number = match[2]
            return match[1] or (f"{number[:-1]}.{number[-1]}" if number else f"{match[3]}.{match[4]}")
    told = reading.told.version("cuda") or reading.told.version("nvcc")
    return major_minor(told) if told else ""


def _folder(library: str, reading: Reading) -> str:
    paths = [f for f in reading.told.files if library and f.rsplit("/", 1)[-1].startswith(library)]
    return paths[0].rpartition("/")[0] if paths else ""
