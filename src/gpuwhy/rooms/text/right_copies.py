"""Right copies: what a text shows to be right is neither replaced nor removed; of two frameworks in one process, whose library came first.

A remedy that installs a library over one that is right mends nothing, and may spoil what works: `premises` leaves such out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import numbers
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import tried

_REFUSED = Later(r"Loaded runtime CuDNN library: (\d+\.\d+(?:\.\d+)?) but source was compiled with: (\d+\.\d+)", re.IGNORECASE)  # fmt: skip
_OF_TORCH = Later(r"\btorch\b[^\n]*?\bcudnn\b\D{1,20}(?P<number>\d{4,5})\b|[\\/]torch[\\/]lib[\\/](?:lib)?cudnn\w*(?P<file>\.dll|\.so)", re.IGNORECASE)  # fmt: skip
_CONDAS = Later(r"^cudnn +(?P<release>\d+\.\d+[\d.]*) ", re.MULTILINE)
_HEADER = Later(r"define CUDNN_MAJOR (?P<major>\d+)[^\0]{0,200}?define CUDNN_MINOR (?P<minor>\d+)")
_WHEEL = Later(r"\bnvidia-cudnn-cu1\d(?: +|==|-)(?P<release>\d+\.\d+[\d.]*)")


def _places(number: str) -> tuple[int, ...]:
    """8005 and 90100 as 8.0 and 9.1."""
    value = int(number)
    unit = 10000 if value > 89999 else 1000
    return value // unit, value % unit // 100


def loaded_by_torch(case: Asked) -> bool:
    """Whether the cuDNN that another framework refuses is the one that PyTorch had loaded into the same process."""
    refused, own = _REFUSED.search(case.text), _OF_TORCH.search(case.text)
    if case.framework == "torch" or not refused or not own:
        return False
    return own["number"] is None or _places(own["number"]) == numbers(refused[1])[:2]


def _right(release: tuple[int, ...], case: Asked) -> bool:
    """Whether a cuDNN is one that the program takes: of the same major release, and not older."""
    refused = _REFUSED.search(case.text)
    wanted = numbers(refused[2]) if refused else ()
    return bool(wanted) and release[:1] == wanted[:1] and release[:2] >= wanted[:2]


def _condas_right(case: Asked) -> bool:
    found = _CONDAS.search(case.text)
    return found is not None and _right(numbers(found["release"]), case)


def condas_hidden(case: Asked) -> bool:
    """Whether LD_LIBRARY_PATH is what finds conda's right cuDNN: without it nothing would."""
    return _condas_right(case) and not loaded_by_torch(case)


def right_cudnn(case: Asked) -> bool:
    """Whether the cuDNN that the program wants is shown to be installed: the fault is another copy, which is found first."""
    header, wheel = _HEADER.search(case.text), _WHEEL.search(case.text)
    in_header = header is not None and _right((int(header["major"]), int(header["minor"])), case)
    in_wheel = wheel is not None and _right(numbers(wheel["release"]), case)
    return _condas_right(case) or in_header or in_wheel


_WITH_CUDA = Later(r"^pytorch +\d[\w.]* +\S*cuda\S*", re.MULTILINE)


def right_pytorch(case: Asked) -> bool:
    """Whether conda is shown to have PyTorch with CUDA in the environment: what is built for the CPU is another copy."""
    return bool(_WITH_CUDA.search(case.text))


def _first_in_process(case: Asked) -> Iterator[Fix]:
    """Two frameworks in one process: the library that the first of them loaded serves both."""
    refused = _REFUSED.search(case.text)
    if not refused or not loaded_by_torch(case):
        return
    title = case.title or "the other framework"
    yield tried(f"cuDNN {refused[1]} is PyTorch's own, and was loaded first into this process, where {title} has to take it too: import {title}, and have it use cuDNN once, before torch is imported", on.code("import tensorflow as tf; tf.nn.conv2d(tf.zeros([1, 8, 8, 1]), tf.zeros([3, 3, 1, 1]), 1, 'SAME')    # above import torch"))  # fmt: skip
    yield tried(f"Or run the two in processes of their own: one program for PyTorch's part and one for {title}'s, each started by itself (multiprocessing with spawn will do), with files or a queue between them", on.code("ctx = multiprocessing.get_context('spawn')    # torch and tensorflow are imported inside the two functions, not above"))  # fmt: skip
    yield tried(f"Or take a newer PyTorch, whose own cuDNN is not older than {refused[2]}; it prints which one it has", 'python -c "import torch; print(torch.__version__, torch.backends.cudnn.version())"')  # fmt: skip


def _condas_first(case: Asked) -> Iterator[Fix]:
    """The environment has the right cuDNN, and LD_LIBRARY_PATH names another one's folder before it."""
    refused = _REFUSED.search(case.text)
    if refused and not case.windows and _condas_right(case) and not loaded_by_torch(case):
        yield tried(f"The environment has the cuDNN that is wanted, and {refused[1]} is found before it: put the environment's own folder first", on.linux("export LD_LIBRARY_PATH=$CONDA_PREFIX/lib:$LD_LIBRARY_PATH"))  # fmt: skip


_PTXAS = Later(r"\bptxas (?:fatal|returned an error|exited)|You are using ptxas \d")
_ITS_RELEASE = Later(r"You are using ptxas (?P<release>\d+\.\d+)")
_KITS = Later(r"/usr/local/cuda-(\d+\.\d+)")
_OF_DISTRIBUTION = Later(r"^nvidia-cuda-toolkit: /usr/bin/ptxas", re.MULTILINE)


def newer_kit(case: Asked) -> str:
    """The toolkit's release that a text shows beside a ptxas that is too old; "" where there is none."""
    found = _ITS_RELEASE.search(case.text)
    old = numbers(found["release"]) if found else ()
    kits = [one[1] for one in _KITS.finditer(case.text) if numbers(one[1]) > old]
    return max(kits, key=numbers) if kits and old and _PTXAS.search(case.text) and not case.windows else ""


def _newer_ptxas(case: Asked) -> Iterator[Fix]:
    """ptxas is a program: PATH finds it, and no folder of libraries."""
    kit = newer_kit(case)
    if kit:
        yield tried(f"An old ptxas is found first on PATH, and CUDA {kit} has a newer one: put its folder first, in the shell that starts the program", on.linux(f"export PATH=/usr/local/cuda-{kit}/bin:$PATH"))  # fmt: skip
    if kit and _OF_DISTRIBUTION.search(case.text):
        yield tried("Or remove the distribution's own old toolkit, whose ptxas it is", on.linux("sudo apt remove nvidia-cuda-toolkit"), root=True)  # fmt: skip


RIGHT_COPIES: tuple[tuple[tuple[str, ...], Callable[[Asked], Iterator[Fix]]], ...] = (
    (("cudnn.", "cuda.mixed_libraries"), _first_in_process),
    (("cudnn.", "cuda.mixed_libraries", "env.path"), _condas_first),
    (("cuda.", "env.path", "framework.gpu_unsupported"), _newer_ptxas),
)
"""How the ids of causes begin, and what of the text is looked at for them."""
