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
    if scope.kind not in ("dockerfile", "modal", "cog"):
        return
    for name, line in scope.environment.apt.items():
        if containers.DRIVER_PACKAGES.match(name):
            text = f"{name} puts a driver into the image; a container uses the host's, and the two must not differ"
            toolkit = re.fullmatch(r"cuda-(\d+-\d+)", name)
            fix = f"install cuda-toolkit-{toolkit[1]}, which has no driver" if toolkit else f"remove {name}"
            yield RULE.mistake(Place(scope.environment.path, line), text, containers.MOUNTED, fix)
