"""What each tool may be asked, and the command line that answers it; values never become options."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

Path = Annotated[str, Meta(max_length=4096)]
Word = Annotated[str, Meta(max_length=300)]
Text = Annotated[str, Meta(max_length=8 << 20)]
Words = Annotated[list[Word], Meta(max_length=100)]
Paths = Annotated[list[Path], Meta(max_length=200)]
Seconds = Annotated[float, Meta(gt=0, le=86_400)]

Folder = Annotated[Path, Meta(description="the project's folder: relative paths and what lies there count")]
Python = Annotated[
    Path, Meta(description="the Python, or environment folder, under diagnosis; default: the active one")
]
Gpus = Annotated[Words, Meta(description='judge as on these GPUs: "RTX 5090", sm_90')]
Driver = Annotated[Word, Meta(description="and with this driver: 535, 550.54.15")]
System = Annotated[Literal["", "linux", "windows", "wsl"], Meta(description="the system meant")]
Arch = Annotated[Literal["", "x86_64", "aarch64"], Meta(description="the processor meant")]


class Command(NamedTuple):
    """A command line of gpuwhy, what it reads, where it runs and how long it may take."""

    argv: list[str]
    stdin: str = ""
    folder: str = ""
    seconds: float = 120.0


class Asked(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Arguments of a tool; `command` is what answers them."""

    def command(self, record: str) -> Command:
        """The command line; `record` is a file for what a watched program left."""
        raise NotImplementedError


class Here(Asked, frozen=True, kw_only=True):
    """Arguments of a tool that looks at a project or a machine."""

    folder: Folder = ""


class Check(Here, frozen=True):
    """Is this machine and environment able to run GPU work?"""

    python: Python = ""
    gpu: Gpus = msgspec.field(default_factory=list)
    driver: Driver = ""
    root: Annotated[Path, Meta(description="diagnose another machine's files: a folder, OCI layout or archive")] = ""
    recording: Annotated[Path, Meta(description="diagnose a file that `gpuwhy record` wrote")] = ""
    verify: Annotated[bool, Meta(description="hash the installed CUDA libraries; takes longer")] = False
    probe: Annotated[
        Literal["", "gentle", "full"],
        Meta(description="try it live; gentle only reads, full computes on the GPU (only where runs are allowed)"),
    ] = ""

    def command(self, record: str) -> Command:
        """`gpuwhy check`."""
        probe = {"": [], "gentle": ["--gentle"], "full": ["--probe"]}[self.probe]
        argv = ["check", "--json", *_options(self, "python", "driver", "root"), *_each("gpu", self.gpu), *probe]
        argv += [f"--from={self.recording}"] * bool(self.recording) + ["--verify"] * self.verify
        return Command(argv, folder=self.folder, seconds=900.0 if self.probe or self.verify or self.root else 120.0)


class Explain(Here, frozen=True):
    """Why did this log, traceback or error happen?"""

    text: Annotated[Text, Meta(description="the error with what was printed before it, as it is")] = ""
    file: Annotated[Path, Meta(description="or the log's file; better for a long one")] = ""
    log_only: Annotated[bool, Meta(description="the program ran on another machine: do not look at this one")] = False
    python: Python = ""
    answers: Annotated[Words, Meta(description="NAME=ANSWER to the question of an earlier answer")] = msgspec.field(
        default_factory=list
    )

    def command(self, record: str) -> Command:
        """`gpuwhy explain`."""
        if bool(self.text) == bool(self.file):
            raise ValueError("give either text or file")
        argv = ["explain", "--json", *_options(self, "python"), *_each("answer", self.answers)]
        argv += ["--log-only"] * self.log_only + (["--", self.file] if self.file else [])
        return Command(argv, self.text, self.folder)


class Plan(Here, frozen=True):
    """Which versions work together, and the commands to install them."""

    requirements: Annotated[Words, Meta(description='what is wanted: tensorflow, "torch>=2.4", flash-attn')] = (
        msgspec.field(default_factory=list)
    )
    files: Annotated[Paths, Meta(description="requirements files")] = msgspec.field(default_factory=list)
    python: Annotated[Path, Meta(description="a version (3.12) or an environment's folder")] = ""
    gpu: Gpus = msgspec.field(default_factory=list)
    driver: Driver = ""
    os: System = ""
    arch: Arch = ""
    glibc: Annotated[Word, Meta(description="the C library: 2.28")] = ""
    keep: Annotated[Word, Meta(description="what must not change: driver,python")] = ""
    least_change: Annotated[bool, Meta(description="keep installed releases as far as they work")] = False

    def command(self, record: str) -> Command:
        """`gpuwhy plan`."""
        argv = ["plan", "--json", *_options(self, "python", "driver", "os", "arch", "glibc", "keep")]
        argv += [*_each("gpu", self.gpu), *_each("requirement", self.files), *["--least-change"] * self.least_change]
        return Command([*argv, "--", *self.requirements], folder=self.folder)


class Releases(Asked, frozen=True):
    """What a published release was built for."""

    name: Annotated[Word, Meta(description="tensorflow, torch, nvidia-cudnn-cu12; empty: every project")] = ""
    version: Annotated[Word, Meta(description="one release, with its evidence")] = ""
    platform: Annotated[Word, Meta(description="linux-x86_64, linux-aarch64, windows-x86_64 …")] = ""
    works_with: Annotated[
        list[Annotated[str, Meta(pattern=r"^[A-Za-z_]+=[^-]", max_length=100)]],
        Meta(description="only what fits: driver=535, gpu=sm_89, python=3.10", max_length=20),
    ] = msgspec.field(default_factory=list)

    def command(self, record: str) -> Command:
        """`gpuwhy releases`."""
        argv = ["releases", *(["--works-with", *self.works_with] if self.works_with else []), "--json"]
        return Command([*argv, *_options(self, "platform"), "--", *filter(None, (self.name, self.version))])


class Code(Asked, frozen=True):
    """What an error number or name means."""

    code: Annotated[str, Meta(min_length=1, max_length=300, description="719, cudnn 4, xid 79, CUDNN_STATUS_…")]

    def command(self, record: str) -> Command:
        """`gpuwhy code`."""
        return Command(["code", "--json", "--", *self.code.split()])


class Fit(Here, frozen=True, kw_only=True):
    """Will this use of a model fit into this GPU?"""

    model: Annotated[
        str,
        Meta(min_length=1, max_length=4096, description="file or folder: safetensors, GGUF, ONNX, .pt, config.json"),
    ]
    gpu: Annotated[Word, Meta(description='"RTX 4090", "2x A100-80GB"; default: this machine')] = ""
    gpu_memory: Annotated[Word, Meta(description="so much memory instead: 24GB")] = ""
    batch: Annotated[int, Meta(ge=0, le=1 << 20, description="sequences or pictures at a time")] = 0
    tokens: Annotated[int, Meta(ge=0, le=1 << 24, description="of each sequence, prompt and answer")] = 0
    train: Annotated[Literal["", "full", "lora"], Meta(description="training instead of inference")] = ""
    dtype: Annotated[Word, Meta(description="of the weights: f32, bf16, f16, fp8")] = ""
    quantise: Annotated[Literal["", "8bit", "4bit"], Meta(description="quantise the weights while they are loaded")] = (
        ""
    )
    optimizer: Annotated[Word, Meta(description="adamw, sgd, adamw8bit …")] = ""
    checkpointing: Annotated[bool, Meta(description="compute activations again in the backward pass")] = False
    framework: Annotated[Word, Meta(description="torch, jax, tensorflow, llama.cpp, vllm …")] = ""
    tp: Annotated[int, Meta(ge=0, le=4096, description="tensor parallel over so many GPUs")] = 0

    def command(self, record: str) -> Command:
        """`gpuwhy fit`."""
        names = ("gpu", "gpu_memory", "batch", "tokens", "train", "dtype", "quantise", "optimizer", "framework", "tp")
        argv = ["fit", "--json", *_options(self, *names), *["--checkpointing"] * self.checkpointing, "--", self.model]
        return Command(argv, folder=self.folder, seconds=300.0)


class Lint(Here, frozen=True):
    """GPU mistakes in files that describe an installation, a container or a job."""

    paths: Annotated[Paths, Meta(description="files, or folders to look for them in; default: the folder")] = (
        msgspec.field(default_factory=list)
    )
    driver: Driver = ""
    gpu: Gpus = msgspec.field(default_factory=list)
    os: System = ""
    arch: Arch = ""

    def command(self, record: str) -> Command:
        """`gpuwhy lint`."""
        argv = ["lint", "--json", *_options(self, "driver", "os", "arch"), *_each("gpu", self.gpu)]
        return Command([*argv, "--", *(self.paths or ["."])], folder=self.folder)


class Inspect(Here, frozen=True, kw_only=True):
    """What a binary, wheel or environment needs, for which GPUs, and what would be loaded."""

    path: Annotated[
        str, Meta(min_length=1, max_length=4096, description="a library, program, wheel, folder or environment")
    ]
    env: Annotated[Words, Meta(description="NAME=VALUE: as if these variables were set")] = msgspec.field(
        default_factory=list
    )
    root: Annotated[Path, Meta(description="the path lies in another machine's files: a folder or an image")] = ""

    def command(self, record: str) -> Command:
        """`gpuwhy inspect`."""
        argv = ["inspect", "--json", *_options(self, "root"), *_each("env", self.env), "--", self.path]
        return Command(argv, folder=self.folder, seconds=600.0)


class Cause(Asked, frozen=True):
    """The page of one cause."""

    id: Annotated[Word, Meta(description="cudnn.missing; empty: the list of causes")] = ""

    def command(self, record: str) -> Command:
        """`gpuwhy cause`."""
        return Command(["cause", "--json", "--", *filter(None, (self.id,))])


class More(Asked, frozen=True):
    """The rest of an earlier answer."""

    answer: Annotated[Word, Meta(description="the name that the earlier answer gave, such as a3")]
    part: Annotated[Word, Meta(description="which part: facts.devices, causes.0, ruled_out; empty: all")] = ""
    start: Annotated[int, Meta(ge=0, description="the character to begin at")] = 0


class Program(Here, frozen=True):
    """Arguments of a tool that starts a program of the user."""

    command_line: Annotated[
        list[Annotated[str, Meta(max_length=1 << 16)]],
        Meta(min_length=1, max_length=1000, description="program and arguments, one each; no shell reads them"),
    ] = msgspec.field(default_factory=list)
    python: Annotated[Path, Meta(description="the Python that it uses, where it is not seen")] = ""


class Run(Program, frozen=True):
    """Run a program unchanged and say why it fails."""

    seconds: Annotated[Seconds, Meta(description="how long it may run")] = 600.0

    def command(self, record: str) -> Command:
        """`gpuwhy run`, which leaves a record."""
        argv = ["run", "--quiet", f"--record={record}", *_options(self, "python"), "--", *self.command_line]
        return Command(argv, folder=self.folder, seconds=self.seconds)


class Prove(Program, frozen=True):
    """Run a failing program again with one thing changed at a time."""

    seconds: Annotated[Seconds, Meta(description="all time that may be spent")] = 300.0
    runs: Annotated[int, Meta(gt=0, le=1000, description="the most reruns")] = 60

    def command(self, record: str) -> Command:
        """`gpuwhy prove`."""
        limits = [f"--budget={self.seconds:g}s", f"--runs={self.runs}"]
        argv = ["prove", "--json", *limits, *_options(self, "python"), "--", *self.command_line]
        return Command(argv, folder=self.folder, seconds=self.seconds + 60)


def _options(asked: Any, *names: str) -> list[str]:
    """--name=value for those that were given: a value that begins with a dash stays a value."""
    return [f"--{name.replace('_', '-')}={value}" for name in names if (value := getattr(asked, name))]


def _each(name: str, values: list[str]) -> list[str]:
    return [f"--{name}={value}" for value in values]
