"""memory_growth: frameworks take GPU memory as they need it instead of all at once, set before it is too late."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Any, Literal

from gpuwhy.api.loaded import jax_platforms, loaded, tensorflow_started

State = Literal["set", "later", "not needed", "too late"]

TENSORFLOW = "TF_FORCE_GPU_ALLOW_GROWTH"
JAX = "XLA_PYTHON_CLIENT_PREALLOCATE"
_SESSION = (
    "config = tf.compat.v1.ConfigProto(); config.gpu_options.allow_growth = True; "
    "session = tf.compat.v1.Session(config=config)"
)


@dataclass(frozen=True)
class Growth:
    """What was done for one framework: set, set for a later import, not needed, or too late."""

    framework: str
    state: State
    text: str

    def __str__(self) -> str:
        return f"{self.framework}: {self.state}: {self.text}"


def memory_growth() -> dict[str, Growth]:
    """Make TensorFlow and JAX allocate GPU memory as they need it; says what was done, and warns where it is too late.

    Call it before the first tensor. A framework that is not imported yet is told by its environment variable.
    """
    done = {"tensorflow": _tensorflow(), "jax": _jax(), "torch": _torch()}
    late = [str(one) for one in done.values() if one.state == "too late"]
    if late:
        warnings.warn(f"gpuwhy.memory_growth(): {'; '.join(late)}", RuntimeWarning, stacklevel=2)
    return done


def _torch() -> Growth:
    return Growth("PyTorch", "not needed", "its allocator grows from the start")


def _tensorflow() -> Growth:
    name = "TensorFlow"
    module = loaded("tensorflow")
    started = tensorflow_started()
    if not started:
        os.environ[TENSORFLOW] = "true"  # read when the GPU devices are created
    if module is None:
        return Growth(name, "later", f"{TENSORFLOW}=true, for when it is imported")
    if str(getattr(module, "__version__", "")).startswith("1."):
        return Growth(name, "set", f"{TENSORFLOW}=true for sessions created from now on; in code: {_SESSION}")
    try:
        return _grow(name, module, started)
    except (RuntimeError, ValueError) as error:  # "Physical devices cannot be modified after being initialized"
        return Growth(name, "too late", f"{error}; call memory_growth() before the first tensor")


def _grow(name: str, tensorflow: Any, started: bool) -> Growth:
    gpus = tensorflow.config.list_physical_devices("GPU")
    if not gpus:
        return Growth(name, "not needed", f"it sees no GPU ({TENSORFLOW}=true is set all the same)")
    growing = tensorflow.config.experimental
    if all(growing.get_memory_growth(gpu) for gpu in gpus):
        return Growth(name, "set", "memory growth was on already")
    if started:
        if os.environ.get(TENSORFLOW, "").lower() == "true":
            return Growth(name, "set", f"{TENSORFLOW}=true was set before its devices were created")
        why = "its GPU devices are created, with the memory already taken; call memory_growth() before the first tensor"
        return Growth(name, "too late", why)
    for gpu in gpus:
        growing.set_memory_growth(gpu, True)
    return Growth(name, "set", f"set_memory_growth on {len(gpus)} GPU{'s' * (len(gpus) != 1)}")


def _jax() -> Growth:
    platforms = jax_platforms()
    if not platforms:
        os.environ[JAX] = "false"  # read when the backend is created
        if loaded("jax") is None:
            return Growth("JAX", "later", f"{JAX}=false, for when it is imported")
        return Growth("JAX", "set", f"{JAX}=false, before its first use")
    if not {"gpu", "cuda"} & set(platforms):
        return Growth("JAX", "not needed", f"it runs on {', '.join(platforms)} without a GPU")
    if os.environ.get(JAX, "").lower() in ("false", "0"):
        return Growth("JAX", "set", f"{JAX}=false was set before its first use")
    why = f"its GPU backend is running, with the memory already taken; set {JAX}=false before JAX is first used"
    return Growth("JAX", "too late", why)
