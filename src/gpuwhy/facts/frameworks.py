"""The frameworks that are installed, and what each was built for."""

from gpuwhy.facts.fact import NOT_OBSERVED, Fact, Record


class Opened(Record, frozen=True):
    """A library that a framework asks the loader for, and the file that asks."""

    name: str  # libcudnn.so.9
    by: str  # path of the file whose NEEDED entry or dlopen call asks
    optional: bool  # the framework works on the GPU without it


class Framework(Record, frozen=True):
    """A framework installed in the environment, and what it was built for."""

    name: str  # tensorflow, torch, jax, onnxruntime, cupy …
    title: str  # TensorFlow
    package: str  # tensorflow-cpu
    version: str
    path: str  # package folder
    gpu_build: Fact[bool]
    built_for_cuda: Fact[str]  # Absent for a build without CUDA
    built_for_cudnn: Fact[str]
    sass: Fact[tuple[str, ...]]  # sm_70 …
    ptx: Fact[tuple[str, ...]]  # compute_90 …
    opens: Fact[tuple[Opened, ...]]  # the CUDA libraries it opens, before anybody looks for them


class Frameworks(Record, frozen=True):
    """Every framework of the environment."""

    installed: Fact[tuple[Framework, ...]] = NOT_OBSERVED
