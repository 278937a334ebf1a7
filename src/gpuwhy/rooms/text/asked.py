"""What a failing program asked for, as far as its text tells: library, framework, versions, system."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from gpuwhy.knowledge.gpus import by_name
from gpuwhy.knowledge.installs import brings_libraries
from gpuwhy.knowledge.programs import ON_TORCH, Program, speaking
from gpuwhy.knowledge.releases import built_with, find
from gpuwhy.knowledge.sonames import cuda_of
from gpuwhy.model.ending import Frame
from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import Facts
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.model.version import major_minor, numbers
from gpuwhy.rooms.text.around import AROUND, around
from gpuwhy.rooms.text.libraries import kind_of, wanted_major
from gpuwhy.rooms.text.where import own_frame, python_of, told_release

TITLES = {"tensorflow": "TensorFlow", "torch": "PyTorch", "jax": "JAX", "onnxruntime": "ONNX Runtime", "cupy": "CuPy"}
_WORDS = (
    ("onnxruntime", "onnxruntime"),
    ("jax", r"\bjax(?:lib)?\b|\bxla/(?:python|pjrt)/|Execution of replica \d"),
    (
        "tensorflow",
        r"tensorflow|stream_executor|dso_loader|physical_device:|\btf\.(?:config|Session|compat|keras|test)\b"
        r"|(?:Virtual|Physical) devices cannot|/job:localhost|BFC|ResourceExhausted|cuda_dnn\.cc",
    ),
    (
        "torch",
        r"torch\b|torchaudio|torchvision|\b_ZN\w*5torch|\bc10\b|CUDA error: CU(?:BLAS|DNN|SOLVER|FFT|SPARSE)_STATUS"
        r"|when calling `cu|^(?:RuntimeError: )?cuDNN error: |RuntimeError: CUDA error: |TORCH_USE_CUDA_DSA"
        r"|CUDA kernel errors might be",
    ),
    ("cupy", r"\bcupy"),
)
_SPEAKERS = {"ort": "onnxruntime", "jax": "jax", "tf": "tensorflow", "torch": "torch", "cupy": "cupy"}
_XLA = (
    "tf.cudnn_loaded",
    "tf.dnn_init",
    "tf.cudnn_handle",
    "tf.blas",
    "tf.conv_algorithm",
    "tf.ptxas",
    "tf.libdevice",
    "loader.tf_",
)
"""Messages that TensorFlow and JAX share."""
SPEAKERS = frozenset((*TITLES, *AROUND))
"""Whom a remedy may be for."""
_PACKAGES = {"onnxruntime": ("onnxruntime-gpu", "onnxruntime"), "jax": ("jax", "jaxlib"), "tensorflow": ("tensorflow", "tensorflow-gpu", "tf")}  # fmt: skip
_DLL = re.compile(r"(?:lib)?(\w+?)64_(\d+)(?:_\d+)?\.dll$", re.IGNORECASE)
_RUNTIME = re.compile(r"libcudart\.so\.(\d+\.\d+)|cudart64_(\d{2,3})\.dll|\bcu(\d{2})(\d)\b", re.IGNORECASE)


_NAMED = re.compile(
    r"\bcupy[-_]cuda(1\d|[89])(\d)?(?:x|\b)|\\CUDA\\v(\d+\.\d)\\bin", re.IGNORECASE
)  # in a wheel's or a folder's name


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
    speaks: str = ""  # the CUDA of the driver, as nvidia-smi prints it
    gpu: str = ""  # the compute capability of the GPU that the text names
    windows: bool = False
    folder: str = ""  # where a listing in the text shows the library
    tools: frozenset[str] = frozenset()  # who speaks besides
    here: str = ""  # the CUDA that a framework of this machine was built for
    behind: tuple[tuple[str, str, int], ...] = ()  # signature, line and place of the deciding messages
    fields: dict[str, str] = {}  # of the symptoms, the strongest first
    python: str = ""  # 3.9
    programs: tuple[Program, ...] = ()  # that run on the framework, or by themselves
    frame: Frame | None = None  # the user's own place in the program
    reading: Reading = Reading()

    @property
    def driver_system(self) -> str:
        """Whose driver there is: Windows' own under WSL, too."""
        return "windows" if self.windows or "wsl" in self.tools else "linux"

    @property
    def title(self) -> str:
        """PyTorch; "the framework" where it is not known."""
        return TITLES.get(self.framework, "the framework")

    @property
    def lines(self) -> str:
        """The deciding lines."""
        return "\n".join(line for _, line, _ in self.behind)

    @property
    def text(self) -> str:
        """The deciding lines, and the text's beginning and end; paths as they are, not as Python and Go quote them."""
        return f"{self.lines}\n{self.reading.excerpt}".replace("\\\\", "\\")

    @property
    def speakers(self) -> frozenset[str]:
        """The framework and the tools."""
        return self.tools | {self.framework}

    @property
    def suffix(self) -> str:
        """Of NVIDIA's wheels for the CUDA in question; from CUDA 13 on they have none."""
        major = next(iter(numbers(self.here)), 0) or self.cuda_major or self.era or 12
        return "" if major >= 13 else f"-cu{max(major, 11)}"

    @property
    def era(self) -> int:
        """The CUDA major of the program's time, by the framework's release or by an old Python; 0 where nothing tells."""
        rows = (find(name, self.version, "linux-x86_64") for name in _PACKAGES.get(self.framework, (self.framework,)))
        row = next((one for one in rows if one and isinstance(one.cuda, str)), None) if self.version else None
        if row:
            return next(iter(numbers(str(row.cuda))), 0)
        return 10 if "tensorflow_core" in self.text or (self.python and numbers(self.python) < (3, 8)) else 0

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
        if releases := built_with(self.framework, self.fields.get("built", "")):
            return all(brings_libraries(self.framework, one.version) for one in releases)
        newest = next(iter(numbers(self.newest)), 12)
        old = (self.kind == "cudnn" and self.major < 9) or (
            self.kind == "cuda" and min(newest, self.cuda_major or 12) < 12
        )
        return self.framework in TITLES and not old


def asked(symptoms: Sequence[Symptom], reading: Reading, facts: Facts | None = None) -> Asked:
    """Read it off the symptoms behind a cause, strongest first, and off what the text tells besides."""
    naming = next((s for s in symptoms if s.get("library") and kind_of(s.get("library")) != "other"), None)
    library = re.split(r"[/\\]", naming.get("library"))[-1] if naming else ""
    named = _named_in(symptoms, reading)
    programs = speaking(named)
    framework = _below(programs, _framework(symptoms, reading), named)
    names = _PACKAGES.get(framework, (framework,))
    fields: dict[str, str] = {}
    for one in symptoms:
        fields = {**one.fields, **fields}
    return Asked(
        library=library,
        kind=kind_of(library) if library else "",
        major=wanted_major(naming) if naming else 0,
        framework=framework,
        version=next((v for name in names if (v := told_release(reading, name))), ""),
        cuda=_cuda(library, reading),
        newest=(_rows(library).split() or [""])[-1],
        driver=reading.told.version("driver"),
        speaks=reading.told.version("driver_cuda"),
        gpu=_gpu(reading),
        windows=reading.told.os == "windows" or library.lower().endswith(".dll"),
        folder=_folder(library, reading),
        tools=around(symptoms, reading),
        here=_built_here(facts),
        behind=_behind(symptoms),
        fields=fields,
        python=python_of(reading),
        programs=programs,
        frame=own_frame(reading),
        reading=reading,
    )


def _below(programs: Sequence[Program], framework: str, text: str) -> str:
    """The framework below the programs: PyTorch where they run on it; none that is guessed, where they need none."""
    if any(one.name in ON_TORCH for one in programs):
        return framework or "torch"
    guessed = programs and framework and not re.search(dict(_WORDS)[framework], text, re.IGNORECASE)
    return "" if guessed else framework


def _named_in(symptoms: Sequence[Symptom], reading: Reading) -> str:
    """Where a program shows itself: the deciding lines, the files of the stack, the text's beginning and end."""
    files = (one.file for one in reading.ending.stack)
    return "\n".join((*(one.text for one in symptoms), *files, reading.excerpt))


def _gpu(reading: Reading) -> str:
    """The capability of the GPUs that are named, where they are all of one."""
    found = {row.capability for name in reading.told.gpus if (row := by_name(name)) and row.capability}
    if not found and (written := _CARD.search(reading.excerpt)):
        more = f" {written[2] or written[4]}" if written[2] or written[4] else ""
        row = by_name(f"GeForce RTX {written[1] or written[3]}{more}")
        return (row.capability or "") if row else ""
    if not found and (said := _CAPABILITY.search(reading.excerpt)):
        return said[1]
    return found.pop() if len(found) == 1 else ""


_CAPABILITY = re.compile(
    r"(?:on (?:a |this )?device|(?:this|your|the) (?:gpu|card|device)|\bGPU ?\d?:?)[^\n]{0,60}?(?:compute |cuda )?capability (?:of |is |: ?)?(\d{1,2}\.\d)\b",
    re.IGNORECASE,
)
"""The card's capability in words, beside which a build's own may stand."""


_CARD = re.compile(r"(?:rtx|geforce|gpu|card|nvidia)[ :=-]{0,3}([2345]0[5-9]0) ?(ti|super)?\b|\b([2345]0[5-9]0) ?(ti|super)\b", re.IGNORECASE)  # fmt: skip
"""A card as people write it: 3080ti, GPU 3060."""


def _behind(symptoms: Sequence[Symptom]) -> tuple[tuple[str, str, int], ...]:
    lines = list(dict.fromkeys(one.line for one in symptoms))
    return tuple((one.signature, one.text, lines.index(one.line)) for one in symptoms)


def _built_here(facts: Facts | None) -> str:
    found = value_or(facts.target.frameworks, ()) if facts is not None else ()
    return next((cuda for one in found if (cuda := value_or(one.built_for_cuda, ""))), "")


def _framework(symptoms: Sequence[Symptom], reading: Reading) -> str:
    """The framework that speaks: by the words of the deciding lines, by who speaks elsewhere, by what is installed."""
    for one in symptoms:
        for name, pattern in _WORDS:
            if re.search(pattern, one.text, re.IGNORECASE):
                return "jax" if name == "tensorflow" and _by_jax(one, reading) else name
        if one.signature.startswith(_XLA):
            return "jax" if _by_jax(one, reading) else "tensorflow"
    other = next(_elsewhere(reading), "")
    if other == "tensorflow" and _told_only(reading, "jax"):
        return "jax"
    return other or ("jax" if any(one.signature.startswith("memory.xla") for one in symptoms) else "")


def _told_only(reading: Reading, name: str) -> bool:
    """Whether the text tells the release of this framework, and does not name TensorFlow."""
    told = any(map(reading.told.version, _PACKAGES.get(name, (name,))))
    return told and not re.search("tensorflow", _BORROWED.sub("", reading.excerpt), re.IGNORECASE)


_OWNERS = {"torch": "torch", "torchvision": "torch", "jax": "jax", "jaxlib": "jax", "tensorflow": "tensorflow", "keras": "tensorflow", "onnxruntime": "onnxruntime", "cupy": "cupy"}  # fmt: skip


def _elsewhere(reading: Reading) -> Iterator[str]:
    """Whose code raised it, who speaks in other lines, whose release is told, and who alone is named at all."""
    yield from (_OWNERS[one.owner] for one in reversed(reading.ending.stack) if one.owner in _OWNERS)
    yield from (_SPEAKERS[s.speaker] for s in reading.symptoms if s.speaker in _SPEAKERS)
    yield from (name for name in TITLES if any(map(reading.told.version, _PACKAGES.get(name, (name,)))))
    named = [name for name, pattern in _WORDS if re.search(pattern, reading.excerpt, re.IGNORECASE)]
    yield from named if len(named) == 1 else ()


_JAX = re.compile(r"\bimport jax\b|\bjax v?[=0-9]|\bjax(?:lib)?[./\\]|\bjaxlib\b|\bJAX\b")
_BORROWED = re.compile(r"(?:external/)?org_tensorflow/tensorflow/|(?<![\w.])tensorflow/(?:compiler/xla|stream_executor|tsl)/", re.IGNORECASE)  # fmt: skip


def _by_jax(one: Symptom, reading: Reading) -> bool:
    """Whether a message that TensorFlow and JAX share is JAX's: the text speaks of it, and not of TensorFlow."""
    text = "\n".join((one.text, *(s.text for s in reading.symptoms), reading.excerpt))
    named = any(map(reading.told.version, ("jax", "jaxlib"))) or reading.has("jax.") or _JAX.search(text)
    return bool(named) and not re.search("tensorflow", _BORROWED.sub("", text), re.IGNORECASE)


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
        library = f"lib{match[1]}.so.{suffix}" if not cuda_of(library) else library
    return cuda_of(library)


def _spoken(reading: Reading) -> str:
    for one in reading.symptoms:
        match = _RUNTIME.search(one.text)
        if match:
            number = match[2]
            return match[1] or (f"{number[:-1]}.{number[-1]}" if number else f"{match[3]}.{match[4]}")
    if named := _NAMED.search(reading.excerpt):
        return named[3] or (f"{named[1]}.{named[2]}" if named[2] else named[1])
    told = reading.told.version("cuda") or reading.told.version("nvcc")
    return major_minor(told) if told else ""


def _folder(library: str, reading: Reading) -> str:
    paths = [f for f in reading.told.files if library and f.rsplit("/", 1)[-1].startswith(library)]
    folder = paths[0].rpartition("/")[0] if paths else ""
    return re.sub(r"^\./", "$PWD/", folder)
