"""apt packages of CUDA libraries without a version, which come for another CUDA than the image's."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.version import major_minor, numbers

RULE = Rule("apt-cuda", "error", "a CUDA library from apt, for another CUDA than the image's")

_KNOW = source("package lists of NVIDIA's CUDA repositories", "the newest libcudnn8, libnvinfer8 and libnccl2 of each")
_NEWEST = {"libcudnn8": 12, "libcudnn8-dev": 12, "libnvinfer8": 12, "libnvinfer-dev": 13, "libnvinfer-plugin8": 12,
           "libnvinfer10": 13, "libnvinfer-plugin10": 13, "tensorrt": 13}  # fmt: skip
"""Package → the CUDA major that its newest build in NVIDIA's repositories is for."""


def check(scope: Scope) -> Iterator[Mistake]:
    """In an image of NVIDIA's, whose repository is there."""
    base, image = scope.base, scope.environment.image
    if image is None or image.place.path != scope.environment.path:
        return  # an environment of conda's inside it: said of the image itself
    if base.family != "cuda" or not base.cuda or base.cudnn != "none":
        return
    held = numbers(base.cuda)[0]
    for name, line in scope.environment.apt.items():
        newest = _NEWEST.get(name, held)
        place = Place(scope.environment.path, line)
        if newest > held and name not in scope.environment.apt_pinned and "ubuntu18.04" not in base.name:
            text = f"{name} without a version is the one for CUDA {newest}; image {base.name} holds CUDA {base.cuda}"
            yield RULE.mistake(place, text, _KNOW, f"name the build: {name}=…+cuda{major_minor(base.cuda)}")
