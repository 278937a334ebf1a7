"""Unfit: versions that PyTorch and JAX ask of other GPU packages, where the installed one is another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gpuwhy.model.fact import Fact, Known, Unknown, known
from gpuwhy.model.facts import Distribution, Unfit
from gpuwhy.model.version import meets
from gpuwhy.model.words import normal
from gpuwhy.observe.scene import Scene

_ASKED = {
    "torch": ("Requires-Dist: nvidia", "Requires-Dist: cuda-toolkit"),
    "jax": ("Requires-Dist: jaxlib",),
}
_REQUIREMENT = re.compile(r"Requires-Dist: ([\w.-]+)\s*\(?([=<>!~][^;)]*)")


def unfit(scene: Scene) -> Fact[tuple[Unfit, ...]]:
    """What PyTorch and JAX ask of other GPU packages in their metadata, where the installed version is another."""
    installed = scene.facts.target.distributions.need() or ()
    versions = {d.name: d.version for d in reversed(installed)}
    found: list[Unfit] = []
    for dist in installed:
        if dist.name in _ASKED:
            lines = scene.host.lines(f"{dist.location}/METADATA", *_ASKED[dist.name])
            if isinstance(lines, Unknown):
                return lines
            found += _unfit_of(dist, lines.value if isinstance(lines, Known) else (), versions)
    return known(tuple(found), "folder", ", ".join(scene.facts.target.site_packages.need() or ()), "METADATA")


def _unfit_of(dist: Distribution, lines: Iterable[str], versions: dict[str, str]) -> Iterator[Unfit]:
    """A package that is asked for under several conditions fits when it meets one of them."""
    asked: dict[str, list[str]] = {}
    for line in lines:
        found = _REQUIREMENT.match(line)
        if found and "extra ==" not in line and normal(found[1]) in versions:
            asked.setdefault(normal(found[1]), []).append(found[2].strip())
    for name, wishes in asked.items():
        if not any(meets(versions[name], wish) for wish in wishes):
            yield Unfit(dist.name, dist.version, name, wishes[0], versions[name], f"{dist.location}/METADATA")
