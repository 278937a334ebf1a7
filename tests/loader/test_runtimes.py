"""Runtimes: a C or C++ library that is loaded for a framework and is older than its files need."""

from types import SimpleNamespace
from typing import Any

import pytest

from gpuwhy.formats.symbols import VersionNeed, Versions
from gpuwhy.loader.symbols import old_runtimes
from gpuwhy.facts.loads import Found, Rule
from gpuwhy.facts.fact import Absent, Fact, Known, Source

HERE = Source("call", "test")
TORCH = "/venv/lib/python3.12/site-packages/torch/lib/libtorch_python.so"
NCCL = "/venv/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2"
OWN = "/opt/old/libstdc++.so.6"


def old(defines: tuple[str, ...] | None, asker: str = TORCH) -> list[tuple[str, str]]:
    needs = VersionNeed("libstdc++.so.6", ("GLIBCXX_3.4.9", "GLIBCXX_3.4.29", "CXXABI_1.3"))

    def versions(path: str) -> Fact[Any]:
        if path == OWN:
            return Absent(HERE) if defines is None else Known(Versions((), defines, ""), HERE)
        return Known(Versions((needs,), (), ""), HERE)

    runtime = SimpleNamespace(path=OWN, rule=Found(Rule.LD_PRELOAD), needs=())
    framework = SimpleNamespace(path=asker, needs=("libstdc++.so.6", "libc.so.6"))
    process: Any = SimpleNamespace(
        loaded=[runtime, framework], machine=SimpleNamespace(versions=versions), get={"libstdc++.so.6": runtime}.get
    )
    return [(one.version, one.path) for one in old_runtimes(process)]


@pytest.mark.parametrize(
    ("defines", "lacks"),
    [
        (("GLIBCXX_3.4.9", "CXXABI_1.3"), ["GLIBCXX_3.4.29"]),
        (("GLIBCXX_3.4.9", "GLIBCXX_3.4.29", "CXXABI_1.3", "GLIBCXX_3.4.30"), []),
        ((), ["GLIBCXX_3.4.29"]),  # no libstdc++ at all, whatever its name is
        (None, []),  # not seen
    ],
)
def test_the_newest_version_that_is_lacking(defines: tuple[str, ...] | None, lacks: list[str]) -> None:
    assert old(defines) == [(version, OWN) for version in lacks]
    assert old(defines, NCCL) == [], "NVIDIA's libraries are not the framework's"
