"""Builds of the frameworks for an older CUDA, as fixes: what to install when the driver cannot be replaced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.model.cause import Fix
from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import Facts, Framework
from gpuwhy.model.version import at_least


class Build(NamedTuple):
    """A build for an older CUDA: the oldest one a driver must speak, what it is for, what to install and to remove."""

    oldest: str
    what: str
    wanted: str
    removing: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """For pip, in a shell."""
        remove = f"pip uninstall -y {' '.join(self.removing)} && " if self.removing else ""
        return f'{remove}pip install "{self.wanted}"'


# Newest build first.
# What the default package index offers: torch turned to CUDA 13 at 2.11, to 12 at 2.1, to 11 at 1.13;
# onnxruntime-gpu to 13 at 1.27 and to 12 at 1.19; TensorFlow to 12 at 2.15.
BUILDS: dict[str, tuple[Build, ...]] = {
    "torch": (
        Build("12.0", "CUDA 12", "torch<2.11"),
        Build("11.0", "CUDA 11.7 (Python 3.8 to 3.11)", "torch<2.1"),
        Build("10.2", "CUDA 10.2 (Python 3.7 to 3.10)", "torch<1.13"),
    ),
    "tensorflow": (
        Build("12.0", "CUDA 12", "tensorflow[and-cuda]<2.22"),
        Build("11.0", "CUDA 11.8 (Python 3.9 and 3.10)", "tensorflow[and-cuda]<2.15"),
        Build("10.1", "CUDA 10.1 (Python 3.5 to 3.8)", "tensorflow<2.4"),
    ),
    "jax": (Build("12.0", "CUDA 12", "jax[cuda12]", ("jax-cuda13-plugin", "jax-cuda13-pjrt")),),
    "onnxruntime": (
        Build("12.0", "CUDA 12", "onnxruntime-gpu<1.27"),
        Build("11.0", "CUDA 11", "onnxruntime-gpu<1.19"),
    ),
    "cupy": (
        Build("12.0", "CUDA 12", "cupy-cuda12x", ("{distribution}",)),
        Build("11.0", "CUDA 11", "cupy-cuda11x", ("{distribution}",)),
    ),
}


def older_builds(one: Framework, driver_cuda: str, facts: Facts) -> Iterator[Fix]:
    """The newest build of this framework that a driver speaking `driver_cuda` runs, if one is known."""
    for build in BUILDS.get(one.name, ()):
        if at_least(driver_cuda, build.oldest):
            removing = tuple(name.format(distribution=one.distribution) for name in build.removing)
            wheels = _wheels_of(one, facts)
            wanted = f"{build.wanted}[ctk]" if wheels else build.wanted
            yield Fix(
                f"Install a build for {build.what}, which this driver runs",
                build._replace(wanted=wanted, removing=(*removing, *wheels)).command,
                safe=True,
                install=(wanted,),
                uninstall=(*removing, *wheels),
                wishes=(one.distribution,),
            )
            break
    if one.name == "torch" and at_least(driver_cuda, "11.0"):
        family = "cu126" if at_least(driver_cuda, "12.0") else "cu118"
        yield Fix(f"Or keep a newer PyTorch: its {family} build from PyTorch's own package index", safe=True)


def _wheels_of(one: Framework, facts: Facts) -> tuple[str, ...]:
    """The wheels of CUDA that go with CuPy, where nothing else uses them: it takes whichever NVRTC it finds."""
    found = value_or(facts.target.frameworks, ())
    if one.name != "cupy" or any(other.name != "cupy" for other in found):
        return ()
    installed = [dist.name for dist in value_or(facts.target.distributions, ())]
    return tuple(sorted(name for name in installed if name == "cuda-toolkit" or name.startswith("nvidia-")))
