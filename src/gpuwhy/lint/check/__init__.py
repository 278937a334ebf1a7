"""The rules, one module per mechanism; `CHECKS` are all that look at an environment."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gpuwhy.lint.check import (
    builds,
    cpu,
    files,
    images,
    indexes,
    limits,
    names,
    pairs,
    replaced,
    rows,
)
from gpuwhy.lint.mistakes import Mistake
from gpuwhy.lint.scope import Scope

CHECKS: tuple[Callable[[Scope], Iterator[Mistake]], ...] = (
    *(names.wrong_name, names.no_such_release, names.tombstone, names.broken),
    *(rows.check, pairs.check, pairs.floors, pairs.no_solution, limits.check),
    *(files.flavours, files.conda_and_pip, files.brought, files.two_majors),
    *(files.nvidia_pin, files.borrowed),
    *(replaced.torch, replaced.image_outrun, replaced.image_overridden),
    *(indexes.local_version, indexes.ended, indexes.late, indexes.outrun, indexes.replaced),
    *(indexes.no_such_build, cpu.cpu_wheel, cpu.conda_pip_mix, cpu.machine),
    *(images.tag, images.base_image, images.old_key),
    *(builds.torch_at_build, builds.python_no_wheel),
)
