"""apt packages of CUDA libraries without a version, which come for another CUDA than the image's."""

from __future__ import annotations

import re
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
    """The newest of a library, a library for another CUDA by its version, and the newest CUDA over a chosen one."""
    yield from _newest(scope)
    yield from _named(scope)
    yield from _over(scope)
    yield from _beside(scope)


_ENDED = {"libcudnn7": "10.2", "libcudnn7-dev": "10.2", "libcudnn6": "8.0", "libcudnn6-dev": "8.0"}
"""Libraries of CUDA 10 and older: the CUDA of the last build that the repositories have."""


def _beside(scope: Scope) -> Iterator[Mistake]:
    """A library without a version beside a CUDA of another number, in a script that installs both."""
    stage = scope.environment
    chosen = next(
        (found for name in stage.apt if (found := re.fullmatch(r"cuda(?:-toolkit)?-(\d+)[-.](\d+)", name))), None
    )
    if stage.image or chosen is None:
        return
    held = f"{chosen[1]}.{chosen[2]}"
    for name, line in stage.apt.items():
        last = _ENDED.get(name, "") or str(_NEWEST.get(name, ""))
        other = last and (last != held if name in _ENDED else int(last) > int(chosen[1]))
        if other and name not in stage.apt_pinned:
            text = f"{name} without a version is the one for CUDA {last}; the script installs CUDA {held}"
            yield RULE.mistake(Place(stage.path, line), text, _KNOW, f"name the build: {name}=…+cuda{held}")
            return


def _named(scope: Scope) -> Iterator[Mistake]:
    """libcudnn7=…+cuda9.0 in an image of CUDA 8.0."""
    base, stage = scope.base, scope.environment
    for name, version in stage.apt_pinned.items() if base.family == "cuda" and base.cuda else ():
        found = re.search(r"\+cuda(\d+)\.(\d+)", version)
        if found and not _same(numbers(base.cuda), int(found[1]), int(found[2])):
            text = f"{name}={version} is for CUDA {found[1]}.{found[2]}; image {base.name} holds CUDA {base.cuda}"
            fix = f"name the build for CUDA {major_minor(base.cuda)}, or take the image for the other"
            yield RULE.mistake(Place(stage.path, stage.apt[name]), text, _KNOW, fix)


def _same(held: tuple[int, ...], major: int, minor: int) -> bool:
    """Before CUDA 11 every minor release stood alone."""
    return held[0] == major if major >= 11 else held[:2] == (major, minor)


def _over(scope: Scope) -> Iterator[Mistake]:
    """The package cuda, which is the newest CUDA and its driver, beside a CUDA that was chosen."""
    stage = scope.environment
    chosen = next((n for n in stage.apt if re.fullmatch(r"cuda(-toolkit)?-\d+-\d+", n)), "")
    line = stage.apt.get("cuda", 0)
    if chosen and line and "cuda" not in stage.apt_pinned and line != stage.apt[chosen]:
        text = f"cuda without a number is the newest CUDA with its driver, over {chosen} (line {stage.apt[chosen]})"
        yield RULE.mistake(Place(stage.path, line), text, _META, f"leave it out: {chosen} is there", "warning")


_META = source("package lists of NVIDIA's CUDA repositories", "cuda: the newest toolkit and driver; cuda-X-Y: that one")


def _newest(scope: Scope) -> Iterator[Mistake]:
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
