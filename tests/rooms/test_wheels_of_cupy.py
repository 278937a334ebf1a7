"""A CuPy for an older CUDA comes with the wheels of that CUDA, and without those that nobody else uses."""

from __future__ import annotations

import msgspec
import pytest

from gpuwhy.model.fact import NOT_OBSERVED, Known, Source
from gpuwhy.model.facts import Distribution, Facts, Framework
from gpuwhy.rooms.shared.builds import older_builds
from tests.rooms.facts import base

HERE = Source("call", "test")


@pytest.mark.parametrize(
    ("others", "removed"), [((), ("cupy-cuda13x", "nvidia-cublas")), (("torch",), ("cupy-cuda13x",))]
)
def test_whose_wheels_go(others: tuple[str, ...], removed: tuple[str, ...]) -> None:
    facts = msgspec.convert(base("healthy"), type=Facts)
    like = next(iter(facts.target.frameworks.need() or ()))
    cupy = msgspec.structs.replace(like, name="cupy", distribution="cupy-cuda13x")
    frameworks: tuple[Framework, ...] = (cupy, *(msgspec.structs.replace(like, name=name) for name in others))
    wheels = tuple(Distribution(name, "13.0", "/site/x.dist-info", NOT_OBSERVED) for name in ("numpy", "nvidia-cublas"))
    target = msgspec.structs.replace(
        facts.target, frameworks=Known(frameworks, HERE), distributions=Known(wheels, HERE)
    )
    (fix,) = older_builds(cupy, "12.4", msgspec.structs.replace(facts, target=target))
    assert (fix.uninstall, fix.install) == (removed, ("cupy-cuda12x[ctk]" if not others else "cupy-cuda12x",))
