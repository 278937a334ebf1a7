"""Agreeing: the CUDA that a remedy installs is the one that the text asks for: by a library's own name, by the PyTorch that an extension is built for.

Before CUDA 11 every release has libraries of its own name, so another one does not bring them. An extension is compiled by the CUDA of its
PyTorch: one of another major release is refused, however well it takes the compiler.
"""

from __future__ import annotations

import re

from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later

_BRINGS = re.compile(
    r"\b(?:install|take|update to|upgrade to|use|move to) (?:the )?(?:newer )?CUDA (?:toolkit )?(\d+\.\d+)"
    r"|Nvidia\.CUDA --version (\d+\.\d+)|\bcudatoolkit=(\d+\.\d+)|\bcuda-toolkit-(\d+-\d+)|\blabel/cuda-(\d+\.\d+)",
    re.IGNORECASE,
)
_FRAMEWORK = re.compile(r"(?<![\w/-])[\"']?(?:torch|tensorflow|tensorflow-gpu|onnxruntime-gpu|jax)(?:\[[\w,-]+\])?(?:[=<>!~]\S*)?[\"']?(?=\s|$)")  # fmt: skip


def disagrees(said: str, case: Asked) -> bool:
    """Whether a remedy, its sentence and its command, brings a CUDA with which the same failure comes again."""
    brought = {next(filter(None, one)).replace("-", ".") for one in _BRINGS.findall(said)}
    if not brought or _FRAMEWORK.search(said.partition("\n")[2]) or _OTHER_BUILD.search(said):
        return False  # with another framework another CUDA is right
    wanted = _by_name(case)
    return bool(wanted and not brought & wanted) or _for_another_torch(brought, case)


_OTHER_BUILD = re.compile(r"\b(?:PyTorch|torch|TensorFlow|ONNX Runtime)\b[^\n]{0,60}\b(?:for it|for that CUDA|to go with|of the same)|\b(?:build|release|wheel)s? (?:of \w+ )?for (?:it|that CUDA|CUDA \d)", re.IGNORECASE)  # fmt: skip
_DLL = Later(r"\b(?:cudart|cublas|cusolver|cusparse|cufft|curand)64_(8|9|10)(\d)\.dll", re.IGNORECASE)
_SO = Later(r"\blib(?:cudart|cublas|cufft|curand|cusolver|cusparse)\.so\.((?:8|9|10)\.\d)\b")


def _by_name(case: Asked) -> frozenset[str]:
    """The one CUDA before 11 whose libraries the deciding lines name; nothing where they name several."""
    text = case.lines or case.text
    named = {f"{one[1]}.{one[2]}" for one in _DLL.finditer(text)} | {one[1] for one in _SO.finditer(text)}
    return frozenset(named) if len(named) == 1 else frozenset()


_TORCH = Later(r"torch\S*?[ =:'\"(v]{0,12}\d+\.\d+\.\d+\+cu(\d{2,3})\b", re.IGNORECASE)
_EXTENSION = Later(r"Building wheel for|bdist_wheel|setup\.py|cpp_extension|ninja(?:\.exe)?: |--no-build-isolation")


def _for_another_torch(brought: set[str], case: Asked) -> bool:
    """Whether an extension of PyTorch is compiled, and all that is brought are CUDAs of another major release than its own."""
    told = {one[1] for one in _TORCH.finditer(case.text)}
    if len(told) != 1 or not _EXTENSION.search(case.text):
        return False
    major = told.pop()[:-1]
    return all(one.partition(".")[0] != major for one in brought)
