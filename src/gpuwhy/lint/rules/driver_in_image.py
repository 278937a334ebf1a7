"""A driver installed in an image, where the host's is mounted."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("driver-in-image", "warning", "a driver installed in an image, where the host's is mounted")


def check(scope: Scope) -> Iterator[Mistake]:
    """apt packages that hold a driver."""
    image = scope.environment.image
    if scope.kind not in ("dockerfile", "modal", "cog", "singularity") or (
        image and image.place.path != scope.environment.path
    ):
        return
    yield from _unpacked(scope)
    for name, line in scope.environment.apt.items():
        if containers.DRIVER_PACKAGES.match(name):
            text = f"{name} puts a driver into the image; a container uses the host's, and the two must not differ"
            toolkit = re.fullmatch(r"cuda-(\d+-\d+)", name)
            fix = f"install cuda-toolkit-{toolkit[1]}, which has no driver" if toolkit else f"remove {name}"
            yield RULE.mistake(Place(scope.environment.path, line), text, containers.MOUNTED, fix)


_UNPACKED = re.compile(
    r"NVIDIA-Linux-\S+?-(\d{3}[\d.]*\d)\S*\.run|lib(?:nvidia-[\w-]+|nvcuvid|cuda)\.so\.(\d{3}\.[\d.]*\d)"
)


def _unpacked(scope: Scope) -> Iterator[Mistake]:
    """NVIDIA's own installer of a driver, or libraries of one driver by their names."""
    for command in scope.environment.commands:
        found = _UNPACKED.search(command.text)
        if found:
            text = f"libraries of driver {found[1] or found[2]} go into the image; a container uses those of its host"
            place = Place(scope.environment.path, command.lines[0])
            yield RULE.mistake(
                place, text, containers.MOUNTED, "leave them out: NVIDIA_DRIVER_CAPABILITIES mounts them"
            )
            return
