"""TensorRT: bindings in one wheel, the libraries that they link in another, and a third that asks for both."""

from __future__ import annotations

import re
from collections.abc import Callable

from gpuwhy.model.fact import Fact, Known, Source, Unknown, value_or
from gpuwhy.observe.built import Built, Installed
from gpuwhy.observe.others import Needed

TENSORRT = re.compile(r"(nvidia-)?tensorrt(-cu\d+)?")
BINDINGS = re.compile(r"tensorrt(-cu\d+)?-bindings")
_MODULE = r"tensorrt(\..*)?\.(so|pyd)$"


def read_tensorrt(needed: Needed) -> Callable[[Installed], Built]:
    """The compiled module names the libraries without which it cannot be imported."""

    def read(package: Installed) -> Built:
        source = Source("package", package.dist.name)
        named = re.search(r"-cu(\d+)", " ".join(d.name for d in package.others if d.name.startswith("tensorrt")))
        cuda: Fact[str] = Known(named[1], source) if named else Unknown("its package name does not tell its CUDA")
        files = [one for folder in ("tensorrt_bindings", "tensorrt") for one in _compiled(package, folder)]
        if not files:
            return Built(Known(True, source), cuda)
        return Built(Known(True, source), cuda, opens=needed(package.host, files[:1]))

    return read


def _compiled(package: Installed, folder: str) -> list[str]:
    place = f"{package.site}/{folder}"
    return [f"{place}/{entry.name}" for entry in value_or(package.host.list(place, _MODULE), ())]
