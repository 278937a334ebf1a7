"""Plugins: JAX's for CUDA, which belong to one release of jaxlib and to one release of CUDA."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.knowledge import pairs
from gpuwhy.model.facts import Contradiction, Distribution

PLUGIN = re.compile(r"jax-cuda\d+-(plugin|pjrt)")


def agreed(name: str, jaxlib: str, said: Sequence[Contradiction], lines: Sequence[str]) -> bool:
    """Whether JAX itself states which plugins it takes beside which jaxlib, and both are within that.

    jax[cuda12] 0.4.35 takes jaxlib 0.4.34 with the plugin of 0.4.35; newer jaxlib compare the releases themselves.
    """
    plugin = name.replace("-pjrt", "-plugin")
    told = any(re.match(rf"Requires-Dist: {re.escape(plugin)}\b", line.replace("_", "-")) for line in lines)
    against = any(one.by in ("jax", plugin) and one.name in ("jaxlib", plugin, name) for one in said)
    return told and not against and not pairs.plugin_left_aside(jaxlib)


def rival_plugins(installed: dict[str, Distribution]) -> Iterator[Contradiction]:
    """JAX's plugins for two releases of CUDA: both ask for the one place "cuda", and the second is refused."""
    plugins = sorted(name for name in installed if PLUGIN.fullmatch(name) and name.endswith("-plugin"))
    plugins.sort(key=lambda name: not _has_runtime(name, installed))
    for name in plugins[1:]:
        other, kept = installed[name], installed[plugins[0]]
        file = f"{other.location}/METADATA"
        yield Contradiction(
            name, other.version, plugins[0], "", kept.version, "rival", file, pairs.RIVAL_PLUGINS, pairs.RIVALS_TRIED
        )


def _has_runtime(plugin: str, installed: dict[str, Distribution]) -> bool:
    """Whether the CUDA runtime of a plugin's release is among the wheels."""
    major = plugin.removeprefix("jax-cuda").partition("-")[0]
    return f"nvidia-cuda-runtime-cu{major}" in installed or (int(major) >= 13 and "nvidia-cuda-runtime" in installed)
