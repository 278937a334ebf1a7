"""What PyTorch preloads by path, read from the text of its own release: five generations."""

from types import SimpleNamespace
from typing import Any

import pytest

from gpuwhy.loader.frameworks import torch_preloads
from gpuwhy.facts.fact import Fact, Known, Source, Unknown

HERE = Source("file", "test")
LISTED = '    "cublas": "libcublas.so.*[0-9]",\n    "nvjitlink": "libnvJitLink.so.*[0-9]",\n'
LOOP = "        _preload_cuda_deps(lib_folder, lib_name)\n"
TWO = '    _preload_cuda_deps("cuda_nvrtc", "libnvrtc.so.*[0-9]")\n'
TWO += '    _preload_cuda_deps("nvjitlink", "libnvJitLink.so.*[0-9]")\n'
DEPS = "    _preload_cuda_deps()\n"
OPTIONAL = '    _preload_cuda_lib("nvtx", "libnvToolsExt.so.*[0-9]", required=False)\n'
ALL = [("cublas", "libcublas.so"), ("nvjitlink", "libnvJitLink.so")]
FIRST = [("cuda_nvrtc", "libnvrtc.so"), ("nvjitlink", "libnvJitLink.so")]
EXTRA = [("nvtx", "libnvToolsExt.so")]
WHEEL = "/venv/lib/python3.12/site-packages/torch/lib/../../nvidia/cuda_runtime/lib/libcudart.so.12"
SYSTEM = "/usr/local/cuda/lib64/libcudart.so.12"


class Text:
    """A host that has one file."""

    def __init__(self, text: str, old: bool = False) -> None:
        self.text, self.old = text, old

    def lines(self, _path: str, *words: str) -> Fact[tuple[str, ...]]:
        if self.old and words == ("not in _maps",):
            return Unknown("was not asked")
        return Known(tuple(line for line in self.text.splitlines() if any(w in line for w in words)), HERE)


def preloads(text: str, mapped: str = WHEEL, failed: bool = False, old: bool = False) -> tuple[list[Any], bool]:
    process: Any = SimpleNamespace(world=SimpleNamespace(machine=Text(text, old)), loaded=[SimpleNamespace(path=mapped)])
    return torch_preloads(process, SimpleNamespace(path="/venv/torch"), failed)  # type: ignore[arg-type]


def maps(word: str) -> str:
    return f'    if "{word}" not in _maps:\n'


@pytest.mark.parametrize(
    "text, mapped, expected",
    [
        pytest.param(LISTED + LOOP, WHEEL, [], id="2.0 to 2.5: nothing unless the first library failed"),
        pytest.param(maps("nvidia/cuda_runtime/lib/libcudart.so") + TWO + LISTED + LOOP, WHEEL, FIRST, id="2.6 to 2.8"),
        pytest.param(maps("nvidia/cuda_runtime/lib/libcudart.so") + TWO + LISTED, SYSTEM, [], id="2.6: not a wheel's"),
        pytest.param(maps("libcudart.so") + TWO + LISTED + LOOP, SYSTEM, FIRST, id="2.9: whosever runtime"),
        pytest.param(maps("libcudart.so") + LISTED + OPTIONAL + DEPS, WHEEL, ALL + EXTRA, id="2.10"),
        pytest.param(maps("libcudart.so") + LISTED + OPTIONAL + DEPS, "/libc.so.6", [], id="no CUDA"),
    ],
)
def test_generations(text: str, mapped: str, expected: list[Any]) -> None:
    assert preloads(text, mapped) == (expected, True)


def test_what_differs_after_a_failure_since_2_14_and_in_an_old_recording() -> None:
    assert preloads(TWO + LISTED, old=True)[0] == FIRST
    text = maps("libcudart.so") + LISTED + OPTIONAL + "    _preload_cuda_deps(required=False)\n"
    assert preloads(text) == (ALL + EXTRA, False), "a missing one is passed over"
    assert preloads(LISTED + LOOP, failed=True)[0] == ALL
