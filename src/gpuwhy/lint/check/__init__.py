"""The rules, one module per mechanism; `CHECKS` are all that look at an environment."""

from collections.abc import Callable, Iterator

from gpuwhy.lint.check import builds, images, limits, missing, pairs, rows, torch
from gpuwhy.lint.mistakes import Mistake
from gpuwhy.lint.scope import Scope

CHECKS: tuple[Callable[[Scope], Iterator[Mistake]], ...] = (
    *(missing.wrong_name, missing.no_such_release, missing.tombstone, missing.broken),
    *(rows.packages, rows.commands, rows.apt, pairs.check, pairs.floors, limits.check),
    *(builds.flavours, builds.conda_and_pip, builds.brought, builds.two_majors),
    *(builds.nvidia_pin, builds.borrowed),
    *(torch.overwritten, torch.image_outrun, torch.image_overridden),
    *(torch.local_version, torch.ended, torch.late, torch.outrun, torch.replaced),
    *(torch.no_such_build, builds.cpu_wheel, builds.conda_pip_mix, builds.machine),
    *(images.tag, images.base_image, images.old_key),
    *(missing.torch_at_build, missing.python_no_wheel),
)
